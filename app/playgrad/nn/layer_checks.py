"""Checks of arguments and shapes, with errors that name the layer."""

from __future__ import annotations

from numbers import Real
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape


class LayerChecks:
    """Checks for the constructor, ``build`` and ``call`` of layers.

    Attributes:
        name: the name of the layer; None until its first call.
        source: (file, line) where the user created the layer.
    """

    name: str | None
    source: tuple[str, int] | None

    def positive(self, what: str, value: Any) -> int:
        """Return ``value`` as an int.

        Args:
            what: the name of the argument, for the error.

        Raises:
            ShapeError: it is not a whole number of at least 1.
        """
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
        if number < 1 or number % 1 != 0:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be a whole number of at least 1, "
                f"got {value!r}.",
                source=self.source,
            )
        return int(number)

    def number(self, what: str, value: Any, most: float) -> float:
        """Return ``value`` as a float.

        Args:
            what: the name of the argument, for the error.

        Raises:
            ShapeError: it is not a number from 0 to ``most``.
        """
        number = float(value) if isinstance(value, Real) else float("nan")
        if not 0.0 <= number <= most:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be a number from 0 to {most:g}, "
                f"got {value!r}.",
                source=self.source,
            )
        return number

    def pair(self, what: str, value: Any) -> tuple[int, int]:
        """Return ``value``, one number or two, as (vertical, horizontal).

        Args:
            what: the name of the argument, for the error.

        Raises:
            ShapeError: it is not one or two whole numbers of at least 1.
        """
        items = tuple(value) if isinstance(value, (list, tuple)) else (value, value)
        if len(items) != 2:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be one number or two, "
                f"got {value!r}.",
                source=self.source,
            )
        return self.positive(what, items[0]), self.positive(what, items[1])

    def known(self, shape: Shape, axis: int) -> int:
        """Return the size of ``shape`` along ``axis``.

        Raises:
            ShapeError: the size is unknown.
        """
        size = shape[axis]
        if size is None:
            raise ShapeError(
                f"layer '{self.name}' needs to know dimension {axis} of its input, "
                f"but its shape is {shape_text(shape)}.",
                op=self.name,
            )
        return size

    def expect_rank(self, shape: Shape, rank: int, dimensions: str) -> None:
        """Raise ShapeError unless ``shape`` has ``rank`` dimensions.

        Args:
            dimensions: their names, for the error: "(batch, height, width, channels)".
        """
        if len(shape) != rank:
            raise ShapeError(
                f"layer '{self.name}' takes inputs of {rank} dimensions {dimensions}, "
                f"but got shape {shape_text(shape)}.",
                op=self.name,
                hint=_rank_hint(shape, rank),
            )

    def expect_width(self, shape: Shape, width: int) -> None:
        """Raise ShapeError unless the last dimension is ``width``, as when the layer was built."""
        if shape[-1] != width:
            raise ShapeError(
                f"layer '{self.name}' was built for inputs with a last dimension of {width}, "
                f"but got shape {shape_text(shape)}.",
                op=self.name,
            )


def _rank_hint(shape: Shape, rank: int) -> str | None:
    if rank == 4 and len(shape) == 3:
        rows, columns = shape[1], shape[2]
        return f"For grey images put nn.Reshape(({rows}, {columns}, 1)) before it."
    if rank == 2 and len(shape) > 2:
        return "Put nn.Flatten() before it."
    return None
