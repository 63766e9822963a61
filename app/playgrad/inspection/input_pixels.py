"""Pixels as the input of a model: by its description, or by convention if it has none."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.input_description import InputDescription, guessed_range
from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor

Array = np.ndarray[Any, Any]
_SMALL = 0.05
"""A factor of the input below it, such as 1/255, brings bytes to the size of other numbers."""


def described_input(tensor: Tensor, known: InputDescription | None) -> InputDescription | None:
    """Return the description of an input, if it fits the input."""
    if known is None or len(known.shape) + 1 != len(tensor.shape):
        return None
    fits = all(a in (None, b) for a, b in zip(tensor.shape[1:], known.shape, strict=True))
    return known if fits else None


def usual_input(tensor: Tensor) -> InputDescription:
    """Return the description of an input about whose data nothing is known."""
    low, high = guessed_range(dtype(tensor.dtype).floating, _scales_first(tensor))
    return InputDescription(tuple(size or 1 for size in tensor.shape[1:]), (low,), (high,))


def input_of_pixels(pixels: Array, described: InputDescription, kind: str) -> Array:
    """Return the input for pixels from 0 to 1, (..., channels).

    Args:
        kind: the dtype of the input; whole numbers are rounded.
    """
    values = described.scaled(pixels)
    return (values if dtype(kind).floating else np.round(values)).astype(dtype(kind).numpy)


def _scales_first(tensor: Tensor) -> bool:
    """Return whether a layer such as ``Rescaling(1/255)`` begins the network."""
    return any(
        abs(factor) < _SMALL
        for node in tensor.graph.nodes
        if node.op.name in ("mul", "div") and any(each is tensor for each in node.inputs)
        for factor in _factors(node)
    )


def _factors(node: Node) -> list[float]:
    """Return the numbers by which a node multiplies."""
    others = [each.node for each in node.inputs if each.node.op.name == "constant"]
    values = [float(x) for other in others for x in np.ravel(other.attrs["value"])[:1]]
    return [1 / value if node.op.name == "div" else value for value in values if value]
