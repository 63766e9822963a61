"""Arrays as pictures, with a byte for each value."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import ShapeError

Array = np.ndarray[Any, Any]
Figure = dict[str, Any]

MOST_PICTURES = 100
MOST_BYTES = 1 << 20
"""Of one figure. Of a larger picture every n-th row and column is shown."""
MIDDLE = 128
"""The byte for 0 in colours from negative to positive."""
COLOURS = ("auto", "grey", "diverging")


def pictures(
    array: Array, title: str, colours: str, low: float | None, high: float | None
) -> Figure:
    """Return a figure of one picture or a grid of them.

    Args:
        array: (H, W), (H, W, 3 or 4), (N, H, W) or (N, H, W, 1, 3 or 4); see `playgrad.show`.

    Raises:
        ShapeError: it has another shape.
        ValueError: the colours or the range are not possible.
    """
    if colours not in COLOURS:
        raise ValueError(f"colours must be one of {', '.join(COLOURS)}, got {colours!r}.")
    stack, is_coloured = _stack(array)
    total = len(stack)
    stack = stack[:MOST_PICTURES]
    stack, notes = _fitting(stack)
    if len(stack) < total:
        notes.insert(0, f"the first {len(stack)} of {total:,} pictures")
    values = stack.astype(np.float64)
    odd = int(np.count_nonzero(~np.isfinite(values)))
    if odd:
        notes.append(f"{odd:,} values are NaN or infinite")
    if is_coloured:
        scale, least, most = "colour", 0.0, _white(values, stack.dtype)
    else:
        scale, least, most = _range(values, stack.dtype, colours, low, high)
    return {
        "shows": "pictures",
        "title": title,
        "count": len(stack),
        "height": stack.shape[1],
        "width": stack.shape[2],
        "channels": stack.shape[3],
        "scale": scale,
        "low": least,
        "high": most,
        "note": "; ".join(notes),
        "pixels": _bytes(values, least, most),
    }


def _stack(array: Array) -> tuple[Array, bool]:
    """Return pictures (N, H, W, channels), and whether channels are colours."""
    shape = array.shape
    if array.ndim == 1:
        return array.reshape(1, 1, -1, 1), False
    if array.ndim == 2:
        return array[None, :, :, None], False
    if array.ndim == 3:
        return (array[None], True) if shape[2] in (3, 4) else (array[..., None], False)
    if array.ndim == 4 and shape[3] in (1, 3, 4):
        return array, shape[3] > 1
    raise ShapeError(
        f"an array of shape {shape} is not a picture or a row of them.",
        hint="Pass (height, width), (height, width, 3), (pictures, height, width) or "
        "(pictures, height, width, 3).",
    )


def _fitting(stack: Array) -> tuple[Array, list[str]]:
    """Return the pictures that fit into one figure, and a sentence about the rest."""
    notes = []
    size = stack[0].size
    stride = 1
    while -(-stack.shape[1] // stride) * -(-stack.shape[2] // stride) * stack.shape[3] > MOST_BYTES:
        stride += 1
    if stride > 1:
        notes.append(f"1 of {stride} rows and columns of {stack.shape[1]:,} × {stack.shape[2]:,}")
        stack = stack[:, ::stride, ::stride]
        size = stack[0].size
    return stack[: max(1, MOST_BYTES // size)], notes


def _white(values: Array, dtype: Any) -> float:
    """Return the value of full brightness: 1 for floats up to 1, 255 for others."""
    if dtype.kind == "b":
        return 1.0
    finite = values[np.isfinite(values)]
    return 1.0 if dtype.kind == "f" and (not finite.size or finite.max() <= 1) else 255.0


def _range(
    values: Array, dtype: Any, colours: str, low: float | None, high: float | None
) -> tuple[str, float, float]:
    """Return the scale, and the values at its ends."""
    finite = values[np.isfinite(values)]
    least = float(finite.min()) if finite.size else 0.0
    most = float(finite.max()) if finite.size else 1.0
    if colours == "diverging" or (colours == "auto" and least < 0 and low is None):
        end = float(max(abs(least), abs(most)) if high is None else high) or 1.0
        if not 0 < end < np.inf:
            raise ValueError(f"high must be above 0, got {high}.")
        return "diverging", -end, end
    if dtype == np.uint8:
        least, most = 0.0, 255.0
    elif dtype.kind == "b":
        least, most = 0.0, 1.0
    least = least if low is None else float(low)
    most = most if high is None else float(high)
    if most == least and low is None and high is None:
        most = least + 1
    if not (np.isfinite(least) and np.isfinite(most) and least < most):
        raise ValueError(f"low must be below high, got {least:g} and {most:g}.")
    return "grey", least, most


def _bytes(values: Array, low: float, high: float) -> bytes:
    """Return bytes from 0 at ``low`` to 255 at ``high``; values that are not numbers become 0.

    A range whose middle is 0 has `MIDDLE` for 0.
    """
    if low == -high:
        scaled = MIDDLE + 127 * np.clip(values / high, -1, 1)
    else:
        # Halves, because the difference of the ends may be too large for a float.
        scaled = 255 * np.clip((values / 2 - low / 2) / (high / 2 - low / 2), 0, 1)
    return np.round(np.nan_to_num(scaled)).astype(np.uint8).tobytes()
