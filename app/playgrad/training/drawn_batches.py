"""Batches that members of a run draw for each other.

A generator, or a pipeline that cannot be divided, is read by the first member, which hands each
member the rows that it computes. Of a data set in parts, every member reads some parts, and what
another one needs of them is exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from playgrad.data.pipeline.failures import Failure, FailureLog
from playgrad.data.pipeline.shares import Share
from playgrad.data.pipeline.structure import leaves, mapped
from playgrad.errors import DataError, as_of_another_member, portable_error, shape_text
from playgrad.runtime.members import Members

Array = np.ndarray[Any, Any]
_WHOLE = Share(0, 1, 1)


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a batch.

    Attributes:
        size: the rows of the whole batch; None if it is not made of arrays, and so not divided.
        content: these rows, or the whole batch.
    """

    start: int
    size: int | None
    content: Any


@dataclass(frozen=True)
class _RoundEnd:
    """The end of a round, with what it left out."""

    skipped: FailureLog


class DrawnBatches:
    """Draws batches together with the other members. All methods are collective.

    Args:
        parts: the number of parts of the data set; None if the first member reads all of it.

    Attributes:
        reads: the share of each batch that this member reads; None for nothing.
        skipped: what the last round left out, where the first member has read it.
    """

    def __init__(self, members: Members, parts: int | None) -> None:
        self._members = members
        self._readers = _readers(members.size, parts)
        self._needed: list[Share] = [_WHOLE] * members.size
        self.reads = self._readers[members.rank]
        self.skipped = FailureLog()

    def need(self, shares: Sequence[Share | None]) -> None:
        """From the next batch on, give each member its share of ``shares`` only; None for all."""
        self._needed = [share or _WHOLE for share in shares]

    def next(self, draw: Callable[[], Any], skipped: FailureLog) -> Any:
        """Return the next batch, with zeros in the rows that this member does not need.

        Args:
            draw: returns the batch with the rows of ``reads``.
            skipped: what it has left out.

        Raises:
            StopIteration: the round has ended at a member that reads.
            Exception: the error of the first member that could not read.
        """
        own, failure = None, None
        outgoing: list[Any] = [None] * self._members.size
        if self.reads is not None:
            try:
                own = draw()
            except StopIteration:
                outgoing = [_RoundEnd(_portable(skipped))] * len(outgoing)
            except Exception as error:
                failure = error
                outgoing = [portable_error(error)] * len(outgoing)
            else:
                outgoing = self._pieces(self.reads, own)
        rank = self._members.rank
        incoming = self._members.exchange(outgoing)
        for sender, each in enumerate(incoming):
            if isinstance(each, Exception):
                if sender == rank and failure is not None:
                    raise failure
                raise as_of_another_member(each)
        for each in incoming:
            if isinstance(each, _RoundEnd):
                self.skipped = each.skipped
                raise StopIteration
        for each in incoming:
            if isinstance(each, Rows):
                own = _put(own, each)
        return own

    def _pieces(self, reads: Share, batch: Any) -> list[Any]:
        """Return the rows of ``batch`` that this member reads and each of the others needs."""
        rank, size = self._members.rank, _size_of(batch)
        if size is None:
            return [None if to == rank else Rows(0, None, batch) for to in range(len(self._needed))]
        have = reads.rows(size)
        pieces: list[Any] = []
        for to, share in enumerate(self._needed):
            need = share.rows(size)
            start, stop = max(have.start, need.start), min(have.stop, need.stop)
            has_structure = self._readers[to] is not None
            if to == rank or (start >= stop and has_structure):
                pieces.append(None)
            else:
                content = mapped(batch, itemgetter(slice(start, max(start, stop))))
                pieces.append(Rows(start, size, content))
        return pieces


def _readers(members: int, parts: int | None) -> list[Share | None]:
    """Return the share of each batch that each member reads."""
    if parts is None:
        return [_WHOLE, *[None] * (members - 1)]
    bounds = [parts * rank // members for rank in range(members + 1)]
    return [Share(first, end, parts) if first < end else None for first, end in pairwise(bounds)]


def _size_of(batch: Any) -> int | None:
    """Return the rows of all arrays of ``batch``; None if it cannot be divided into rows."""
    arrays = [leaf for _, leaf in leaves(batch)]
    if not all(isinstance(each, np.ndarray) and each.ndim for each in arrays):
        return None
    lengths = {len(each) for each in arrays}
    has_objects = any(each.dtype.hasobject for each in arrays)
    return lengths.pop() if len(lengths) == 1 and not has_objects else None


def _put(batch: Any, rows: Rows) -> Any:
    """Return ``batch``, or zeros if it is None, with ``rows`` put in their places."""
    if rows.size is None:
        return rows.content
    size = rows.size
    if batch is None:
        batch = mapped(rows.content, lambda part: np.zeros((size, *part.shape[1:]), part.dtype))
    own, parts = dict(leaves(batch)), dict(leaves(rows.content))
    for name in own.keys() | parts.keys():
        ours, theirs = own.get(name), parts.get(name)
        if ours is None or theirs is None or _kind(ours) != _kind(theirs):
            raise DataError(
                "the parts of a data set yield elements that differ in structure: "
                f"'{name}' is {_text(ours)} in one, and {_text(theirs)} in another."
            )
        ours[rows.start : rows.start + len(theirs)] = theirs
    return batch


def _kind(array: Array) -> tuple[Any, ...]:
    return array.shape[1:], array.dtype


def _text(array: Array | None) -> str:
    return "missing" if array is None else f"{array.dtype} of shape {shape_text(array.shape[1:])}"


def _portable(log: FailureLog) -> FailureLog:
    """Return ``log`` with errors that can be sent to other processes."""
    return FailureLog(
        log.count,
        [Failure(f.where, f.element, f.value, portable_error(f.error)) for f in log.failures],
    )
