"""Fully connected layers whose weights are sharded (Shoeybi et al. 2019, *Megatron-LM*).

A layer split by columns gives each device some of the units. A layer split by rows takes these
units where they are, and adds up the products of the devices. In a pair of such layers the devices
communicate twice: when the input is copied, and in one all-reduce. Apart from rounding, the result
is that of `Dense` layers of the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.dense import Dense
from playgrad.nn.layer_calls import OnDevices, layers_of
from playgrad.nn.sharded_layer import DividedOptions, ShardedLayer, part_of
from playgrad.ops.arrays.concat import concat


class ParallelDense(ShardedLayer, Dense):
    """Base class of `Dense` layers whose weights are sharded.

    Args:
        units: number of outputs per sample.
        devices: names of the devices, one for each shard of the weights.
        activation, use_bias, kernel_initializer, bias_initializer: as in `Dense`.
        kernel_constraint, bias_constraint: as in `Dense`, but not along the axis that is divided.
        collective: how inputs are copied and products added up: "ring", "tree", "central", or
            "auto". The all-reduce of a ring needs the batch size, which is not known when the
            layer is built.
    """

    def __init__(
        self,
        units: int,
        devices: Sequence[str],
        activation: Any = None,
        use_bias: bool = True,
        *,
        collective: str = "auto",
        **options: Unpack[DividedOptions],
    ) -> None:
        super().__init__(units, activation, use_bias, **options)
        self.divide_among(devices, collective)


class ColumnParallelDense(ParallelDense):
    """`Dense` whose units are divided among devices: each has some columns of the kernel.

    Inputs (batch, ..., in), kernel (in, units), bias (units,), result (batch, ..., units). The
    result is concatenated on the first device only if something needs it whole: a
    `RowParallelDense` on the same devices uses the shards where they are.
    """

    kind = "column_parallel_dense"

    def build(self, *shapes: Shape) -> None:
        width = self.known(shapes[0], -1)
        bounds = self.bounds(self.units)
        self.add_shards(
            "kernel",
            (width, self.units),
            self.kernel_initializer,
            1,
            bounds,
            self.kernel_constraint,
        )
        if self.use_bias:
            self.add_shards(
                "bias", (self.units,), self.bias_initializer, 0, bounds, self.bias_constraint
            )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernels = inputs[0], self.shards("kernel")
        graph = x.graph
        self.expect_width(x.shape, kernels[0].spec.static_shape[0])
        biases = self.shards("bias") if self.use_bias else [None] * len(kernels)
        parts = []
        for copy, kernel, bias, device in zip(
            self.copies(x), kernels, biases, self.devices, strict=True
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
        layers_of(graph).shards[whole] = OnDevices(tuple(active), self.devices)
        return whole


class RowParallelDense(ParallelDense):
    """`Dense` whose inputs are divided among devices: each has some rows of the kernel.

    Inputs (batch, ..., in), kernel (in, units), bias (units,) on the first device, result
    (batch, ..., units): the sum of the devices' products, which all devices get. Inputs computed by
    a `ColumnParallelDense` on the same devices are already where they are needed.
    """

    kind = "row_parallel_dense"

    def build(self, *shapes: Shape) -> None:
        assert self.graph is not None
        width = self.known(shapes[0], -1)
        bounds = self.bounds(width)
        self.add_shards(
            "kernel",
            (width, self.units),
            self.kernel_initializer,
            0,
            bounds,
            self.kernel_constraint,
        )
        if self.use_bias:
            with self.graph.device(self.devices[0]):
                self.add_weight(
                    "bias", (self.units,), self.bias_initializer, constraint=self.bias_constraint
                )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernels = inputs[0], self.shards("kernel")
        graph = x.graph
        self.expect_width(x.shape, sum(kernel.spec.static_shape[0] for kernel in kernels))
        products = []
        bias: Tensor | None = self.variables.get("bias")
        for part, kernel, device in zip(self._shards_of(x), kernels, self.devices, strict=True):
            with graph.device(device):
                products.append(self.product(part, kernel, bias))
            bias = None  # added once
        copies = []
        sums = self._collectives.all_reduce(products, self.devices)
        for total, device in zip(sums, self.devices, strict=True):
            with graph.device(device):
                copies.append(self._activate(total))
        layers_of(graph).copies[copies[0]] = OnDevices(tuple(copies), self.devices)
        return copies[0]

    def _shards_of(self, x: Tensor) -> Sequence[Tensor]:
        known = layers_of(x.graph).shards.get(x)
        if known is not None and known.devices == self.devices:
            return known.tensors
        bounds = self.bounds(self.known(x.shape, -1))
        with x.graph.device(x.device):  # so that each device is sent only its shard
            return [part_of(x, -1, first, last) for first, last in pairwise(bounds)]


def parallel_mlp(
    hidden: int, units: int, devices: Sequence[str], activation: Any = "relu"
) -> list[ParallelDense]:
    """Return two sharded layers with ``hidden`` units between them.

    Returns:
        A `ColumnParallelDense` with the activation, and a `RowParallelDense` without one.
    """
    return [
        ColumnParallelDense(hidden, devices, activation=activation),
        RowParallelDense(units, devices),
    ]
