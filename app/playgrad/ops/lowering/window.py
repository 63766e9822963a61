"""The constants that describe windows in the kernels of convolution and pooling.

attrs: ``strides`` [vertical, horizontal], ``padding`` [[top, bottom], [left, right]] in pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def window_constants(attrs: Mapping[str, Any]) -> dict[str, int]:
    """Return the constants for the strides, for the padding above and left of the image, and, for
    convolutions, for dilation."""
    (stride_y, stride_x), ((top, _), (left, _)) = attrs["strides"], attrs["padding"]
    constants = {"STRIDE_Y": stride_y, "STRIDE_X": stride_x, "PAD_TOP": top, "PAD_LEFT": left}
    if "pool_size" not in attrs:
        constants["DILATION_Y"], constants["DILATION_X"] = attrs.get("dilations", (1, 1))
    return constants


def is_padded(attrs: Mapping[str, Any]) -> bool:
    """Return whether a window may reach beyond the image."""
    return any(side for pair in attrs["padding"] for side in pair)
