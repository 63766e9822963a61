"""The tensors that a file in some layout would have for a network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from playgrad.nn.layer import Layer

if TYPE_CHECKING:
    from playgrad.interchange.pytorch.writer import NetworkStructure

Array = np.ndarray[Any, Any]
Layout = Literal["keras", "pytorch"]
"""The layout of stored tensors: (height, width, in, out) and (in, out) as in playgrad and Keras, or
(out, in, height, width) and (out, in) as in PyTorch."""


class Described(Protocol):
    """A network whose layers are known."""

    @property
    def structure(self) -> NetworkStructure: ...

    def named_layers(self) -> Sequence[tuple[str, Layer]]: ...


@dataclass(frozen=True, eq=False)
class Slot:
    """A tensor of a file.

    Attributes:
        name: as the network's own file would name it: ``dense_1.weight``.
        weights: the names of the weights that have its elements: ``dense_1/kernel``.
        places: the index of each of its elements among the elements of all weights, in the shape
            of the tensor.
        is_added: whether its values are added to the values of another slot.
    """

    name: str
    weights: tuple[str, ...]
    places: Array
    is_added: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.places.shape


def slots_of(
    shapes: Mapping[str, tuple[int, ...]], layout: Layout, network: Described | None
) -> list[Slot]:
    """Return the tensors of a file with this layout, in the order of the weights.

    Args:
        shapes: the shapes of the weights by name.
        network: the layers; without them, or for layers that PyTorch lacks, tensors are as in
            playgrad.
    """
    starts = np.cumsum([0, *(math.prod(shape) for shape in shapes.values())])
    names = list(shapes)

    def slot(name: str, places: Array, is_added: bool = False) -> Slot:
        touched = np.unique(np.searchsorted(starts, places.reshape(-1), side="right") - 1)
        return Slot(name, tuple(names[i] for i in touched), places, is_added)

    slots: list[Slot] = []
    if layout == "pytorch" and network is not None:
        from playgrad.interchange.pytorch.places import second_bias, state_places

        places = state_places(network.structure, network.named_layers(), shapes)
        for name, array in places.items():
            slots.append(slot(name, array))
            other = second_bias(name, places)
            if other is not None:
                slots.append(slot(other, array, is_added=True))
    known = {name for each in slots for name in each.weights}
    for name, start in zip(names, starts, strict=False):
        if name not in known:
            size = math.prod(shapes[name])
            slots.append(slot(name, np.arange(start, start + size).reshape(shapes[name])))
    return sorted(slots, key=lambda each: names.index(each.weights[0]))
