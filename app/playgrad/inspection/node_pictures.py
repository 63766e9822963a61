"""Values of nodes as pictures: images, feature maps, filters, and units over pixels."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import numpy as np

from playgrad.figures.pictures import pictures
from playgrad.inspection.pictures import image_size

Array = np.ndarray[Any, Any]
MOST = 24
LEAST_MAP = 4
"""The least side of a feature map that is drawn."""
LARGEST_MAP = 256
LARGEST_FILTER = 16


class NodePictures(TypedDict):
    """The first `count` of `total`, a byte for each value from `low` to `high`; channels are those
    of one sample."""

    of: Literal["samples", "channels", "filters", "units"]
    total: int
    count: int
    height: int
    width: int
    channels: Literal[1, 3, 4]
    scale: Literal["grey", "diverging", "colour"]
    low: float
    high: float
    pixels: bytes


def node_pictures(array: Array, is_weight: bool, alone: bool) -> NodePictures | None:
    """Return the value of a node as a grid of pictures; None if it is not of pictures.

    Args:
        is_weight: whether it shows a variable, whose first axis is not a batch.
        alone: whether one sample takes all places of the batch.

    Returns:
        ``count`` pictures of ``height``, ``width`` and ``channels`` as bytes, ``pixels``, from
        ``low`` to ``high`` on the ``scale`` "grey", "diverging" or "colour"; ``of``, which says
        whether they are "samples", "channels" of the first sample, "filters" or "units"; and the
        ``total`` number of them.
    """
    of: Literal["samples", "channels", "filters", "units"]
    of, stack = _weights(array) if is_weight else _activations(array)
    if stack is None or not stack.size:
        return None
    total = len(stack)
    shown = stack[: 1 if alone and of == "samples" else MOST]
    figure = pictures(np.ascontiguousarray(shown), "", "auto", None, None)
    return {
        "of": of,
        "total": total,
        "count": figure["count"],
        "height": figure["height"],
        "width": figure["width"],
        "channels": figure["channels"],
        "scale": figure["scale"],
        "low": figure["low"],
        "high": figure["high"],
        "pixels": figure["pixels"],
    }


def _weights(array: Array) -> tuple[Literal["filters", "units"], Array | None]:
    """Return filters (height, width, in, out) or dense kernels over pixels as pictures."""
    if array.ndim == 4 and max(array.shape[:2]) <= LARGEST_FILTER and min(array.shape[:2]) > 1:
        height, width = array.shape[:2]
        return "filters", array.transpose(3, 2, 0, 1).reshape(-1, height, width, 1)
    size = image_size(array.shape[:1]) if array.ndim == 2 else None
    return "units", None if size is None else array.T.reshape(-1, *size)


def _activations(array: Array) -> tuple[Literal["samples", "channels"], Array | None]:
    """Return images, or the maps of the first sample, as pictures."""
    size = image_size(array.shape[1:]) if array.ndim > 1 else None
    if size is not None:
        return "samples", array.reshape(-1, *size)
    if array.ndim != 4 or not len(array):
        return "channels", None
    maps = array[0]
    # Feature maps are (height, width, channels), maps of attention (heads, to, from).
    if maps.shape[0] == maps.shape[1] or maps.shape[1] != maps.shape[2]:
        maps = maps.transpose(2, 0, 1)
    fits = min(maps.shape[1:]) >= LEAST_MAP and max(maps.shape[1:]) <= LARGEST_MAP
    return "channels", maps[..., None] if fits else None
