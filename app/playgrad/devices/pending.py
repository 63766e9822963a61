"""Work that has begun on a device and is not waited for yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

TIMEOUT_SECONDS = 300.0
"""A device that gives no answer or other sign of life for this long is treated as lost. Even the
slowest adapter finishes a segment or compiles a program in much less, and even the busiest machine
starts a page's worker."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Within the block, treat a device of the page as lost after this many seconds.

    For work that may never end, such as a kernel that somebody is writing.
    """
    global TIMEOUT_SECONDS
    before, TIMEOUT_SECONDS = TIMEOUT_SECONDS, seconds
    try:
        yield
    finally:
        TIMEOUT_SECONDS = before


T = TypeVar("T")
U = TypeVar("U")

Outcome = tuple[Any, bytes]
"""The answer of a device in another worker or interpreter: a JSON value with bytes."""


class Pending(Protocol):
    """Something that will be done eventually."""

    def done(self) -> bool:
        """Return whether it is done."""
        ...

    def wait(self) -> None:
        """Sleep until it is done."""
        ...


class Result(Pending, Protocol[T]):  # type: ignore[misc]
    """Pending work that has a result."""

    def result(self) -> T:
        """Wait for the work and return its result, or raise what it raised."""
        ...


class Done(Generic[T]):
    """The result of work that is already done."""

    def __init__(self, value: T) -> None:
        self._value = value

    def done(self) -> bool:
        return True

    def wait(self) -> None:
        """Return at once."""

    def result(self) -> T:
        return self._value


class Then(Generic[T, U]):
    """Pending work whose result is passed through ``convert``."""

    def __init__(self, begun: Result[T], convert: Callable[[T], U]) -> None:
        self._begun = begun
        self._convert = convert

    def done(self) -> bool:
        return self._begun.done()

    def wait(self) -> None:
        self._begun.wait()

    def result(self) -> U:
        return self._convert(self._begun.result())


class Delay:
    """Done after ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self.end = time.perf_counter() + seconds

    def done(self) -> bool:
        return time.perf_counter() >= self.end

    def wait(self) -> None:
        time.sleep(max(0.0, self.end - time.perf_counter()))
