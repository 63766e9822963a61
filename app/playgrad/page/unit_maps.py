"""The values of hidden units over the plane of two inputs, as small pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.nn.dense import Dense
from playgrad.nn.layer_calls import LayerCall
from playgrad.page.shown_model import LiveModel

Array = np.ndarray[Any, Any]
MOST_LAYERS = 6
MOST_UNITS = 8
MOST_VALUES = 1 << 20
"""The limit of a hidden layer over the whole grid: more would take long to read from a GPU."""
STRIDE = 2
"""Cells of the grid for each pixel of a picture."""
MIDDLE = 128
"""The byte for 0."""


class UnitMaps(TypedDict):
    """Pictures of the layer's first units, side × side bytes each; 128 is 0."""

    name: str
    units: int
    side: int
    maps: bytes


@dataclass(frozen=True)
class HiddenLayer:
    """A dense layer before the last one: its name, and its values after the activation."""

    name: str
    tensor: Tensor
    units: int


def hidden_layers(model: LiveModel, cells: int) -> list[HiddenLayer]:
    """Return the first hidden layers of a model, none of which is too large to show.

    Args:
        cells: the number of cells of the grid.
    """
    calls = [item for item in model.structure.items if isinstance(item, LayerCall)]
    names = {layer: name for name, layer in model.named_layers()}
    hidden = []
    for call in calls:
        tensor = _activated(call.outputs[0], calls)
        units = tensor.shape[-1] or 0
        if (
            isinstance(call.layer, Dense)
            and len(tensor.shape) == 2
            and all(tensor is not output for output in model.outputs)
            and 0 < units * cells <= MOST_VALUES
        ):
            hidden.append(HiddenLayer(names[call.layer], tensor, units))
    return hidden[:MOST_LAYERS]


def _activated(tensor: Tensor, calls: list[LayerCall]) -> Tensor:
    """Return ``tensor`` after the layers without weights that follow, such as an activation."""
    for call in calls:
        if (
            len(call.inputs) == 1
            and call.inputs[0] is tensor
            and not call.layer.variables
            and len(call.outputs) == 1
            and call.outputs[0].shape == tensor.shape
        ):
            return _activated(call.outputs[0], calls)
    return tensor


def unit_maps(layer: HiddenLayer, values: Array, side: int) -> UnitMaps:
    """Return pictures of the first units, with a byte for each pixel: `MIDDLE` is 0.

    Args:
        values: (side², units), row by row.
    """
    shown = values[:, :MOST_UNITS].reshape(side, side, -1)[::STRIDE, ::STRIDE]
    maps = np.moveaxis(shown, -1, 0)
    largest = np.abs(maps).max(axis=(1, 2), keepdims=True)
    scaled = np.nan_to_num(maps / np.where(largest > 0, largest, 1))
    return {
        "name": layer.name,
        "units": layer.units,
        "side": side // STRIDE,
        "maps": np.round(MIDDLE + 127 * scaled).astype(np.uint8).tobytes(),
    }
