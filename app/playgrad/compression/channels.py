"""The units and channels of a network, followed from the layers that make them to their users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.compression.rewriting import Draft
from playgrad.graph.tensor import Tensor
from playgrad.networks.structure import StructureItem
from playgrad.nn import activations
from playgrad.nn.activation_layers import ELU, LeakyReLU, ReLU
from playgrad.nn.basic import Activation, Dropout, Flatten
from playgrad.nn.conv import Conv1D, Conv2D
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.dense import Dense
from playgrad.nn.depthwise_conv import DepthwiseConv2D, SeparableConv2D
from playgrad.nn.embedding import Embedding
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.merge import Add, Average, Concatenate, Maximum, Minimum, Multiply, Subtract
from playgrad.nn.noise import GaussianNoise
from playgrad.nn.normalization import BatchNormalization

Array = np.ndarray[Any, Any]
Cuts = dict[str, dict[int, Array]]
"""For each weight, the unit at each place along some of its axes."""
FIXED = -1
"""In place of a unit that cannot be removed, such as an input of the network."""
OUTPUT = "computes an output of the model"
_MERGES = (Add, Subtract, Multiply, Average, Maximum, Minimum)
_PASSING = (ReLU, LeakyReLU, ELU, Dropout, GaussianNoise)
_WINDOWED = "pool", "padding", "cropping", "sampling", "spatial_dropout"
"""Parts of the kinds of layers that treat each channel by itself, and keep the last axis."""


class Channels:
    """The units behind the last axis of each tensor of a network.

    Attributes:
        units: for each tensor, the unit at each place of its last axis, or `FIXED`.
        squares: the squared L2 norm of the weights of each unit, with those that are tied to it.
        cuts: the weights of each layer that lose places if units are removed.
        widths: the name of the argument that is the number of units, for layers that make some.
        reasons: why layers keep their width, by their names.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.units: dict[Tensor, Array] = {}
        self.squares: dict[int, float] = {}
        self.cuts: dict[Layer, Cuts] = {}
        self.widths: dict[Layer, str] = {}
        self.reasons: dict[str, str] = {}
        self._tied: list[int] = []
        self._makers: dict[int, Layer] = {}
        self._fixed: dict[int, str] = {}
        calls = [item for item in draft.structure.items if isinstance(item, LayerCall)]
        called = [call.layer for call in calls]
        self._several = {layer for layer in called if called.count(layer) > 1}
        for tensor in draft.structure.inputs:
            self.units[tensor] = _fixed(tensor)
        for item in draft.structure.items:
            self._follow(item)
        for tensor in draft.structure.outputs:
            units = self.units[tensor]
            self._fixed.update(dict.fromkeys(units[units != FIXED].tolist(), OUTPUT))
        self._settle()

    def kept(self, units: Array, removed: set[int]) -> Array:
        """Return which places stay, a bool array, if ``removed`` units go."""
        return np.array([unit == FIXED or self._root(unit) not in removed for unit in units])

    def prunable_groups(self) -> list[list[int]]:
        """Return groups of units, one for each layer, or for layers that are tied to each other."""
        groups: dict[Layer, list[int]] = {}
        for unit, layer in self._makers.items():
            if self._root(unit) == unit and unit not in self._fixed:
                groups.setdefault(layer, []).append(unit)
        return [units for units in groups.values() if units]

    # Ties between units

    def _root(self, unit: int) -> int:
        while self._tied[unit] != unit:
            unit = self._tied[unit]
        return int(unit)

    def _new(self, layer: Layer, count: int) -> Array:
        first = len(self._tied)
        self._tied += range(first, first + count)
        self._makers.update(dict.fromkeys(range(first, first + count), layer))
        return np.arange(first, first + count)

    def _tie(self, one: Array, other: Array, why: str) -> Array:
        for left, right in zip(one, other, strict=True):
            if FIXED in (left, right):
                self._fix(np.array([left, right]), why)
            else:
                first, second = sorted((self._root(left), self._root(right)))
                self._tied[second] = first
        return np.where(other == FIXED, FIXED, one)

    def _fix(self, units: Array, why: str) -> None:
        for unit in np.unique(units):
            if unit != FIXED:
                self._fixed.setdefault(int(unit), why)

    def _settle(self) -> None:
        """Bring the facts of tied units together."""
        for unit, why in list(self._fixed.items()):
            self._fixed.setdefault(self._root(unit), why)
        sums = dict.fromkeys((self._root(unit) for unit in self._makers), 0.0)
        for unit in self._makers:
            sums[self._root(unit)] += self.squares.get(unit, 0.0)
        self.squares = sums
        for unit, layer in self._makers.items():
            root = self._root(unit)
            if root in self._fixed:
                self.reasons.setdefault(self.draft.names[layer], self._fixed[root])

    # Layers

    def _follow(self, item: StructureItem) -> None:
        known = [self.units.get(tensor) for tensor in item.inputs]
        inputs = [
            _fixed(tensor) if units is None else units
            for tensor, units in zip(item.inputs, known, strict=True)
        ]
        rule = self._rule(item)
        if isinstance(item, LayerCall) and rule is not None:
            self.units[item.outputs[0]] = rule(item, inputs)
            return
        name = self.draft.names[item.layer] if isinstance(item, LayerCall) else item.name
        for units in inputs:
            self._fix(units, f"is followed by '{name}'")
        for tensor in item.outputs:
            self.units[tensor] = _fixed(tensor)

    def _rule(self, item: StructureItem) -> Callable[[LayerCall, list[Array]], Array] | None:
        """Return the function that follows a call; None if the sizes around it must stay."""
        if not isinstance(item, LayerCall) or item.layer in self._several or len(item.outputs) > 1:
            return None
        layer: Any = item.layer
        kind = type(layer)
        if getattr(layer, "data_format", None) == "channels_first":
            return None
        if getattr(layer, "groups", 1) != 1:
            return None
        if kind in (Dense, Conv1D, Conv2D, Conv2DTranspose, SeparableConv2D):
            return self._product
        if not _is_elementwise(layer):
            return None
        if kind is DepthwiseConv2D:
            return self._depthwise
        if kind is Embedding:
            return self._embedding
        if kind is BatchNormalization:
            is_last = layer.axis % len(item.inputs[0].shape) == len(item.inputs[0].shape) - 1
            return self._normalization if is_last else None
        if kind in _MERGES and len({tensor.shape[-1] for tensor in item.inputs}) == 1:
            return self._merge
        if kind is Concatenate:
            axis = layer.axis % len(item.inputs[0].shape)
            return self._concatenation if axis == len(item.inputs[0].shape) - 1 else None
        if kind is Flatten:
            return self._flatten
        if kind is Activation or kind in _PASSING or any(part in layer.kind for part in _WINDOWED):
            return self._same
        return None

    def _same(self, call: LayerCall, inputs: list[Array]) -> Array:
        return inputs[0]

    def _flatten(self, call: LayerCall, inputs: list[Array]) -> Array:
        size = call.outputs[0].shape[-1]
        assert size is not None
        return np.tile(inputs[0], size // max(len(inputs[0]), 1))

    def _merge(self, call: LayerCall, inputs: list[Array]) -> Array:
        result = inputs[0]
        why = f"is merged by '{self.draft.names[call.layer]}' with channels that must stay"
        for other in inputs[1:]:
            result = self._tie(result, other, why)
        return result

    def _concatenation(self, call: LayerCall, inputs: list[Array]) -> Array:
        return np.concatenate(inputs)

    def _normalization(self, call: LayerCall, inputs: list[Array]) -> Array:
        self.cuts[call.layer] = {name: {0: inputs[0]} for name in call.layer.variables}
        return inputs[0]

    def _embedding(self, call: LayerCall, inputs: list[Array]) -> Array:
        return self._made(call.layer, {"embeddings": {}}, {"embeddings": 1}, "output_dim")

    def _depthwise(self, call: LayerCall, inputs: list[Array]) -> Array:
        layer: Any = call.layer
        units = np.repeat(inputs[0], layer.depth_multiplier)
        self.cuts[layer] = {"kernel": {2: inputs[0]}}
        if layer.use_bias:
            self.cuts[layer]["bias"] = {0: units}
        return units

    def _product(self, call: LayerCall, inputs: list[Array]) -> Array:
        layer: Any = call.layer
        width = "units" if isinstance(layer, Dense) else "filters"
        if isinstance(layer, SeparableConv2D):
            spread = np.repeat(inputs[0], layer.depth_multiplier)
            cuts = {"depthwise_kernel": {2: inputs[0]}, "pointwise_kernel": {2: spread}}
            return self._made(layer, cuts, {"pointwise_kernel": 3}, width)
        rank = layer.variables["kernel"].spec.rank
        ins, outs = rank - 2, rank - 1
        if isinstance(layer, Conv2DTranspose):
            ins, outs = outs, ins
        return self._made(layer, {"kernel": {ins: inputs[0]}}, {"kernel": outs}, width)

    def _made(self, layer: Layer, cuts: Cuts, outputs: dict[str, int], width: str) -> Array:
        """Return new units of ``layer``.

        Args:
            cuts: along the inputs.
            outputs: the axis of the outputs of weights.
        """
        (name, axis) = next(iter(outputs.items()))
        kernel = np.moveaxis(self.draft.values[layer.variables[name]], axis, 0)
        units = self._new(layer, len(kernel))
        norms = np.square(kernel.reshape(len(kernel), -1), dtype=np.float64).sum(axis=1)
        self.squares.update(zip(units.tolist(), norms.tolist(), strict=True))
        cuts[name][axis] = units
        if "bias" in layer.variables:
            cuts["bias"] = {0: units}
        self.cuts[layer], self.widths[layer] = cuts, width
        if not _is_elementwise(layer):
            self._fix(units, "has an activation that needs all of its results")
        return units


def _fixed(tensor: Tensor) -> Array:
    return np.full((tensor.shape[-1] or 0) if tensor.shape else 0, FIXED)


def _is_elementwise(layer: Any) -> bool:
    """Return whether the activation of a layer, if it has one, treats each channel by itself."""
    function = getattr(layer, "_activate", activations.linear)
    over_channels = {activations.BY_NAME[name] for name in ("softmax", "log_softmax")}
    return function in activations.BY_NAME.values() and function not in over_channels
