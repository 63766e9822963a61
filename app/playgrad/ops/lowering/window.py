"""How the kernels of convolution and pooling are told where their windows lie.

attrs: `strides` [vertical, horizontal], `padding` [[top, bottom], [left, right]] in pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def window_constants(attrs: Mapping[str, Any]) -> dict[str, int]:
    """What to fill in for the strides, and for the padding before the image."""
    (stride_y, stride_x), ((top, _), (left, _)) = attrs["strides"], attrs["padding"]
    return {"STRIDE_Y": stride_y, "STRIDE_X": stride_x, "PAD_TOP": top, "PAD_LEFT": left}


def is_padded(attrs: Mapping[str, Any]) -> bool:
    """Whether a window may reach beyond the image."""
    return any(side for pair in attrs["padding"] for side in pair)
