"""Layers whose weights are divided among devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from playgrad.compiler.place import canonical
from playgrad.errors import GraphError, ShapeError
from playgrad.graph.opdef import Array
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.nn.initializers import Initializer
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.state import Variable
from playgrad.parallel import collectives
from playgrad.parallel.collectives import Collectives


class ShardedLayer(Layer):
    """What layers have in common of which each device has a part.

    Attributes:
        devices: names of the devices, one for each part of the weights.
        collective: how inputs are copied and parts of sums added up: "ring", "tree", "central",
            or "auto". The size of a batch is not known when the layer is built, which a ring's
            all-reduce needs.
    """

    devices: tuple[str, ...]
    collective: str
    _collectives: Collectives
    _axes: dict[str, int]

    def divide_among(self, devices: Sequence[str], collective: str) -> None:
        """Say where the parts are. For use in the constructor.

        Raises:
            GraphError: there are no devices, or no such collectives.
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
        """``x`` on each device; from where it lies, if it is on all of them."""
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
    ) -> None:
        """Make a variable on each device: the parts along ``axis``, divided at ``bounds``, of what
        the weight of an undivided layer begins with. They are called ``<name>_0``, ..."""
        assert self.graph is not None
        graph = self.graph
        with graph.control_dependencies(None), graph.phase("variable"):
            with graph.device(None):
                whole = self.initial_value(name, shape, initializer)
            for number, (first, last) in enumerate(pairwise(bounds)):
                own = f"{name}_{number}"
                with graph.device(None), graph.reenter_scope(f"{self.name}/{own}/"):
                    part = part_of(whole, axis, first, last)
                with graph.device(self.devices[number]):
                    self.variables[own] = Variable(part, name=own)
        self._axes[name] = axis

    def shards(self, name: str) -> list[Variable]:
        """The parts of a weight, by device."""
        return [self.variables[f"{name}_{number}"] for number in range(len(self.devices))]

    def bounds(self, size: int, what: str = "features") -> list[int]:
        """Where ``size`` elements are divided: as evenly as it goes.

        Raises:
            ShapeError: there are fewer than devices.
        """
        count = len(self.devices)
        if size < count:
            raise ShapeError(
                f"layer '{self.name}' cannot divide {size} {what} among {count} devices.",
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
        """Of the undivided layer, in the order of its variables."""
        bases = ((name, name.rpartition("_")[0]) for name in self.variables)
        return list(dict.fromkeys(base if base in self._axes else name for name, base in bases))


def part_of(x: Tensor, axis: int, first: int, last: int) -> Tensor:
    """What lies from ``first`` to before ``last`` along ``axis``."""
    rank = x.spec.rank
    begin, size = [0] * rank, [-1] * rank
    begin[axis], size[axis] = first, last - first
    return slice_(x, begin, size, name="part")
