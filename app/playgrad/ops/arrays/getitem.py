"""``x[key]``: indexing with integers, slices, ``None`` and ``...``."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import expand_dims, identity, squeeze


def getitem(x: Tensor, key: Any) -> Tensor:
    """Return ``x[key]`` by NumPy's rules for basic indexing, with slices of step 1.

    Args:
        x: a tensor of any shape and dtype.
        key: an index or a tuple of indices: integers, which remove their axis; slices of step 1;
            ``None``, which inserts an axis of size 1; and at most one ``...``. To pick elements by
            a tensor of indices, use ``gather``.

    Raises:
        ShapeError: an index lies outside ``x`` or is not of those kinds, there are too many, a
            slice has another step, or an index counts from the end of an unknown dimension.
    """
    items = _without_ellipsis(x, list(key) if isinstance(key, tuple) else [key])
    begin, size, squeezed, inserted = [], [], [], []
    axis = result_axis = 0
    for item in items:
        if item is None:
            inserted.append(result_axis)
            result_axis += 1
            continue
        dim = x.shape[axis]
        if isinstance(item, slice):
            first, count = _range(x, item, dim)
            result_axis += 1
        else:
            first, count = _index(x, item, dim), 1
            squeezed.append(axis)
        begin.append(first)
        size.append(count)
        axis += 1
    result = x
    if any(begin) or any(count != -1 for count in size):
        result = slice_(result, begin, size)
    if squeezed:
        result = squeeze(result, squeezed)
    if inserted:
        result = expand_dims(result, inserted)
    return identity(x) if result is x else result


def _without_ellipsis(x: Tensor, items: list[Any]) -> list[Any]:
    """Return one index for each dimension of ``x``, with the ``None``s between them."""
    missing = x.spec.rank - sum(item is not None and item is not Ellipsis for item in items)
    if missing < 0 or sum(item is Ellipsis for item in items) > 1:
        raise ShapeError(
            f"too many indices for '{x.name}' of shape {shape_text(x.shape)}.", op=x.node.name
        )
    where = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    return items[:where] + [slice(None)] * missing + items[where + 1 :]


def _range(x: Tensor, item: slice, dim: int | None) -> tuple[int, int]:
    """Return begin and size of a slice of a dimension of size ``dim``; size -1 is to the end."""
    if item.step not in (None, 1):
        raise ShapeError(f"'{x.name}' supports slices of step 1 only.", op=x.node.name)
    if dim is not None:
        first, stop, _ = item.indices(dim)
        whole = first == 0 and stop == dim
        return first, -1 if whole else max(0, stop - first)
    first = 0 if item.start is None else int(item.start)
    stop = -1 if item.stop is None else int(item.stop)
    if first < 0 or (item.stop is not None and stop < 0):
        raise _unknown_end(x)
    return first, -1 if item.stop is None else max(0, stop - first)


def _index(x: Tensor, item: Any, dim: int | None) -> int:
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise ShapeError(
            f"'{x.name}' cannot be indexed with {item!r}.",
            op=x.node.name,
            hint="Use whole numbers and slices, or gather() for a tensor of indices.",
        )
    index = item.__index__()
    if dim is None and index < 0:
        raise _unknown_end(x)
    if dim is not None and not -dim <= index < dim:
        raise ShapeError(
            f"index {index} lies outside '{x.name}' of shape {shape_text(x.shape)}.",
            op=x.node.name,
        )
    return index if dim is None or index >= 0 else index + dim


def _unknown_end(x: Tensor) -> ShapeError:
    return ShapeError(
        f"'{x.name}' of shape {shape_text(x.shape)} cannot be indexed from the end of a dimension "
        "of unknown size.",
        op=x.node.name,
    )
