"""Readers: functions that are called for several elements at once, with results in order.

The order never depends on the number of threads. At most a few results wait for the consumer, so
that a slow one holds up the readers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from playgrad.data.pipeline.base import UNKNOWN, Round, Transformation, close, opened
from playgrad.data.pipeline.failures import Failure, short
from playgrad.data.pipeline.order import Following
from playgrad.data.pipeline.shares import Unread
from playgrad.data.pipeline.structure import applied
from playgrad.data.pipeline.windows import opened_part
from playgrad.errors import ReadError

_AHEAD = 16
"""Elements that a reader thread takes from its file at a time."""


class _Result(Protocol):
    def result(self) -> Any: ...


class _Later:
    """A call that is made when its result is needed: readers without threads."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def result(self) -> Any:
        return self.function(*self.arguments)


@contextmanager
def _readers(threads: int) -> Iterator[Callable[..., _Result]]:
    """Yield a function that begins a call; after the block no call is under way."""
    if threads < 2:
        yield _Later
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="playgrad-reader")
    try:
        yield pool.submit
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Mapped(Following):
    """A function of each element.

    Args:
        threads: the number of calls at a time.
        on_error: "skip" to leave out elements for which the function fails.
    """

    keeps_rows = False

    def __init__(
        self, before: Transformation, function: Callable[..., Any], threads: int, on_error: str
    ) -> None:
        super().__init__(before)
        self.function = function
        self.threads = threads
        self.on_error = on_error

    def open(self, round_: Round) -> Iterator[Any]:
        threads = self.threads if round_.threads else 1
        pending: deque[tuple[int, Any, _Result]] = deque()
        failure: Exception | None = None
        wanted = round_.wanted if self.can_leave_unread else None
        before = replace(round_, wanted=wanted if isinstance(self.before, Mapped) else None)
        with opened(self.before, before) as elements, _readers(threads) as begin:
            numbered = enumerate(elements)
            at_end = False
            while True:
                while not at_end and len(pending) < threads + (threads > 1):
                    try:
                        number, element = next(numbered)
                    except StopIteration:
                        at_end = True
                    except Exception as error:  # raised after the elements before it
                        at_end, failure = True, error
                    else:
                        call = partial(self._call, element)
                        if wanted is None or wanted(number):
                            pending.append((number, element, begin(call)))
                        else:
                            pending.append((number, element, _Later(Unread, call)))
                if not pending:
                    break
                number, element, result = pending.popleft()
                try:
                    value = result.result()
                except Exception as error:
                    reason = Failure("map", number, short(element), error)
                    round_.failures.handle(reason, self.on_error)
                    continue
                yield value
            if failure is not None:
                raise failure

    def _call(self, element: Any) -> Any:
        return applied(self.function, element.read() if isinstance(element, Unread) else element)

    @property
    def can_leave_unread(self) -> bool:
        """Whether the numbers of its elements are known before they are read."""
        is_exact = self.on_error != "skip"
        return is_exact and (not isinstance(self.before, Mapped) or self.before.can_leave_unread)

    @property
    def cardinality(self) -> int:
        each = self.before.cardinality
        return UNKNOWN if self.on_error == "skip" and each > 0 else each


class Interleaved(Following):
    """The elements of several data sets in turn; a function makes one of each element.

    Args:
        function: returns a `Dataset` or another iterable.
        cycle_length: the number of data sets that are open at a time.
        block_length: elements taken from one before it is the next one's turn.
        threads: the number of data sets that are read at the same time.
        on_error: "skip" to leave out records that cannot be read, or the rest of a data set.
    """

    keeps_rows = False

    def __init__(
        self,
        before: Transformation,
        function: Callable[..., Any],
        cycle_length: int,
        block_length: int,
        threads: int,
        on_error: str,
    ) -> None:
        super().__init__(before)
        self.function = function
        self.cycle_length = cycle_length
        self.block_length = block_length
        self.threads = threads
        self.on_error = on_error

    def open(self, round_: Round) -> Iterator[Any]:
        threads = self.threads if round_.threads else 1
        files: list[_File | None] = []
        with opened(self.before, round_) as elements:
            numbered = enumerate(elements)
            try:
                with _readers(threads) as begin:

                    def next_file() -> _File | None:
                        following = next(numbered, None)
                        if following is None:
                            return None
                        return _File(*following, self.function, round_, begin, threads > 1)

                    files += [next_file() for _ in range(self.cycle_length)]
                    while any(files):
                        for turn, file in enumerate(files):
                            if file is None:
                                continue
                            yield from self._block(file, round_)
                            if file.at_end:
                                files[turn] = next_file()
            finally:
                for file in files:
                    if file is not None:
                        file.close()

    def _block(self, file: _File, round_: Round) -> Iterator[Any]:
        taken = 0
        while taken < self.block_length:
            outcome = file.next()
            if outcome is None:
                return
            if isinstance(outcome, Failure):
                round_.failures.handle(outcome, self.on_error)
                continue
            taken += 1
            yield outcome.value

    @property
    def cardinality(self) -> int:
        return 0 if self.before.cardinality == 0 else UNKNOWN


class _Read:
    """An element that was read."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _File:
    """One of the data sets that are read in turn, usually a file.

    Attributes:
        at_end: whether all its elements have been taken.
    """

    def __init__(
        self,
        number: int,
        element: Any,
        function: Callable[..., Any],
        round_: Round,
        begin: Callable[..., _Result],
        ahead: bool,
    ) -> None:
        self.number = number
        self.element = element
        self.function = function
        self.round = round_.inner(number)
        self.begin = begin
        self.ahead = ahead
        self.at_end = False
        self._iterator: Any = None
        self._last_record: Any = None
        self._read: deque[_Read | Failure] = deque()
        self._result: _Result | None = begin(self._take)

    def next(self) -> _Read | Failure | None:
        """Return the next element, or the reason why there is none; None at the end."""
        while not self._read:
            if self._result is None:
                self.at_end = True
                return None
            outcomes, has_more = self._result.result()
            self._read.extend(outcomes)
            self._result = self.begin(self._take) if has_more else None
        return self._read.popleft()

    def close(self) -> None:
        """Close the file. No thread may be reading it."""
        close(self._iterator)

    def _take(self) -> tuple[list[_Read | Failure], bool]:
        """Read a few elements; return them, and whether there may be more."""
        outcomes: list[_Read | Failure] = []
        try:
            if self._iterator is None:
                self._iterator = self._opened()
            for _ in range(_AHEAD if self.ahead else 1):
                outcomes.append(_Read(next(self._iterator)))
        except StopIteration:
            return outcomes, False
        except Exception as error:
            outcomes.append(Failure("interleave", self.number, short(self.element), error))
            return outcomes, self._can_go_on(error)
        return outcomes, True

    def _opened(self) -> Iterator[Any]:
        return opened_part(applied(self.function, self.element), self.round, "interleave")

    def _can_go_on(self, error: Exception) -> bool:
        """Return whether the record after the one that failed can be read."""
        if not isinstance(error, ReadError) or error.record in (None, self._last_record):
            return False
        self._last_record = error.record
        return True
