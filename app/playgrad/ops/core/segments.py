"""Reductions of rows by the number of their segment, in NumPy."""

from __future__ import annotations

from math import prod

import numpy as np

from playgrad.graph.opdef import Array

FEW_ROWS = 8
"""Segments below which one more row of each is not worth a call of NumPy."""
NARROW = 4
"""Columns up to which ``ufunc.at`` of each column is the fastest way."""
SMALL = 1 << 14
"""Elements below which ``ufunc.at`` is."""
BLOCK_ELEMENTS = 1 << 16
"""Elements of the results that are computed together, so that they stay in a cache."""


def sorted_problem(ids: Array) -> str | None:
    """Return an error text for the first of ``ids`` that is less than the one before it."""
    flat = ids.reshape(-1)
    wrong = np.flatnonzero(flat[1:] < flat[:-1])
    if not wrong.size:
        return None
    at = int(wrong[0])
    return (
        f"indices that are said to be sorted must not decrease, but {flat[at + 1]} follows "
        f"{flat[at]} at position {at + 1}."
    )


def reduce_segments(ufunc: np.ufunc, x: Array, ids: Array, rows: int) -> Array:
    """Return ``ufunc`` over the slices of ``x`` that have the same id, in their order.

    The numbers are those of ``ufunc.at``, which takes several times as long for wide rows: the
    first slices of all segments are taken together, then the second ones, and so on.

    Args:
        ufunc: ``np.add``, ``np.maximum`` or ``np.minimum``.
        x: an array whose first dimensions are those of ``ids``.
        ids: int32, at least 0 and less than ``rows``.

    Returns:
        An array (rows, -1). Segments without slices are 0.
    """
    width = prod(x.shape[ids.ndim :])
    ids = ids.reshape(-1)
    table = x.reshape(ids.size, width)
    if width <= NARROW or table.size < SMALL:
        return _by_at(ufunc, table, ids, rows)
    result = np.zeros((rows, width), x.dtype)
    order = None if bool((ids[1:] >= ids[:-1]).all()) else _stable_order(ids, rows)
    counts = np.bincount(ids, minlength=rows)
    starts = np.cumsum(counts) - counts
    largest_first = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    block = max(FEW_ROWS, BLOCK_ELEMENTS // width)
    buffer = np.empty((block, width), x.dtype)
    for begin in range(0, largest_first.size, block):
        segments = largest_first[begin : begin + block]
        first, most = starts[segments], counts[segments]
        totals = table[_places(order, first)]
        if ufunc is np.add and totals.dtype.kind == "f":
            totals += 0.0  # 0 + -0 is 0
        taken, left = 1, int(np.searchsorted(-most, -1))
        while left > FEW_ROWS or taken == 1:
            # The segments that have more slices are the first ones.
            part, following = totals[:left], buffer[:left]
            table.take(_places(order, first[:left] + taken), 0, out=following, mode="clip")
            ufunc(part, following, out=part)
            taken += 1
            left = int(np.searchsorted(-most, -taken))
        for number in range(left):
            ranks = np.arange(first[number] + taken, first[number] + most[number])
            slices = np.concatenate([totals[number : number + 1], table[_places(order, ranks)]])
            totals[number] = ufunc.reduce(slices, axis=0)
        result[segments] = totals
    return result


def _places(order: Array | None, ranks: Array) -> Array:
    return ranks if order is None else order[ranks]


def _stable_order(ids: Array, rows: int) -> Array:
    """Return ``np.argsort(ids, kind="stable")``, by NumPy's radix sort, which takes 16 bits."""
    order = np.argsort(ids.astype(np.uint16), kind="stable")
    if rows > 1 << 16:
        order = order[np.argsort((ids >> 16).astype(np.uint16)[order], kind="stable")]
    return order


def _by_at(ufunc: np.ufunc, table: Array, ids: Array, rows: int) -> Array:
    result = np.zeros((rows, table.shape[1]), table.dtype)
    if ufunc is not np.add:  # 0 is no beginning, but any slice of the segment is
        result[ids] = table
    if table.shape[1] > NARROW:
        ufunc.at(result, ids, table)
        return result
    with np.errstate(invalid="ignore"):  # of NaN, which a maximum keeps
        for column in range(table.shape[1]):
            total = np.ascontiguousarray(result[:, column])
            ufunc.at(total, ids, np.ascontiguousarray(table[:, column]))
            result[:, column] = total
    return result
