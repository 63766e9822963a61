"""Layers whose weights are sharded: divided among devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypedDict

import numpy as np

from playgrad.devices.kinds import canonical
from playgrad.errors import GraphError, ShapeError
from playgrad.graph.opdef import Array
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.nn.constraints import Constraint
from playgrad.nn.initializers import Initializer
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.state import Variable
from playgrad.parallel import collectives
from playgrad.parallel.collectives import Collectives


class DividedOptions(TypedDict, total=False):
    """Options of a layer whose kernel and bias are divided among devices."""

    kernel_initializer: Any
    bias_initializer: Any
    kernel_constraint: Any
    bias_constraint: Any
    name: str | None


class ShardedLayer(Layer):
    """Base class of layers whose weights are sharded.

    Attributes:
        devices: names of the devices, one for each shard of the weights.
        collective: how inputs are copied and partial sums added up: "ring", "tree", "central",
            or "auto". The all-reduce of a ring needs the batch size, which is not known when the
            layer is built.
    """

    devices: tuple[str, ...]
    collective: str
    _collectives: Collectives
    _axes: dict[str, int]

    def divide_among(self, devices: Sequence[str], collective: str) -> None:
        """Set the devices of the shards. For use in the constructor.

        Raises:
            GraphError: there are no devices, or no collective algorithm of that name.
        """
        self.devices = tuple(canonical(device) for device in devices)
        if not self.devices:
            raise GraphError(f"{self!r} needs at least one device.", source=self.source)
        self.collective = collective
        self._collectives = collectives.get(collective)
        self._axes = {}

    def reset(self) -> None:
        super().reset()
        self._axes = {}

    def copies(self, x: Tensor) -> Sequence[Tensor]:
        """Return ``x`` on each device, without copying it if it is there."""
        known = layers_of(x.graph).copies.get(x)
        if known is not None and known.devices == self.devices:
            return known.tensors
        return self._collectives.broadcast(x, self.devices)

    def add_shards(
        self,
        name: str,
        shape: Sequence[int],
        initializer: str | Initializer,
        axis: int,
        bounds: Sequence[int],
        constraint: Constraint | None = None,
    ) -> None:
        """Create a variable ``<name>_<number>`` on each device, with a shard of a weight.

        The shards are parts of the initial value that an undivided layer would have.

        Args:
            shape: the shape of the undivided weight.
            axis: the axis along which it is divided.
            bounds: the positions at which it is divided, from 0 to its size.
            constraint: applied to each shard after each update.

        Raises:
            GraphError: the constraint needs the undivided weight.
        """
        assert self.graph is not None
        if constraint is not None and constraint.joins(axis, len(shape)):
            raise GraphError(
                f"the {name} of layer '{self.name}' is divided among devices along axis {axis}, "
                f"so {constraint} cannot be applied to the shards.",
                op=self.name,
                source=self.source,
                hint="Use a constraint along another axis, such as NonNeg(), or a whole layer.",
            )
        graph = self.graph
        with graph.control_dependencies(None), graph.phase("variable"):
            with graph.device(None):
                whole = self.initial_value(name, shape, initializer)
            for number, (first, last) in enumerate(pairwise(bounds)):
                shard = f"{name}_{number}"
                with graph.device(None), graph.reenter_scope(f"{self.name}/{shard}/"):
                    part = part_of(whole, axis, first, last)
                with graph.device(self.devices[number]):
                    self.variables[shard] = Variable(
                        part, shard, trainable=self.trainable, constraint=constraint
                    )
        self._axes[name] = axis

    def shards(self, name: str) -> list[Variable]:
        """Return the shards of a weight, by device."""
        return [self.variables[f"{name}_{number}"] for number in range(len(self.devices))]

    def bounds(self, size: int, what: str = "features") -> list[int]:
        """Return the bounds that divide ``size`` elements among the devices as evenly as possible.

        Args:
            what: the name of the elements, for the error.

        Raises:
            ShapeError: there are fewer elements than devices.
        """
        count = len(self.devices)
        if size < count:
            raise ShapeError(
                f"layer '{self.name}' cannot divide {size} {what} among {count} devices.",
                op=self.name,
            )
        return [size * number // count for number in range(count + 1)]

    # Files have the weights of an undivided layer.

    def weight_specs(self) -> dict[str, TensorSpec]:
        specs = {}
        for name in self._weight_names():
            if name not in self._axes:
                specs[name] = self.variables[name].spec
                continue
            shapes = [list(shard.spec.static_shape) for shard in self.shards(name)]
            axis = self._axes[name]
            shape = list(shapes[0])
            shape[axis] = sum(shard[axis] for shard in shapes)
            specs[name] = TensorSpec(tuple(shape), "float32")
        return specs

    def weight_parts(self) -> dict[str, tuple[list[Variable], int]]:
        return {
            name: (self.shards(name), self._axes[name])
            if name in self._axes
            else ([self.variables[name]], 0)
            for name in self._weight_names()
        }

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
        """Return the names of the undivided layer's weights, in the order of the variables."""
        bases = ((name, name.rpartition("_")[0]) for name in self.variables)
        return list(dict.fromkeys(base if base in self._axes else name for name, base in bases))


def part_of(x: Tensor, axis: int, first: int, last: int) -> Tensor:
    """Return the elements from ``first`` to ``last`` (exclusive) along ``axis``."""
    rank = x.spec.rank
    begin, size = [0] * rank, [-1] * rank
    begin[axis], size[axis] = first, last - first
    return slice_(x, begin, size, name="part")
