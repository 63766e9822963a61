"""Shape and element type of a tensor, without the tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from playgrad.errors import ShapeError, shape_text

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class TensorSpec:
    """Shape (None for each unknown dimension) and dtype name of a tensor."""

    shape: Shape
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def static_shape(self) -> tuple[int, ...]:
        """The shape, if it is fully known.

        Raises:
            ShapeError: a dimension is unknown.
        """
        if None in self.shape:
            raise ShapeError(f"shape {shape_text(self.shape)} is not fully known.")
        return cast(tuple[int, ...], self.shape)

    @property
    def size(self) -> int:
        """Number of elements; the shape must be known."""
        count = 1
        for dim in self.static_shape:
            count *= dim
        return count

    def __str__(self) -> str:
        return f"{self.dtype}{shape_text(self.shape)}"
