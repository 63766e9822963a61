"""Reductions of rows by the number of their segment, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
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

KEPT = 4
"""How many orders of ids are kept: both ends of the edges of two graphs."""
MOST_KEPT = 1 << 20
"""The most ids whose order is kept."""
_recent: tuple[_Layout, ...] = ()


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


def reduce_segments(
    ufunc: np.ufunc,
    x: Array,
    ids: Array,
    rows: int,
    sources: Array | None = None,
    weights: Array | None = None,
) -> Array:
    """Return ``ufunc`` over the slices of ``x`` that have the same id, in their order.

    The numbers are those of ``ufunc.at``, which takes several times as long for wide rows: the
    first slices of all segments are taken together, then the second ones, and so on.

    Args:
        ufunc: ``np.add``, ``np.maximum`` or ``np.minimum``.
        x: an array whose first dimensions are those of ``ids``.
        ids: int32, at least 0 and less than ``rows``.
        sources: int32 of the shape of ``ids``, for slices ``x[sources]`` in place of ``x``.
        weights: factors of the slices, of their shape without some of the last dimensions; None for
            1.

    Returns:
        An array (rows, -1). Segments without slices are 0.
    """
    width = prod(x.shape[ids.ndim if sources is None else 1 :])
    ids = ids.reshape(-1)
    sources = None if sources is None else sources.reshape(-1)
    weights = None if weights is None else weights.reshape(ids.size, prod(weights.shape[1:]))
    table = x.reshape(-1, width) if width else x
    if not width:
        return np.zeros((rows, 0), x.dtype)
    if width <= NARROW or ids.size * width < SMALL:
        slices = table if sources is None else table.take(sources, 0)
        return _by_at(ufunc, _weighted(slices, weights), ids, rows)
    result = np.zeros((rows, width), x.dtype)
    layout = _layout_of(ids, rows)
    order, starts, counts, largest_first = (
        layout.order, layout.starts, layout.counts, layout.largest_first
    )  # fmt: skip
    if order is not None:
        sources = order if sources is None else sources[order]
        weights = None if weights is None else weights[order]
    block = max(FEW_ROWS, BLOCK_ELEMENTS // width)
    buffer = np.empty((block, width), x.dtype)

    def slices_of(ranks: Array, out: Array | None = None) -> Array:
        places = ranks if sources is None else sources[ranks]
        taken = table.take(places, 0, out=out, mode="clip")
        return _weighted(taken, None if weights is None else weights[ranks], taken)

    for begin in range(0, largest_first.size, block):
        segments = largest_first[begin : begin + block]
        first, most = starts[segments], counts[segments]
        totals = slices_of(first)
        if ufunc is np.add and totals.dtype.kind == "f":
            totals += 0.0  # 0 + -0 is 0
        taken, left = 1, int(np.searchsorted(-most, -1))
        while left > FEW_ROWS or taken == 1:
            # The segments that have more slices are the first ones.
            part = totals[:left]
            ufunc(part, slices_of(first[:left] + taken, buffer[:left]), out=part)
            taken += 1
            left = int(np.searchsorted(-most, -taken))
        for number in range(left):
            rest = slices_of(np.arange(first[number] + taken, first[number] + most[number]))
            totals[number] = ufunc.reduce(np.vstack([totals[number], rest]), axis=0)
        result[layout.segments[segments]] = totals
    return result


@dataclass(frozen=True)
class _Layout:
    """The slices of each segment.

    Attributes:
        ids: a copy of the ids that it was made for.
        order: the slices, by segment; None if they are in order.
        segments: the segments that have slices. Others must not cost anything: a table may have
            very many rows.
        starts, counts: the first slice of each of these in this order, and their number.
        largest_first: these, by their number of slices.
    """

    ids: Array
    order: Array | None
    segments: Array
    starts: Array
    counts: Array
    largest_first: Array


def _layout_of(ids: Array, rows: int) -> _Layout:
    """Return the layout of ``ids``, and keep it: all layers of a graph network, their gradients and
    later steps have the same edges, and to compare ids is cheaper than to sort them."""
    global _recent
    for layout in (recent := _recent):
        if layout.ids.shape == ids.shape and np.array_equal(layout.ids, ids):
            return layout
    order = None if bool((ids[1:] >= ids[:-1]).all()) else _stable_order(ids, rows)
    ordered = ids if order is None else ids[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(starts, append=ids.size)
    largest_first = np.argsort(-counts, kind="stable")
    layout = _Layout(ids.copy(), order, ordered[starts], starts, counts, largest_first)
    if ids.size <= MOST_KEPT:
        _recent = (layout, *recent[: KEPT - 1])
    return layout


def _weighted(slices: Array, weights: Array | None, out: Array | None = None) -> Array:
    """Return ``slices`` (n, width) times ``weights`` (n, parts), each for a part of the columns."""
    if weights is None:
        return slices
    parted = slices.reshape(*weights.shape, slices.shape[1] // max(1, weights.shape[1]))
    into = None if out is None else out.reshape(parted.shape)
    return np.multiply(parted, weights[..., None], out=into).reshape(slices.shape)


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
