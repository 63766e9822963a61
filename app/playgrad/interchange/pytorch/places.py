"""The places of the elements of a state_dict among the weights of a network."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import ExportError
from playgrad.interchange.pytorch.export import add_item
from playgrad.interchange.pytorch.writer import NetworkStructure, ProgramWriter
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]


def state_places(
    structure: NetworkStructure,
    layers: Sequence[tuple[str, Layer]],
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, Array]:
    """Return, for each tensor that the export would write, which elements of the weights it has.

    The export is run on the numbers of the elements in place of their values, so that whatever it
    does with a weight, transposing, permuting or joining it, is known here as well. Layers without
    an equivalent are left out.

    Args:
        structure: the layers and operations of the network.
        layers: its layers by name.
        shapes: the shapes of its weights, whose elements are numbered consecutively from 0.
    """
    weights, count = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        # Below 0, unlike the constants that the export adds.
        weights[name] = -1 - np.arange(count, count + size, dtype=np.int64).reshape(shape)
        count += size
    writer = ProgramWriter(structure, layers, weights)
    for position, item in enumerate(structure.items):
        writer.position = position
        before = dict(writer.state)
        try:
            add_item(writer, item)
        except ExportError:
            writer.state = before
            for tensor in item.outputs:
                writer.bind(tensor, "x")
    return {
        name: -1 - array
        for name, array in writer.state.items()
        if array.dtype == np.int64 and array.size and (array < 0).all()
    }


def second_bias(name: str, places: Mapping[str, Array]) -> str | None:
    """Return the name of the other bias that PyTorch adds to this one, where playgrad has one."""
    other = re.sub(r"bias_ih(_l0(_reverse)?)$", r"bias_hh\1", name)
    return other if other != name and other not in places else None
