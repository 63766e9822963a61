"""Which calls a Fold joins: how many of each kind at each depth, and the calls of one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError
from playgrad.ops.joined.fold import Fold
from playgrad.ops.joined.rows import decoded
from playgrad.ops.joined.table import COLUMNS, joined_calls_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Join:
    """Calls of one kind and depth, of all samples, that are computed together."""

    depth: int
    title: str
    calls: int


@dataclass(frozen=True)
class SampleCall:
    """A call of a sample.

    Attributes:
        depth: how many calls must be computed before it, at least.
        title: its function, with its strings, bools and None.
        takes: the numbers of the calls whose values it takes.
        numbers: its numbers and arrays, as text.
        is_result: whether its value is the result of the sample.
    """

    depth: int
    title: str
    takes: list[int]
    numbers: list[str]
    is_result: bool


def joins(fold: Fold, table: Array | None = None) -> list[Join]:
    """Return which calls are joined, in the order in which they are computed.

    Args:
        table: what ``fold.read`` returned; None for what it returned last.

    Raises:
        GraphError: the Fold has not read samples.
        DataError: the table is of another Fold.
    """
    table = _table(fold, table)
    kinds = list(fold.kinds)
    calls, _ = joined_calls_of(table, [kind.code for kind in kinds])
    return [Join(each.depth, kinds[each.kind].title, each.calls) for each in calls.joined]


def calls_of_sample(fold: Fold, sample: int, table: Array | None = None) -> list[SampleCall]:
    """Return the calls of one sample, in the order in which they were read.

    Raises:
        GraphError: the Fold has not read samples.
        DataError: there is no such sample, or the table is of another Fold.
    """
    table = _table(fold, table)
    if not 0 <= sample < len(table):
        raise DataError(f"there is no sample {sample}: the Fold has read {len(table)}.")
    kinds = {kind.code: kind for kind in fold.kinds}
    joined_calls_of(table[sample : sample + 1], list(kinds))  # checks it
    calls = []
    for row in table[sample]:
        if row[0] == 0:
            continue
        kind = kinds[int(row[0])]
        takes: list[int] = []
        numbers: list[str] = []
        column = COLUMNS
        for form, *detail in kind.forms:
            if form == "value":
                takes.append(int(row[column]))
                column += 1
            elif form == "number":
                end = column + int(np.prod(detail[1], dtype=np.int64))
                numbers.append(_text(decoded(row[column:end], detail[0])))
                column = end
        calls.append(SampleCall(int(row[1]), kind.title, takes, numbers, bool(row[2])))
    return calls


def _table(fold: Fold, table: Array | None) -> Array:
    found = fold.latest if table is None else table
    if found is None:
        raise GraphError(f"the Fold of {fold.name}() has not read samples.")
    if found.dtype != np.int32 or found.ndim != 3 or found.shape[2] < COLUMNS:
        raise DataError(
            f"the calls of {fold.name}() are int32 (samples, calls, {fold.shape[2]}), got "
            f"{found.dtype} {found.shape}.",
            hint="Pass what Fold.read returned.",
        )
    return found


def _text(values: Array) -> str:
    """Return a few numbers as text."""
    shown = " ".join(f"{value:.3g}" for value in values[:3].astype(np.float64))
    return f"{shown} …" if len(values) > 3 else shown
