"""Products of two tensors, sample by sample, as a layer."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.einsum import einsum
from playgrad.ops.reductions.statistics import unit_vectors
from playgrad.records import LayerRecord

_LEAST_SQUARE = 1e-14


class Dot(Layer):
    """Dot products of the samples of two tensors along an axis of each.

    The result has the other axes of the first tensor, then the other axes of the second:
    ``Dot(axes=(1, 2))`` makes (batch, 5, 10) of (batch, 3, 5) and (batch, 10, 3). Of two tensors
    (batch, n) it is (batch, 1).

    Args:
        axes: the axis of both tensors, or one of each, the batch being axis 0; negative ones count
            from the end.
        normalize: whether to divide the vectors along the axes by their lengths first; the result
            is then the cosine of their angle.
    """

    kind = "dot"
    record = LayerRecord(
        keras="Dot",
        tfjs="axes normalize",
        is_merge=True,
    )

    def __init__(
        self, axes: int | Sequence[int], normalize: bool = False, name: str | None = None
    ) -> None:
        super().__init__(name)
        pair: list[Any] = list(axes) if isinstance(axes, (list, tuple)) else [axes, axes]
        if len(pair) != 2 or any(type(axis) is not int for axis in pair):
            raise ShapeError(
                f"axes of a Dot layer must be a whole number, or two, got {axes!r}.",
                source=self.source,
            )
        self.axes = axes if isinstance(axes, int) else tuple(axes)
        self._pair: list[int] = pair
        self.normalize = bool(normalize)

    def build(self, *shapes: Shape) -> None:
        if len(shapes) != 2:
            raise ShapeError(f"layer '{self.name}' takes two tensors, got {len(shapes)}.")
        (first, a), (second, b) = zip(shapes, self._axes(shapes), strict=True)
        if None not in (first[a], second[b]) and first[a] != second[b]:
            raise ShapeError(
                f"layer '{self.name}' multiplies along axis {a} of {shape_text(first)} and axis "
                f"{b} of {shape_text(second)}, which have different sizes."
            )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, y = inputs
        a, b = self._axes([x.shape, y.shape])
        if self.normalize:
            x, y = unit_vectors(x, a, _LEAST_SQUARE), unit_vectors(y, b, _LEAST_SQUARE)
        letters = iter(string.ascii_letters[2:])  # a is the batch, b the common axis
        names = [["a", *(next(letters) for _ in t.shape[1:])] for t in (x, y)]
        names[0][a] = names[1][b] = "b"
        rest = [name for letters_of in names for name in letters_of[1:] if name != "b"]
        product = einsum(f"{''.join(names[0])},{''.join(names[1])}->a{''.join(rest)}", x, y)
        return product if rest else reshape(product, (-1, 1))

    def _axes(self, shapes: Sequence[Shape]) -> list[int]:
        """Return the axis of each tensor, counted from 0."""
        result = []
        for axis, shape in zip(self._pair, shapes, strict=True):
            if not -len(shape) < axis < len(shape) or axis == 0:
                raise ShapeError(
                    f"layer '{self.name}' multiplies along axis {axis}, but an input of shape "
                    f"{shape_text(shape)} has no such axis after the batch."
                )
            result.append(axis % len(shape))
        return result
