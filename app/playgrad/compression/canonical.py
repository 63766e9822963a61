"""The plainest form of a network with the same predictions, which integers replace layer by layer.

Batch normalization is folded into the layer before it or after it, as in Jacob et al. 2018.
Activation functions that are more than limits become layers of their own, and layers that act in
training only are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.layer_kinds import (
    CLAMPS,
    LINEAR,
    OFTEN_INTEGER,
    TRAINING_ONLY,
    has_masks,
)
from playgrad.compression.report import Note
from playgrad.compression.rewriting import Draft, Rewrite
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.structure import StructureItem
from playgrad.nn import activations
from playgrad.nn.basic import Activation, Reshape
from playgrad.nn.conv import Conv1D, Conv2D
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.dense import Dense
from playgrad.nn.depthwise_conv import DepthwiseConv2D, SeparableConv2D
from playgrad.nn.kept_weights import KEEP_ZEROS
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.merge import Add
from playgrad.nn.normalization import BatchNormalization

Array = np.ndarray[Any, Any]
_UNARY = {"relu", "relu6", "sigmoid", "tanh", "softplus", "silu", "softmax"}
"""Operations of the names of activation functions."""


class Canonical(NamedTuple):
    """A network in canonical form.

    Attributes:
        notes: of the layers that it no longer has, by name.
        tensors: the tensors that stand for those of the original form.
    """

    draft: Draft
    notes: Mapping[str, Note]
    tensors: Mapping[Tensor, Tensor]


def canonical(draft: Draft, for_training: bool = False) -> Canonical:
    """Return the canonical form of ``draft``.

    Args:
        for_training: whether layers stay that act in training only.
    """
    rewrite = _Canonical(draft, for_training)
    return Canonical(rewrite.draft(), rewrite.notes, rewrite.tensors)


class _Canonical(Rewrite):
    def __init__(self, draft: Draft, for_training: bool) -> None:
        super().__init__(draft)
        self.for_training = for_training
        self.notes: dict[str, Note] = {}
        self.counts: dict[Layer, int] = {}
        for item in draft.structure.items:
            if isinstance(item, LayerCall):
                self.counts[item.layer] = self.counts.get(item.layer, 0) + 1
        self.inside = {*draft.structure.inputs}.union(
            *(item.outputs for item in draft.structure.items)
        )
        self.made = {
            tensor: item
            for item in draft.structure.items
            if isinstance(item, LayerCall)
            for tensor in item.outputs
        }
        self.before: dict[LayerCall, LayerCall] = {}
        """The normalization that a linear layer takes over from its input."""
        self.after: dict[LayerCall, LayerCall] = {}
        """The normalization that a linear layer takes over from its output."""
        for call in draft.structure.items:
            if isinstance(call, LayerCall) and self._is_foldable(call):
                self._find_host(call)
        self.hosts = {call: host for host, call in (*self.before.items(), *self.after.items())}

    # Normalization

    def _is_foldable(self, call: LayerCall) -> bool:
        layer, shape = call.layer, call.inputs[0].shape
        return (
            isinstance(layer, BatchNormalization)
            and layer.axis % len(shape) == len(shape) - 1
            and self.counts[layer] == 1
            and not has_masks(call)
        )

    def _is_among_integers(self, call: LayerCall) -> bool:
        """Return whether a layer before or after ``call`` may compute in integers, so that it is
        better to normalize in integers as well."""
        users = [user for user in self.users[call.outputs[0]] if isinstance(user, LayerCall)]
        near = [user.layer for user in users]
        made = self.made.get(call.inputs[0])
        if made is not None:
            near.append(made.layer)
        return len(call.inputs[0].shape) in (2, 3, 4) and any(
            isinstance(layer, OFTEN_INTEGER) for layer in near
        )

    def _find_host(self, call: LayerCall) -> None:
        """Note which layer takes over a normalization, if there is one."""
        made = self.made.get(call.inputs[0])
        if (
            made is not None
            and self._is_linear(made)
            and CLAMPS.get(made.layer._activate) == (-np.inf, np.inf)
            and self.only_user(call.inputs[0]) is call
            and made not in self.after
        ):
            self.after[made] = call
            return
        user = self.only_user(call.outputs[0])
        if user is not None and self._is_linear(user) and _takes_offset(user.layer):
            self.before[user] = call

    def _is_linear(self, call: LayerCall) -> bool:
        layer = call.layer
        return (
            type(layer) in (*LINEAR, SeparableConv2D)
            and self.counts[layer] == 1
            and not has_masks(call)
            and getattr(layer, "data_format", None) != "channels_first"
        )

    def _factor_and_offset(self, call: LayerCall) -> tuple[Array, Array]:
        """Return what a normalization multiplies each channel by, and then adds, as float64."""
        layer = call.layer
        assert isinstance(layer, BatchNormalization)
        weights = {name: v.astype(np.float64) for name, v in self.weights(layer).items()}
        factor = weights.get("gamma", 1.0) / np.sqrt(weights["moving_variance"] + layer.epsilon)
        offset = weights.get("beta", 0.0) - weights["moving_mean"] * factor
        return factor, offset

    # Operations that the user added without a layer

    def take(self, item: StructureItem) -> None:
        layer = self._layer_like(item) if isinstance(item, Node) else None
        if layer is None:
            super().take(item)
        else:
            self[item.outputs[0]] = self.put(layer, [self[tensor] for tensor in item.inputs])

    def _layer_like(self, node: Node) -> Layer | None:
        """Return a layer that does what ``node`` does, if it is one of a few operations."""
        if not set(node.inputs) <= self.inside:
            return None
        name = node.name.replace("/", "_")
        taken = set(self.names.values())
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        name = next(each for each in itertools.chain([name], numbered) if each not in taken)
        if node.op.name == "add" and len({tensor.shape for tensor in node.inputs}) == 1:
            return Add(name=name)
        return Activation(node.op.name, name=name) if node.op.name in _UNARY else None

    # Calls

    def call(self, call: LayerCall) -> Sequence[Tensor]:
        layer, inputs = call.layer, [self[tensor] for tensor in call.inputs]
        name = self.names[layer]
        host = self.hosts.get(call)
        if host is not None:
            self.notes[name] = Note("folded", f"into {self.names[host.layer]}")
            return inputs
        if isinstance(layer, TRAINING_ONLY) and not self.for_training:
            self.notes[name] = Note("removed", "acts in training only")
            return inputs
        if self._is_linear(call):
            return [self._linear(call, inputs[0])]
        if self._is_foldable(call) and self._is_among_integers(call):
            return [self._as_convolution(call, inputs[0])]
        is_sum = type(layer) is Add and self.counts[layer] == 1 and not has_masks(call)
        if is_sum and len(inputs) > 2:
            total = inputs[0]
            for number, other in enumerate(inputs[1:], 1):
                last = number == len(inputs) - 1
                total = self.put(Add(name=name if last else f"{name}_{number}"), [total, other])
            return [total]
        return super().call(call)

    def _linear(self, call: LayerCall, x: Tensor) -> Tensor:
        """Call a layer with the normalizations that it takes over, and then its activation."""
        layer, name = call.layer, self.names[call.layer]
        weights = self.weights(layer)
        if isinstance(layer, SeparableConv2D):
            depthwise = _renamed(_depthwise_of(layer), f"{name}_depthwise")
            x = self.put(depthwise, [x], {"kernel": weights.pop("depthwise_kernel")})
            depthwise.variables["kernel"].keep = layer.variables["depthwise_kernel"].keep
            weights["kernel"] = weights.pop("pointwise_kernel")
            layer = _pointwise_of(layer)
        copy: Any = layer.clone()
        kernel = weights["kernel"].astype(np.float64)
        bias = weights.get("bias", np.zeros(1)).astype(np.float64)
        if call in self.before:
            factor, offset = self._factor_and_offset(self.before[call])
            bias = bias + _constant_output(layer, kernel, offset)
            kernel = kernel * _along_inputs(layer, kernel, factor)
        if call in self.after:
            factor, offset = self._factor_and_offset(self.after[call])
            kernel = kernel * _along_outputs(layer, kernel, factor)
            bias = bias * factor + offset
        if call in self.before or call in self.after:
            copy.use_bias = True
        weights["kernel"] = kernel
        if copy.use_bias:
            weights["bias"] = bias
        activation = copy.activation
        if copy._activate not in CLAMPS:
            copy.activation, copy._activate = None, activations.linear
        y = self.put(_renamed(copy, name), [x], weights)
        for each in ("kernel", "pointwise_kernel"):
            keep = call.layer.variables[each].keep if each in call.layer.variables else None
            if keep is not None:  # shared values have another factor for each channel now
                is_folded = call in self.before or call in self.after
                copy.variables["kernel"].keep = KEEP_ZEROS if is_folded else keep
        if copy.activation is activation:
            return y
        return self.put(Activation(activation, name=f"{name}_activation"), [y])

    def _as_convolution(self, call: LayerCall, x: Tensor) -> Tensor:
        """Normalize each channel by a convolution with one weight."""
        factor, offset = self._factor_and_offset(call)
        name, channels, rank = self.names[call.layer], len(factor), len(call.inputs[0].shape)
        if rank == 4:
            layer: Layer = DepthwiseConv2D(1, name=name)
            return self.put(layer, [x], {"kernel": factor.reshape(1, 1, -1, 1), "bias": offset})
        if rank == 2:
            x = self.put(Reshape((1, channels), name=f"{name}_step"), [x])
        layer = Conv1D(channels, 1, groups=channels, name=name)
        y = self.put(layer, [x], {"kernel": factor.reshape(1, 1, -1), "bias": offset})
        return y if rank == 3 else self.put(Reshape((channels,), name=f"{name}_row"), [y])


def _renamed(layer: Layer, name: str) -> Layer:
    layer.name = layer.given_name = name
    return layer


def _depthwise_of(layer: SeparableConv2D) -> DepthwiseConv2D:
    return DepthwiseConv2D(
        layer.kernel_size,
        layer.strides,
        layer.padding,
        layer.depth_multiplier,
        dilation_rate=layer.dilation_rate,
        use_bias=False,
    )


def _pointwise_of(layer: SeparableConv2D) -> Conv2D:
    return Conv2D(layer.filters, 1, activation=layer.activation, use_bias=layer.use_bias)


def _takes_offset(layer: Any) -> bool:
    """Return whether a constant added to the inputs is the same as one added to the results."""
    if isinstance(layer, Dense):
        return True
    if isinstance(layer, (Conv1D, Conv2D)):
        return layer.padding == "valid" and layer.groups == 1
    return isinstance(layer, DepthwiseConv2D) and layer.padding == "valid"


def _constant_output(layer: Layer, kernel: Array, offset: Array) -> Array:
    """Return the result of a linear layer without bias for inputs that are all ``offset``."""
    if isinstance(layer, DepthwiseConv2D):
        return (kernel.sum(axis=(0, 1)) * offset[:, None]).reshape(-1)
    sums: Array = kernel.reshape(-1, *kernel.shape[-2:]).sum(axis=0)
    return offset @ sums


def _along_inputs(layer: Layer, kernel: Array, factor: Array) -> Array:
    """Return ``factor``, one for each input channel, as it is broadcast to ``kernel``."""
    return factor[:, None]


def _along_outputs(layer: Layer, kernel: Array, factor: Array) -> Array:
    """Return ``factor``, one for each output channel, as it is broadcast to ``kernel``."""
    if isinstance(layer, DepthwiseConv2D):
        return factor.reshape(kernel.shape[-2:])
    return factor[:, None] if isinstance(layer, Conv2DTranspose) else factor
