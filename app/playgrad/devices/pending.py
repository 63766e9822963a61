"""Work that a device was given and that is not waited for yet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

TIMEOUT_SECONDS = 300.0
"""Without an answer or another sign of life in so long, a device counts as dead: even the slowest
adapter ends a segment or compiles a program in much less, and even the busiest machine starts a
page's worker."""

T = TypeVar("T")
U = TypeVar("U")


class Pending(Protocol):
    """Something that will be done at some time."""

    def done(self) -> bool:
        """Whether it is."""
        ...

    def wait(self) -> None:
        """Sleep until it is."""
        ...


class Result(Pending, Protocol[T]):  # type: ignore[misc]
    """Work with an outcome."""

    def result(self) -> T:
        """The outcome, waited for if need be; raises what the work raised."""
        ...


class Done(Generic[T]):
    """The outcome of work that was waited for where it was begun."""

    def __init__(self, value: T) -> None:
        self._value = value

    def done(self) -> bool:
        return True

    def wait(self) -> None:
        """Nothing to wait for."""

    def result(self) -> T:
        return self._value


class Then(Generic[T, U]):
    """``begun`` with its outcome passed through ``convert``."""

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
    """Done after so many ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self.end = time.perf_counter() + seconds

    def done(self) -> bool:
        return time.perf_counter() >= self.end

    def wait(self) -> None:
        time.sleep(max(0.0, self.end - time.perf_counter()))


def wait_any(pendings: Sequence[Pending], seconds: float) -> None:
    """Sleep until one of ``pendings`` may be done, or for ``seconds``; callers look again.

    Only a page needs it: elsewhere each device has a thread that waits for it.
    """
    ends = [pending.end for pending in pendings if isinstance(pending, Delay)]
    seconds = min([seconds, *(max(0.0, end - time.perf_counter()) for end in ends)])
    if sys.platform == "emscripten":
        from playgrad.devices import _browser

        _browser.wait_for_answer(seconds)
    else:
        time.sleep(min(seconds, 0.001))
