"""Fully connected layers whose weights are divided among devices.

A layer split by columns gives each device some of the units; one split by rows takes what such a
layer has made, each device its own, and adds up the products (Shoeybi et al. 2019, *Megatron-LM*).
So in a pair of layers the devices meet twice: when the input is copied, and for one all-reduce. The
result is that of `Dense` layers of the same names, but for rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from playgrad.compiler.place import canonical
from playgrad.errors import GraphError, ShapeError
from playgrad.graph.opdef import Array
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.nn.calls import Spread, notes_of
from playgrad.nn.dense import Dense
from playgrad.ops.concat import concat
from playgrad.ops.layout import slice_
from playgrad.ops.state import Variable
from playgrad.parallel import collectives
from playgrad.parallel.collectives import Collectives


class ParallelDense(Dense):
    """What both ways to split a `Dense` layer have in common.

    Args:
        units: outputs a sample.
        devices: names of the devices, one for each part of the weights.
        activation, use_bias, kernel_initializer, bias_initializer: as of `Dense`.
        collective: how inputs are copied and products added up: "ring", "tree", "central", or
            "auto". The size of a batch is not known when the layer is built, which a ring's
            all-reduce needs.
    """

    def __init__(
        self,
        units: int,
        devices: Sequence[str],
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        collective: str = "auto",
        name: str | None = None,
    ) -> None:
        super().__init__(units, activation, use_bias, kernel_initializer, bias_initializer, name)
        self.devices = tuple(canonical(device) for device in devices)
        if not self.devices:
            raise GraphError(f"{self!r} needs at least one device.", source=self.source)
        self.collective = collective
        self._collectives: Collectives = collectives.get(collective)
        self._axes: dict[str, int] = {}

    def reset(self) -> None:
        super().reset()
        self._axes = {}

    def add_shards(self, name: str, shape: Sequence[int], initializer: Any, axis: int) -> None:
        """Make a variable on each device: the parts along ``axis`` of what the weight of an
        undivided layer begins with. They are called ``<name>_0``, ``<name>_1``, ..."""
        assert self.graph is not None
        graph, bounds = self.graph, self.bounds(shape[axis])
        with graph.control_dependencies(None), graph.phase("variable"):
            with graph.device(None):
                whole = self.initial_value(name, shape, initializer)
            for number, (first, last) in enumerate(pairwise(bounds)):
                own = f"{name}_{number}"
                with graph.device(None), graph.reenter_scope(f"{self.name}/{own}/"):
                    part = _part(whole, axis, first, last)
                with graph.device(self.devices[number]):
                    self.variables[own] = Variable(part, name=own)
        self._axes[name] = axis

    def shards(self, name: str) -> list[Variable]:
        """The parts of a weight, by device."""
        return [self.variables[f"{name}_{number}"] for number in range(len(self.devices))]

    def bounds(self, size: int) -> list[int]:
        """Where ``size`` elements are divided: as evenly as it goes.

        Raises:
            ShapeError: there are fewer than devices.
        """
        count = len(self.devices)
        if size < count:
            raise ShapeError(
                f"layer '{self.name}' cannot divide {size} features among {count} devices.",
                op=self.name,
            )
        return [size * number // count for number in range(count + 1)]

    # Weights in files are those of an undivided layer.

    def weight_specs(self) -> dict[str, TensorSpec]:
        specs = {}
        for name in self._weight_names():
            if name not in self._axes:
                specs[name] = self.variables[name].spec
                continue
            shapes = [list(shard.spec.static_shape) for shard in self.shards(name)]
            axis = self._axes[name]
            shape = shapes[0]
            shape[axis] = sum(own[axis] for own in shapes[1:]) + shape[axis]
            specs[name] = TensorSpec(tuple(shape), "float32")
        return specs

    def joined(self, values: Mapping[str, Array]) -> dict[str, Array]:
        return {
            name: values[name]
            if name not in self._axes
            else np.concatenate(
                [values[f"{name}_{i}"] for i in range(len(self.devices))], self._axes[name]
            )
            for name in self._weight_names()
        }

    def divided(self, weights: Mapping[str, Array]) -> dict[str, Array]:
        values: dict[str, Array] = {}
        for name, array in weights.items():
            if name not in self._axes:
                values[name] = array
                continue
            axis = self._axes[name]
            ends = list(accumulate(shard.spec.static_shape[axis] for shard in self.shards(name)))
            parts = np.split(array, ends[:-1], axis)
            values.update((f"{name}_{number}", part) for number, part in enumerate(parts))
        return values

    def _weight_names(self) -> list[str]:
        return ["kernel", "bias"] if self.use_bias else ["kernel"]


class ColumnParallelDense(ParallelDense):
    """`Dense` whose units are divided among devices: each has some columns of the kernel.

    Inputs (batch, ..., in), kernel (in, units), bias (units,), result (batch, ..., units). The
    result is put together on the first device only if something needs it whole: a
    `RowParallelDense` on the same devices takes the parts from where they are.
    """

    kind = "column_parallel_dense"

    def build(self, *shapes: Shape) -> None:
        width = self.known(shapes[0], -1)
        self.add_shards("kernel", (width, self.units), self.kernel_initializer, axis=1)
        if self.use_bias:
            self.add_shards("bias", (self.units,), self.bias_initializer, axis=0)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernels = inputs[0], self.shards("kernel")
        graph = x.graph
        self.expect_width(x.shape, kernels[0].spec.static_shape[0])
        biases = self.shards("bias") if self.use_bias else [None] * len(kernels)
        parts = []
        for copy, kernel, bias, device in zip(
            self._copies(x), kernels, biases, self.devices, strict=True
        ):
            with graph.device(device):
                parts.append(self.product(copy, kernel, bias))
        first_new_node = len(graph.nodes)
        active = []
        for part, device in zip(parts, self.devices, strict=True):
            with graph.device(device):
                active.append(self._activate(part))
        with graph.device(self.devices[0]):
            if not all(
                node.op.elementwise or node.op.name == "constant"
                for node in graph.nodes[first_new_node:]
            ):
                return self._activate(concat(parts, -1))  # softmax needs whole rows
            whole = concat(active, -1)
        notes_of(graph).parts[whole] = Spread(tuple(active), self.devices)
        return whole

    def _copies(self, x: Tensor) -> Sequence[Tensor]:
        known = notes_of(x.graph).copies.get(x)
        if known is not None and known.devices == self.devices:
            return known.tensors
        return self._collectives.broadcast(x, self.devices)


class RowParallelDense(ParallelDense):
    """`Dense` whose inputs are divided among devices: each has some rows of the kernel.

    Inputs (batch, ..., in), kernel (in, units), bias (units,) on the first device, result
    (batch, ..., units): the sum of the devices' products, which all of them get. Inputs made by a
    `ColumnParallelDense` on the same devices are already where they are needed.
    """

    kind = "row_parallel_dense"

    def build(self, *shapes: Shape) -> None:
        assert self.graph is not None
        width = self.known(shapes[0], -1)
        self.add_shards("kernel", (width, self.units), self.kernel_initializer, axis=0)
        if self.use_bias:
            with self.graph.device(self.devices[0]):
                self.add_weight("bias", (self.units,), self.bias_initializer)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernels = inputs[0], self.shards("kernel")
        graph = x.graph
        self.expect_width(x.shape, sum(kernel.spec.static_shape[0] for kernel in kernels))
        products = []
        bias: Tensor | None = self.variables.get("bias")
        for part, kernel, device in zip(self._parts(x), kernels, self.devices, strict=True):
            with graph.device(device):
                products.append(self.product(part, kernel, bias))
            bias = None  # added once
        copies = []
        sums = self._collectives.all_reduce(products, self.devices)
        for total, device in zip(sums, self.devices, strict=True):
            with graph.device(device):
                copies.append(self._activate(total))
        notes_of(graph).copies[copies[0]] = Spread(tuple(copies), self.devices)
        return copies[0]

    def _parts(self, x: Tensor) -> Sequence[Tensor]:
        known = notes_of(x.graph).parts.get(x)
        if known is not None and known.devices == self.devices:
            return known.tensors
        bounds = self.bounds(self.known(x.shape, -1))
        with x.graph.device(x.device):  # so that each device is sent its part only
            return [_part(x, -1, first, last) for first, last in pairwise(bounds)]


def parallel_mlp(
    hidden: int, units: int, devices: Sequence[str], activation: Any = "relu"
) -> list[ParallelDense]:
    """Two layers with ``hidden`` units between them, which the devices share.

    Returns:
        A `ColumnParallelDense` with the activation, and a `RowParallelDense` without one.
    """
    return [
        ColumnParallelDense(hidden, devices, activation=activation),
        RowParallelDense(units, devices),
    ]


def _part(x: Tensor, axis: int, first: int, last: int) -> Tensor:
    rank = x.spec.rank
    begin, size = [0] * rank, [-1] * rank
    begin[axis], size[axis] = first, last - first
    return slice_(x, begin, size, name="part")
