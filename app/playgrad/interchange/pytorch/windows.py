"""The padding of windows: TensorFlow's in terms of PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from playgrad.interchange.pytorch.use import LayerUse

Sides = tuple[tuple[int, int], ...]
"""Numbers of elements added before and after each axis."""


def padding_of(
    use: LayerUse, size: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> tuple[list[int], Sides | None]:
    """Return the padding of the module, and the padding to add before it, if any.

    PyTorch pads both sides alike; TensorFlow adds an odd element at the end, and with strides the
    padding depends on the size of the image.
    """

    def sides(image: Sequence[int | None]) -> Sides:
        return tuple(
            _sides(use.layer.padding, *each)
            for each in zip(image, size, strides, dilation, strict=True)
        )

    every = {sides(call.inputs[0].shape[1:-1]) for call in use.writer.calls[use.layer]}
    if len(every) == 1 and all(before == after for pairs in every for before, after in pairs):
        return [before for before, _ in next(iter(every))], None
    return [0] * len(size), sides(use.x.shape[1:-1])


def _sides(
    padding: str, length: int | None, size: int, stride: int, dilation: int
) -> tuple[int, int]:
    """Return the padding before and after an axis of an image."""
    extent = (size - 1) * dilation + 1
    if padding == "valid":
        return 0, 0
    if padding == "causal":
        return extent - 1, 0
    if stride == 1:
        total = extent - 1
    else:
        assert length is not None  # or the layer had refused it
        total = max((math.ceil(length / stride) - 1) * stride + extent - length, 0)
    return total // 2, total - total // 2


def unless(default: int, values: Sequence[int]) -> Sequence[int] | None:
    """Return ``values``; None if all of them equal the module's default."""
    return None if all(value == default for value in values) else values


def pads(sides: Sides) -> str:
    """Return the argument of ``F.pad``: the last axis first."""
    return f"({', '.join(str(n) for pair in reversed(sides) for n in pair)})"


def slices(sides: Sequence[tuple[int, int]]) -> str:
    """Return the subscript that cuts images, channels first."""
    return ", ".join([":", ":", *(f"{a or ''}:{-b or ''}" for a, b in sides)])
