"""Windows of consecutive elements, and the elements of data sets that a function makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from playgrad.data.pipeline.base import UNKNOWN, Round, Transformation, close, opened
from playgrad.data.pipeline.failures import Failure, short
from playgrad.data.pipeline.order import Following
from playgrad.data.pipeline.structure import applied, kept, leaves, rebuilt
from playgrad.errors import DataError


class Kept(Transformation):
    """Elements that are in memory."""

    def __init__(self, elements: Sequence[Any]) -> None:
        self.elements = elements

    def open(self, round_: Round) -> Iterator[Any]:
        yield from self.elements

    @property
    def cardinality(self) -> int:
        return len(self.elements)


class Windowed(Following):
    """Windows of ``size`` elements, each ``shift`` elements after the one before.

    Args:
        stride: from an element of a window to its next one.
        drop_remainder: leaves out windows of fewer elements at the end.
        made: makes a data set of elements.
    """

    keeps_rows = False

    def __init__(
        self,
        before: Transformation,
        size: int,
        shift: int,
        stride: int,
        drop_remainder: bool,
        made: Callable[[Transformation], Any],
    ) -> None:
        super().__init__(before)
        self.size, self.shift, self.stride = size, shift, stride
        self.drop_remainder = drop_remainder
        self.made = made

    @property
    def span(self) -> int:
        """The elements from the first to the last one of a window."""
        return (self.size - 1) * self.stride + 1

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as elements:
            held = list(islice(elements, self.span))
            while len(held) >= (self.span if self.drop_remainder else 1):
                yield self._window(held[:: self.stride])
                skipped = max(0, self.shift - len(held))
                held = held[self.shift :]
                held += islice(elements, skipped, skipped + self.span - len(held))

    def _window(self, elements: Sequence[Any]) -> Any:
        """Return the structure of an element, with a data set in place of each array."""
        columns = zip(*([leaf for _, leaf in leaves(each)] for each in elements), strict=True)
        return rebuilt(elements[0], (self.made(Kept(column)) for column in columns))

    @property
    def cardinality(self) -> int:
        count = self.before.cardinality
        if count < 0:
            return count
        return max(0, -(-(count - self.span + 1 if self.drop_remainder else count) // self.shift))


class Flattened(Following):
    """The elements of the data sets that a function makes of elements, one after the other.

    Args:
        function: returns a `Dataset` or another iterable.
    """

    keeps_rows = False

    def __init__(self, before: Transformation, function: Callable[..., Any]) -> None:
        super().__init__(before)
        self.function = function

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as elements:
            for number, element in enumerate(elements):
                part: Any = None
                try:
                    part = opened_part(
                        applied(self.function, element), round_.inner(number), "flat_map"
                    )
                    yield from part
                except Exception as error:
                    failure = Failure("flat_map", number, short(element), error)
                    round_.failures.handle(failure, "raise")
                finally:
                    close(part)

    @property
    def cardinality(self) -> int:
        return 0 if self.before.cardinality == 0 else UNKNOWN


class _Elements:
    """The elements of an iterable of the user's, `kept`. Unlike a generator, it goes on after an
    error if the iterable does, such as a reader of records of which one is damaged."""

    def __init__(self, made: Iterable[Any]) -> None:
        self._iterator = iter(made)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return kept(next(self._iterator))

    def close(self) -> None:
        close(self._iterator)


def opened_part(made: Any, round_: Round, method: str) -> Iterator[Any]:
    """Return the elements of the data set or iterable that a user's function has returned.

    Raises:
        DataError: it is neither a `Dataset` nor another iterable.
    """
    if hasattr(made, "open_round"):
        rounds: Iterator[Any] = made.open_round(round_)
        return rounds
    if not hasattr(made, "__iter__"):
        raise DataError(
            f"the function of {method} returned {type(made).__name__}, not a Dataset or another "
            "iterable."
        )
    return _Elements(made)
