"""The table of calls: a sample of any structure as rows of int32, and the order to compute them in.

A table has the shape (samples, calls, `COLUMNS` + numbers). Each row is one call: the code of its
kind, or 0 for a row without a call; its depth, which is larger than that of every call whose value
it takes; 1 for the call whose value is the result of the sample, else 0; and then its arguments:
the row of the call whose value it takes, or the bits of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from playgrad.errors import DataError
from playgrad.graph.opdef import Array

COLUMNS = 3
MAX_DEPTH = 1000
PART = 256
"""The most calls that are computed at once. Their arrays fit into the cache of a processor, and the
last few of many hundred calls are not computed with half as many that are dropped."""
ALL = slice(None)


@dataclass(frozen=True)
class Joined:
    """Calls of one kind and depth, which are computed together.

    Attributes:
        kind: the number of the kind.
        first, end: the places of the calls in the order in which all are computed.
    """

    kind: int
    depth: int
    first: int
    end: int

    @property
    def calls(self) -> int:
        """How many there are."""
        return self.end - self.first

    def parts(self) -> Iterator[tuple[int, int]]:
        """Return the first place and the end of parts of at most `PART` calls."""
        for first in range(self.first, self.end, PART):
            yield first, min(first + PART, self.end)


@dataclass(frozen=True)
class Calls:
    """The calls of a table, in an order in which they can be computed.

    Attributes:
        rows: the row of the table of each call, (calls, columns).
        samples: the sample of each call.
        first: the first row of the sample of each call, in the table.
        places: the place of the call of each row of the table; -1 for a row without a call.
        joined: the calls that are computed together.
        roots: the place of the result of each sample.
    """

    rows: Array
    samples: Array
    first: Array
    places: Array
    joined: list[Joined]
    roots: Array

    def sources(self, column: int, calls: Array | slice = ALL) -> Array:
        """Return the places of the calls whose values ``calls`` take."""
        found: Array = self.places[self.rows[calls, column] + self.first[calls]]
        return found


def joined_calls_of(table: Array, codes: Sequence[int]) -> tuple[Calls, Array]:
    """Return the calls of ``table``, and the number of the kind of each of them.

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
    found = rows[used, 0]
    number = np.minimum(np.searchsorted(ordered, found), len(codes) - 1)
    unknown = np.flatnonzero(ordered[number] != found)
    if len(unknown):
        raise DataError(
            f"row {used[unknown[0]] % calls} of sample {used[unknown[0]] // calls} is a call that "
            "this graph does not have.",
            hint="Read the samples with the Fold that the graph uses, and all of them before the "
            "graph is built.",
        )
    kinds = order[number]
    depths = rows[used, 1]
    if len(used) and not (depths.min() >= 0 and depths.max() <= MAX_DEPTH):
        raise DataError(f"the depth of a call must be in [0, {MAX_DEPTH}], as it is read.")
    results = used[rows[used, 2] == 1]
    owners = results // max(calls, 1)
    if not np.array_equal(owners, np.arange(samples)):
        counts = np.bincount(owners, minlength=samples)
        wrong = int(np.flatnonzero(counts != 1)[0])
        raise DataError(f"sample {wrong} must have one result, has {counts[wrong]}.")
    keys = depths * np.int32(len(codes)) + kinds.astype(np.int32)
    small = keys.astype(np.uint16) if keys.max(initial=0) < 1 << 16 else keys
    sequence = np.argsort(small, kind="stable")  # of 16 bits by radix
    used, keys, kinds = used[sequence], keys[sequence], kinds[sequence]
    borders = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    joined = [
        Joined(int(keys[a] % len(codes)), int(keys[a] // len(codes)), a, b)
        for a, b in pairwise(borders)
        if b > a
    ]
    places = np.full(len(rows), -1, np.intp)
    places[used] = np.arange(len(used))
    owners = used // max(calls, 1)
    return Calls(rows[used], owners, owners * calls, places, joined, places[results]), kinds


def expect_earlier(
    calls: Calls, kinds: Array, of_kind: Array, column: int, types: Array, wanted: int
) -> None:
    """Check the values that calls of one kind take by one of their columns.

    Args:
        kinds: the number of the kind of each call.
        of_kind: the places of the calls.
        types: the type of the value of each kind.
        wanted: the type that the calls take.

    Raises:
        DataError: a value is not of an earlier call of the same sample, or of another type.
    """
    slots, first = calls.rows[of_kind, column], calls.first[of_kind]
    size = len(calls.places) // len(calls.roots)
    inside = (slots >= 0) & (slots < size)
    source = calls.places[first + np.where(inside, slots, 0)]
    fits = inside & (source >= 0) & (types[kinds[source]] == wanted)
    fits &= calls.rows[source, 1] < calls.rows[of_kind, 1]
    if not fits.all():
        place = of_kind[np.flatnonzero(~fits)[0]]
        row = int(np.flatnonzero(calls.places == place)[0])
        raise DataError(
            f"row {row % size} of sample {row // size} takes a value that no earlier call of this "
            "sample returns.",
            hint="Use the arrays as Fold.read returns them.",
        )


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
