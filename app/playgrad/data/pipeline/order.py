"""Transformations that choose and order elements."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count as numbers
from itertools import islice
from typing import Any

import numpy as np

from playgrad.data.pipeline.base import INFINITE, UNKNOWN, Round, Transformation, opened
from playgrad.data.pipeline.failures import Failure, short
from playgrad.data.pipeline.structure import applied
from playgrad.data.table_facts import TableFacts
from playgrad.errors import DataError


class Following(Transformation):
    """A transformation of the elements of ``before``, as many as there are of them.

    Attributes:
        keeps_rows: whether the rows of tables stay as they are, alone or in batches.
    """

    keeps_rows = True

    def __init__(self, before: Transformation) -> None:
        self.before = before

    @property
    def cardinality(self) -> int:
        return self.before.cardinality

    @property
    def facts(self) -> TableFacts | None:
        return self.before.facts if self.keeps_rows else None


class Shuffled(Following):
    """Elements in an order drawn from a buffer of the next ``size`` elements.

    Args:
        anew: whether each round has an order of its own.
    """

    def __init__(self, before: Transformation, size: int, seed: int, anew: bool) -> None:
        super().__init__(before)
        self.size = size
        self.seed = seed
        self.anew = anew

    def open(self, round_: Round) -> Iterator[Any]:
        random = np.random.default_rng([self.seed, *(round_.number if self.anew else ())])
        buffer: list[Any] = []
        with opened(self.before, round_) as elements:
            for element in elements:
                if len(buffer) < self.size:
                    buffer.append(element)
                    continue
                i = int(random.integers(self.size))
                chosen, buffer[i] = buffer[i], element
                yield chosen
        for i in random.permutation(len(buffer)):
            yield buffer[i]


class Filtered(Following):
    """The elements for which a function returns true."""

    def __init__(self, before: Transformation, predicate: Callable[..., Any]) -> None:
        super().__init__(before)
        self.predicate = predicate

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as elements:
            for i, element in enumerate(elements):
                try:
                    keeps = bool(applied(self.predicate, element))
                except Exception as error:
                    failure = Failure("filter", i, short(element), error)
                    round_.failures.handle(failure, "raise")
                if keeps:
                    yield element

    @property
    def cardinality(self) -> int:
        return 0 if self.before.cardinality == 0 else UNKNOWN


class Repeated(Following):
    """Several rounds, or rounds without an end if ``times`` is None.

    Elements that are repeated without an end must not be empty: that is a DataError.
    """

    def __init__(self, before: Transformation, times: int | None) -> None:
        super().__init__(before)
        self.times = times

    def open(self, round_: Round) -> Iterator[Any]:
        for i in numbers() if self.times is None else range(self.times):
            is_empty = True
            with opened(self.before, round_.inner(i)) as elements:
                for element in elements:
                    is_empty = False
                    yield element
            if is_empty:
                if self.times is None:
                    raise DataError("repeat() has nothing to repeat: the data set is empty.")
                return

    @property
    def cardinality(self) -> int:
        each = self.before.cardinality
        if self.times is None:
            return INFINITE if each else 0
        if self.times == 0 or each == 0:
            return 0
        return each if each < 0 else each * self.times


class Taken(Following):
    """The first ``size`` elements."""

    def __init__(self, before: Transformation, size: int) -> None:
        super().__init__(before)
        self.size = size

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as elements:
            yield from islice(elements, self.size)

    @property
    def cardinality(self) -> int:
        each = self.before.cardinality
        if each == INFINITE:
            return self.size
        return each if each == UNKNOWN and self.size else min(each, self.size)


class Left(Following):
    """The elements after the first ``size``."""

    def __init__(self, before: Transformation, size: int) -> None:
        super().__init__(before)
        self.size = size

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as elements:
            yield from islice(elements, self.size, None)

    @property
    def cardinality(self) -> int:
        each = self.before.cardinality
        return each if each < 0 else max(0, each - self.size)


class Zipped(Transformation):
    """Tuples of the elements of several data sets, as many as the shortest has."""

    def __init__(self, parts: Sequence[Transformation]) -> None:
        self.parts = parts

    def open(self, round_: Round) -> Iterator[Any]:
        iterators: list[Iterator[Any]] = []
        try:
            for part in self.parts:
                iterators.append(part.open(round_))
            yield from zip(*iterators, strict=False)
        finally:
            _close_all(iterators)

    @property
    def cardinality(self) -> int:
        sizes = [part.cardinality for part in self.parts]
        if 0 in sizes:
            return 0
        finite = [size for size in sizes if size != INFINITE]
        if UNKNOWN in finite:
            return UNKNOWN
        return min(finite) if finite else INFINITE


class Concatenated(Transformation):
    """The elements of one data set, followed by the elements of another."""

    def __init__(self, parts: Sequence[Transformation]) -> None:
        self.parts = parts

    def open(self, round_: Round) -> Iterator[Any]:
        for part in self.parts:
            with opened(part, round_) as elements:
                yield from elements

    @property
    def cardinality(self) -> int:
        sizes = [part.cardinality for part in self.parts]
        if INFINITE in sizes:
            return INFINITE
        return UNKNOWN if UNKNOWN in sizes else sum(sizes)


class Enumerated(Following):
    """Pairs of a number and an element."""

    keeps_rows = False

    def __init__(self, before: Transformation, start: int) -> None:
        super().__init__(before)
        self.start = start

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as elements:
            yield from enumerate(elements, self.start)


class Cached(Following):
    """Elements that are kept in memory by the first complete round."""

    def __init__(self, before: Transformation) -> None:
        super().__init__(before)
        self.kept: list[Any] | None = None
        self.lock = threading.Lock()

    def open(self, round_: Round) -> Iterator[Any]:
        if self.kept is not None:
            yield from self.kept
            return
        kept: list[Any] = []
        with opened(self.before, round_) as elements:
            for element in elements:
                kept.append(element)
                yield element
        with self.lock:
            self.kept = kept if self.kept is None else self.kept

    @property
    def cardinality(self) -> int:
        return self.before.cardinality if self.kept is None else len(self.kept)


def _close_all(iterators: list[Any]) -> None:
    for iterator in iterators:
        iterator.close()
