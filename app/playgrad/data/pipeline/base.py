"""The base class of transformations, and one round through them.

A transformation describes elements; `Transformation.open` begins one round through them and returns
a generator. Closing the generator closes those before it, and ends their threads.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from playgrad.data.pipeline.failures import FailureLog
from playgrad.data.pipeline.shares import Share
from playgrad.data.table_facts import TableFacts
from playgrad.errors import DataError

UNKNOWN = -2
"""The cardinality of elements that are counted only by reading them."""
INFINITE = -1
"""The cardinality of elements without an end."""
AUTOTUNE = -1
"""As ``num_parallel_calls``: as many threads as there are processors."""


def has_threads() -> bool:
    """Return whether this host has threads. Python in a page has none."""
    return sys.platform != "emscripten"


@dataclass(frozen=True)
class Round:
    """One round through the elements of a data set.

    Attributes:
        number: the number of the round, and the numbers of the rounds inside it that `repeat` and
            `interleave` make. Orders are drawn from it.
        threads: whether readers may use threads.
        failures: records the elements that are left out.
        share: the share of each batch that this process reads; None for whole batches.
        wanted: returns whether the element with this number is to be read; others may be `Unread`.
    """

    number: tuple[int, ...] = (0,)
    threads: bool = field(default_factory=has_threads)
    failures: FailureLog = field(default_factory=FailureLog)
    share: Share | None = None
    wanted: Callable[[int], bool] | None = None

    def inner(self, number: int) -> Round:
        """Return a round inside this one."""
        return replace(self, number=(*self.number, number))


class Transformation(ABC):
    """A description of elements, and of the elements that they are made from."""

    @abstractmethod
    def open(self, round_: Round) -> Iterator[Any]:
        """Return the elements of one round."""

    @property
    def cardinality(self) -> int:
        """The number of elements, `INFINITE` or `UNKNOWN`."""
        return UNKNOWN

    @property
    def facts(self) -> TableFacts | None:
        """The facts of the table whose rows the first arrays of the elements are, if known."""
        return None


@contextmanager
def opened(elements: Transformation, round_: Round) -> Iterator[Iterator[Any]]:
    """Open ``elements`` for the block, and close them after it.

    An error's traceback would otherwise keep generators, and so their threads, alive.
    """
    iterator = elements.open(round_)
    try:
        yield iterator
    finally:
        close(iterator)


def close(iterator: Any) -> None:
    """Close an iterator that can be closed."""
    closing = getattr(iterator, "close", None)
    if closing is not None:
        closing()


def whole_number(value: Any, name: str, least: int = 0) -> int:
    """Return ``value`` as an int.

    Raises:
        DataError: it is not a whole number of at least ``least``.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < least:
        raise DataError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def parallel_calls(value: int | None) -> int:
    """Return a number of threads for ``num_parallel_calls``.

    Raises:
        DataError: it is neither None, nor `AUTOTUNE`, nor a whole number of at least 1.
    """
    if value == AUTOTUNE:
        return os.cpu_count() or 1
    return 1 if value is None else whole_number(value, "num_parallel_calls", 1)
