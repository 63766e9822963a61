"""Pictures as the pixels of a network; ``pictures/picture-input.js`` computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
GREY = (0.299, 0.587, 0.114)


def fitted(pixels: Array, height: int, width: int, channels: int) -> Array:
    """Return a picture with the proportions, the size and the channels of a network.

    The part in the middle that has the proportions is averaged over areas.

    Args:
        pixels: bytes (height, width, channels), grey or RGB; with alpha only if the network has it.
        channels: 1 for grey, 3 for RGB; any other number must equal the channels of ``pixels``.

    Returns:
        uint8 (height, width, channels).
    """
    tall, wide = pixels.shape[:2]
    scale = max(width / wide, height / tall)
    rows, columns = areas(tall, height, scale), areas(wide, width, scale)
    values = pixels.astype(np.float64)
    if channels == 1 and pixels.shape[2] == 3:
        averaged = np.stack([rows @ values[:, :, i] @ columns.T for i in range(3)], axis=2)
        averaged = (averaged @ np.array(GREY))[:, :, None]
    else:
        averaged = np.stack(
            [rows @ values[:, :, i] @ columns.T for i in range(pixels.shape[2])], axis=2
        )
        if channels == 3 and pixels.shape[2] == 1:
            averaged = np.repeat(averaged, 3, axis=2)
    # Sums in another order differ in the last bits, which must not decide how a half is rounded.
    return np.floor(averaged + 0.5 + 1e-6).astype(np.uint8)


def areas(length: int, count: int, scale: float) -> Array:
    """Return the part of each old pixel in each new one, (count, length)."""
    start = (length - count / scale) / 2
    edges = np.clip(start + np.arange(count + 1) / scale, 0, length)
    begins, ends = edges[:-1, None], edges[1:, None]
    pixel = np.arange(length)
    overlap = np.clip(np.minimum(ends, pixel + 1) - np.maximum(begins, pixel), 0, None)
    return overlap / overlap.sum(axis=1, keepdims=True)
