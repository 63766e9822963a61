"""Checks of arguments and shapes, with errors that name the layer."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape

_DIMENSIONS = {1: "(batch, steps, channels)", 2: "(batch, height, width, channels)"}


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

    def single(self, what: str, value: Any) -> int:
        """Return ``value``, a number or a sequence of one, as an int of at least 1.

        Args:
            what: the name of the argument, for the error.

        Raises:
            ShapeError: it is not one whole number of at least 1.
        """
        alone = isinstance(value, (list, tuple)) and len(value) == 1
        return self.positive(what, value[0] if alone else value)

    def sizes(self, what: str, value: Any, axes: int) -> Any:
        """Return ``value`` for the steps of a sequence or the pixels of an image.

        Args:
            what: the name of the argument, for the error.
            axes: 1 for one number, 2 for (vertical, horizontal).

        Raises:
            ShapeError: it is not so many whole numbers of at least 1.
        """
        return self.single(what, value) if axes == 1 else self.pair(what, value)

    def sides(self, what: str, value: Any, axes: int) -> tuple[tuple[int, int], ...]:
        """Return ``value``, numbers for the borders along ``axes`` axes, as pairs.

        Args:
            what: the name of the argument, for the error.
            value: one number for all borders, or for each axis one number or (before, after).

        Raises:
            ShapeError: it is of another form, or a number is negative.
        """
        items = list(value) if isinstance(value, (list, tuple)) else [value] * axes
        pairs = [list(n) if isinstance(n, (list, tuple)) else [n, n] for n in items]
        numbers = [n for sides in pairs for n in sides]
        if [len(sides) for sides in pairs] != [2] * axes or not all(
            isinstance(n, Integral) and not isinstance(n, bool) and int(n) >= 0 for n in numbers
        ):
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be one whole number of at least 0, "
                f"or for each axis one or (before, after), got {value!r}.",
                source=self.source,
            )
        return tuple((int(before), int(after)) for before, after in pairs)

    def choice(self, what: str, value: Any, *allowed: str) -> str:
        """Return ``value`` in lower case.

        Args:
            what: the name of the argument, for the error.

        Raises:
            ShapeError: it is not one of ``allowed``.
        """
        text = value.lower() if isinstance(value, str) else None
        if text not in allowed:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be "
                f"{' or '.join(map(repr, allowed))}, got {value!r}.",
                source=self.source,
            )
        return text

    def format_of_data(self, data_format: Any) -> str | None:
        """Return the argument ``data_format``.

        Raises:
            ShapeError: it is neither None, "channels_last" nor "channels_first".
        """
        if data_format is None:
            return None
        return self.choice("data_format", data_format, "channels_last", "channels_first")

    def divisor(self, what: str, value: Any, whole_name: str, whole: int) -> int:
        """Return ``value`` as an int of at least 1 that divides ``whole``.

        Args:
            what, whole_name: the names of the two arguments, for the error.

        Raises:
            ShapeError: it is not.
        """
        number = self.positive(what, value)
        if whole % number:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must divide {whole_name}={whole}, "
                f"got {value!r}.",
                source=self.source,
            )
        return number

    def divided_channels(self, shape: Shape, groups: int) -> int:
        """Return the number of channels of each of ``groups`` groups of the last dimension.

        Raises:
            ShapeError: the last dimension is unknown or cannot be divided.
        """
        return self.group_width(self.known(shape, -1), groups, shape)

    def group_width(self, channels: int, groups: int, shape: Shape) -> int:
        """Return the number of channels of each of ``groups`` groups.

        Args:
            shape: the shape of the inputs, for the error.

        Raises:
            ShapeError: ``channels`` cannot be divided.
        """
        if channels % groups:
            raise ShapeError(
                f"layer '{self.name}' cannot divide the {channels} channels of inputs of shape "
                f"{shape_text(shape)} into {groups} groups.",
                op=self.name,
            )
        return channels // groups

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
                code="rank",
                values={
                    "kind": type(self).__name__,
                    "rank": rank - 1,
                    "shape": " × ".join("?" if n is None else str(n) for n in shape[1:]),
                },
            )

    def expect_axes(self, shape: Shape, axes: int) -> None:
        """Raise ShapeError unless ``shape`` is that of sequences (1) or of images (2)."""
        self.expect_rank(shape, axes + 2, _DIMENSIONS[axes])

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
