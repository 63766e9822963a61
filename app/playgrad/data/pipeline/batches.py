"""Batches of elements, and elements of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

from playgrad.data.pipeline.base import UNKNOWN, Round, Transformation, opened
from playgrad.data.pipeline.order import Following
from playgrad.data.pipeline.shares import Share, completed
from playgrad.data.pipeline.structure import as_array, leaves, mapped, stacked
from playgrad.errors import DataError


class Batched(Following):
    """Batches of ``size`` elements; ``drop_remainder`` leaves out a smaller last one."""

    def __init__(self, before: Transformation, size: int, drop_remainder: bool) -> None:
        super().__init__(before)
        self.size = size
        self.drop_remainder = drop_remainder

    def open(self, round_: Round) -> Iterator[Any]:
        first, share = 0, round_.share
        wanted = None if share is None else self._wanted(share)
        with opened(self.before, replace(round_, share=None, wanted=wanted)) as elements:
            while True:
                batch = list(islice(elements, self.size))
                if not batch or (self.drop_remainder and len(batch) < self.size):
                    return
                if share is not None:
                    batch = completed(batch, share.rows(len(batch)))
                yield stacked(batch, first)
                first += len(batch)

    def _wanted(self, share: Share) -> Callable[[int], bool]:
        rows = share.rows(self.size)
        return lambda number: number % self.size in rows

    @property
    def cardinality(self) -> int:
        each = self.before.cardinality
        if each < 0:
            return each
        return each // self.size if self.drop_remainder else -(-each // self.size)


class Unbatched(Following):
    """The samples of batches, one by one. Arrays of a batch that differ in length: a DataError."""

    def open(self, round_: Round) -> Iterator[Any]:
        with opened(self.before, round_) as batches:
            for i, batch in enumerate(batches):
                batch = mapped(batch, partial(as_array, what=f"batch {i}"))
                shapes = {array.shape[:1] for _, array in leaves(batch)}
                if len(shapes) != 1 or shapes == {()}:
                    raise DataError(f"the arrays of batch {i} differ in length.")
                for row in range(shapes.pop()[0]):
                    yield mapped(batch, itemgetter(row))

    @property
    def cardinality(self) -> int:
        batches = self.before
        if isinstance(batches, Batched) and not batches.drop_remainder:
            return batches.before.cardinality
        return UNKNOWN
