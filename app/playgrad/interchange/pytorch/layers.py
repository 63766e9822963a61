"""The layers that have an equivalent in PyTorch."""

from __future__ import annotations

from typing import Any

from playgrad.interchange.pytorch import (
    attention,
    basic,
    convolution,
    merging,
    normalization,
    recurrent,
    sizes,
)
from playgrad.interchange.pytorch.use import LayerUse
from playgrad.nn.layer import layer_type, record_of
from playgrad.nn.layer_calls import layers_of

_ROOMS = (attention, basic, convolution, merging, normalization, recurrent, sizes)


def add_layer(use: LayerUse) -> None:
    """Append the lines of a call of a layer.

    Raises:
        ExportError: it has no equivalent.
    """
    layer = use.layer
    if getattr(layer, "data_format", "") == "channels_first":
        raise use.refuse("the PyTorch program takes images with their channels last.")
    name = record_of(layer.kind).torch
    if (
        not name
        or type(layer) is not layer_type(layer.kind)
        or not type(layer).__module__.startswith("playgrad.")
    ):
        raise use.refuse(
            f"a layer of kind '{layer.kind}' has no equivalent in the PyTorch program.",
            "Export the model as ONNX, which has its operations.",
        )
    masks = layers_of(use.x.graph).masks
    if layer.uses_mask and any(x in masks for x in use.inputs):
        raise use.refuse("its sequence has a mask, which the modules of PyTorch do not take.")
    translate: Any = next(getattr(room, name) for room in _ROOMS if hasattr(room, name))
    translate(use)
