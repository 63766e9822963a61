"""The sample that the view of layers shows, with the visitor's edits, and its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from playgrad.data.input_description import InputDescription, guessed_range
from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.inspection.input_pixels import input_of_pixels
from playgrad.inspection.outputs import NO_CLASS, decisions, scale_of, softmax
from playgrad.inspection.pictures import image_size, pixels, shown_range
from playgrad.inspection.tokens import tokens_of
from playgrad.page.shown_model import LiveModel, ShownModel

Array = np.ndarray[Any, Any]
MOST_OUTPUTS = 20
MOST_VALUES = 16_384
"""The limit of a sample that can be edited: an image of 128 x 128 pixels."""
MOST_TOKENS = 500
"""The limit of a text: the first tokens are shown."""


class ValueEdit(TypedDict):
    """`at`: index in the sample's values, row by row."""

    at: int
    value: float


class SamplePicture(TypedDict):
    height: int
    width: int
    channels: Literal[1, 3]
    pixels: bytes


class SampleValues(TypedDict):
    """Without edits. `values` (float32): null if they cannot be edited; `low`, `high`: black and
    white; `whole`: integers from 0 to 255; `tokens`: the first ones of a text."""

    picture: SamplePicture | None
    values: bytes | None
    low: float
    high: float
    whole: bool
    tokens: list[str] | None


def drawn_sample(model: ShownModel, drawing: list[float]) -> Array:
    """Return the drawing, whose pixels are from 0 to 1, as a batch of one.

    Raises:
        GraphError: the model does not take a drawing of so many pixels.
    """
    shape, described = model.input_shape[1:], model.input_description
    if None in shape and described is not None:
        shape = described.shape  # the model takes images of any size
    sizes = tuple(size for size in shape if size is not None)
    if len(sizes) < len(shape) or len(drawing) != int(np.prod(sizes)):
        raise GraphError(
            f"a drawing has {len(drawing)} pixels, but the model takes inputs of shape {shape}."
        )
    pixels = np.asarray(drawing).reshape(1, *sizes)
    if described is None or len(described.low) not in (1, *shape[-1:]):
        low, high = guessed_range(dtype(model.input_dtype).floating, scales_first=False)
        described = InputDescription(sizes, (low,), (high,))
    return input_of_pixels(pixels, described, model.input_dtype)


def edited_sample(x: Array, edits: Sequence[ValueEdit]) -> Array:
    """Return a copy of the sample in which some values are replaced.

    Args:
        edits: the index ``at`` in the sample's values, row by row, and the new ``value``.

    Raises:
        GraphError: there is no such value, or the sample cannot hold the new one.
    """
    changed = x.copy()
    flat = changed.reshape(-1)
    for edit in edits:
        at, value = edit["at"], edit["value"]
        if not 0 <= at < flat.size:
            raise GraphError(f"the sample has no value {at}: it has {flat.size} values.")
        with np.errstate(over="ignore"):
            stored = np.asarray(value).astype(x.dtype) if _holds(x.dtype, value) else np.nan
        if not np.isfinite(stored):
            raise GraphError(f"value {at} of the sample cannot be {value} as {x.dtype}.")
        flat[at] = stored
    return changed


def _holds(kind: np.dtype[Any], value: float) -> bool:
    """Return whether ``kind`` is floating point, or an integer type that has ``value``."""
    if not np.issubdtype(kind, np.integer):
        return True
    limits = np.iinfo(kind)
    return float(value).is_integer() and limits.min <= value <= limits.max


def sample_values(model: LiveModel, x: Array, all_x: Array) -> SampleValues:
    """Return the values of a sample, its picture if it is one, and its tokens if it is a text.

    The numbers of tokens are not values to edit: another integer is another word.

    Args:
        x: the sample before edits, as a batch of one.
        all_x: the excerpt, over whose range a picture goes from black to white.
    """
    size = image_size(x.shape[1:])
    can_edit = x.size <= MOST_VALUES and (
        x.dtype == np.uint8 or np.issubdtype(x.dtype, np.floating)
    )
    picture: SamplePicture | None = None
    if size is not None:
        height, width, channels = size
        drawn = pixels(x, all_x)
        picture = {"height": height, "width": width, "channels": channels, "pixels": drawn}
    low, high = shown_range(all_x)
    tokens = tokens_of(model, x)
    return {
        "picture": picture,
        "values": np.ascontiguousarray(x, "<f4").tobytes() if can_edit else None,
        "low": low,
        "high": high,
        "whole": x.dtype == np.uint8,
        "tokens": tokens[:MOST_TOKENS] if tokens else None,
    }


def target_of(model: LiveModel, y: Array) -> float | None:
    """Return the true class or number; None if the target is neither, or nothing."""
    if not np.size(y):
        return None
    if np.ndim(y) and np.size(y) > 1:
        return float(np.argmax(y)) if scale_of(model) not in (None, "linear") else None
    return float(np.reshape(y, -1)[0])


def decision_of(model: LiveModel, output: Array) -> float | None:
    """Return the predicted class or number; None if the output is neither, or is NaN."""
    scale = scale_of(model)
    if scale is None:
        return None
    if scale == "linear":
        return float(output[0, 0])
    label = int(decisions(output, scale)[0][0])
    return None if label == NO_CLASS else float(label)


def outputs_of(model: LiveModel, output: Array) -> list[float]:
    """Return the outputs for one sample: probabilities if the loss turns scores into them."""
    values = output[0].reshape(-1)[:MOST_OUTPUTS]
    scale = scale_of(model)
    if scale == "softmax" and output.shape[-1] <= MOST_OUTPUTS:
        values = softmax(values)
    elif scale == "sigmoid":
        values = 1 / (1 + np.exp(-np.clip(values, -80, 80)))
    return [float(value) for value in values]
