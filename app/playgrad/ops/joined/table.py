"""The table of calls: a sample of any structure as rows of int32, and the order to compute them in.

A table has the shape (samples, calls, `COLUMNS` + numbers). Each row is one call: the code of its
kind, or 0 for a row without a call; its depth, which is larger than that of every call whose value
it takes; 1 for the call whose value is the result of the sample, else 0; and then its arguments:
the row of the call whose value it takes, or the bits of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from playgrad.errors import DataError
from playgrad.graph.opdef import Array

COLUMNS = 3
MAX_DEPTH = 1000


@dataclass(frozen=True)
class Joined:
    """Calls of one kind and depth, which are computed together.

    Attributes:
        kind: the number of the kind.
        rows: the rows of the calls, counted through all samples.
    """

    kind: int
    depth: int
    rows: Array


@dataclass(frozen=True)
class Calls:
    """The calls of a table.

    Attributes:
        rows: the table as one matrix, (samples * calls, columns).
        first: the first row of the sample of each row.
        joined: all calls, in an order in which they can be computed.
        roots: the row of the result of each sample.
    """

    rows: Array
    first: Array
    joined: list[Joined]
    roots: Array


def joined_calls_of(table: Array, codes: Sequence[int]) -> tuple[Calls, Array]:
    """Return the calls of ``table``, and the number of the kind of each row, or -1.

    Args:
        codes: the codes of the kinds, in the order of their numbers.

    Raises:
        DataError: a code is unknown, a depth out of range, or a sample has not one result.
    """
    samples, calls, columns = table.shape
    rows = np.ascontiguousarray(table).reshape(samples * calls, columns)
    used = np.flatnonzero(rows[:, 0])
    order = np.argsort(np.asarray(codes))
    ordered = np.asarray(codes)[order]
    place = np.minimum(np.searchsorted(ordered, rows[used, 0]), len(codes) - 1)
    unknown = np.flatnonzero(ordered[place] != rows[used, 0])
    if len(unknown):
        raise DataError(
            f"row {used[unknown[0]] % calls} of sample {used[unknown[0]] // calls} is a call that "
            "this graph does not have.",
            hint="Read the samples with the Fold that the graph uses, and all of them before the "
            "graph is built.",
        )
    kinds = np.full(len(rows), -1, np.int32)
    kinds[used] = order[place]
    depths = rows[used, 1]
    if len(used) and not (depths.min() >= 0 and depths.max() <= MAX_DEPTH):
        raise DataError(f"the depth of a call must be in [0, {MAX_DEPTH}], as it is read.")
    results = np.flatnonzero((rows[:, 2] == 1) & (kinds >= 0))
    owners = results // calls if calls else results
    if not np.array_equal(owners, np.arange(samples)):
        counts = np.bincount(owners, minlength=samples)
        wrong = int(np.flatnonzero(counts != 1)[0])
        raise DataError(f"sample {wrong} must have one result, has {counts[wrong]}.")
    keys = depths.astype(np.int64) * len(codes) + kinds[used]
    sequence = np.argsort(keys, kind="stable")
    used, keys = used[sequence], keys[sequence]
    borders = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    joined = [
        Joined(int(keys[a] % len(codes)), int(keys[a] // len(codes)), used[a:b])
        for a, b in pairwise(borders)
        if b > a
    ]
    first = np.arange(len(rows), dtype=np.int32)
    first -= first % np.int32(max(calls, 1))
    return Calls(rows, first, joined, results), kinds


def expect_earlier(
    calls: Calls, kinds: Array, of_kind: Array, column: int, types: Array, wanted: int
) -> None:
    """Check the values that calls of one kind take by one of their columns.

    Args:
        kinds: the number of the kind of each row, or -1.
        of_kind: the rows of the calls.
        types: the type of the value of each kind.
        wanted: the type that the calls take.

    Raises:
        DataError: a value is not of an earlier call of the same sample, or of another type.
    """
    slots = calls.rows[of_kind, column]
    size = _calls_of_sample(calls)
    inside = (slots >= 0) & (slots < size)
    source = calls.first[of_kind] + np.where(inside, slots, 0)
    fits = inside & (kinds[source] >= 0) & (types[kinds[source]] == wanted)
    fits &= calls.rows[source, 1] < calls.rows[of_kind, 1]
    if not fits.all():
        row = int(of_kind[np.flatnonzero(~fits)[0]])
        raise DataError(
            f"row {row % size} of sample {row // size} takes a value that no earlier call of this "
            "sample returns.",
            hint="Use the arrays as Fold.read returns them.",
        )


def _calls_of_sample(calls: Calls) -> int:
    return len(calls.rows) // len(calls.roots)


def bucket(count: int) -> int:
    """Return the number of rows that ``count`` calls are computed with: 8, 16, 24, 32, 48, 64, ...

    Few numbers of rows mean few functions to prepare. And where a BLAS computes rows in groups of
    at most 8, as OpenBLAS does, a row has the same bits however many calls are joined.
    """
    if count <= 8:
        return 8
    size = 16
    while size < count:
        size = size * 3 // 2 if size & (size - 1) == 0 else size * 4 // 3
    return size
