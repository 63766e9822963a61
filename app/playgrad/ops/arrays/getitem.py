"""``x[key]``: indexing with integers, slices, ``None`` and ``...``."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import expand_dims, identity, squeeze
from playgrad.ops.arrays.strided_slice import strided_slice
from playgrad.ops.core.build import whole

Part = tuple[int | None, int | None, int]
"""Start, stop and step."""
_ALL: Part = (None, None, 1)


def getitem(x: Tensor, key: Any) -> Tensor:
    """Return ``x[key]`` by NumPy's rules for basic indexing.

    Args:
        x: a tensor of any shape and dtype.
        key: an index or a tuple of indices: integers, which remove their axis; slices, with any
            step, which may reach past the end; ``None``, which inserts an axis of size 1; and at
            most one ``...``. To pick elements by a tensor of indices, use ``take``.

    Raises:
        ShapeError: an index lies outside ``x`` or is not of those kinds, there are too many, or a
            step is 0.
    """
    items = _without_ellipsis(x, list(key) if isinstance(key, tuple) else [key])
    parts: list[Part] = []
    squeezed, inserted = [], []
    result_axis = 0
    for item in items:
        if item is None:
            inserted.append(result_axis)
            result_axis += 1
        elif isinstance(item, slice):
            parts.append(_range(x, item, x.shape[len(parts)]))
            result_axis += 1
        else:
            squeezed.append(len(parts))
            parts.append(_index(x, item, x.shape[len(parts)]))
    result = _sliced(x, parts, squeezed)
    if squeezed:
        result = squeeze(result, squeezed)
    if inserted:
        result = expand_dims(result, inserted)
    return identity(x) if result is x else result


def _sliced(x: Tensor, parts: list[Part], indices: list[int]) -> Tensor:
    """Return the slices ``parts`` of ``x``; the axes ``indices`` have integers.

    The operation is ``slice`` unless there are steps, or ends that depend on unknown dimensions.
    """
    if all(part == _ALL for part in parts):
        return x
    begin, size = [], []
    for axis, ((start, stop, step), dim) in enumerate(zip(parts, x.shape, strict=True)):
        ends_are_known = dim is not None or stop is None or axis in indices
        if step != 1 or not ends_are_known or (start or 0) < 0:
            return strided_slice(x, parts)
        begin.append(start or 0)
        size.append(-1 if stop is None else stop - begin[-1])
    return slice_(x, begin, size)


def _without_ellipsis(x: Tensor, items: list[Any]) -> list[Any]:
    """Return one index for each dimension of ``x``, with the ``None``s between them."""
    missing = x.spec.rank - sum(item is not None and item is not Ellipsis for item in items)
    if missing < 0 or sum(item is Ellipsis for item in items) > 1:
        raise ShapeError(
            f"too many indices for '{x.name}' of shape {shape_text(x.shape)}.", op=x.node.name
        )
    where = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    return items[:where] + [slice(None)] * missing + items[where + 1 :]


def _range(x: Tensor, item: slice, dim: int | None) -> Part:
    """Return a slice of a dimension of size ``dim``, without the ends that are its own."""
    start, stop, step = (
        None if end is None else whole(end, "an end or step of a slice")
        for end in (item.start, item.stop, item.step)
    )
    step = 1 if step is None else step
    if step == 0:
        raise ShapeError(f"the step of a slice of '{x.name}' must not be 0.", op=x.node.name)
    if dim is None or step != 1:
        return start or (None if step > 0 else start), stop, step
    first, last, _ = slice(start, stop).indices(dim)
    return (None if first == 0 else first), (None if last == dim else max(first, last)), 1


def _index(x: Tensor, item: Any, dim: int | None) -> Part:
    """Return the slice that takes the one element number ``item``."""
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise ShapeError(
            f"'{x.name}' cannot be indexed with {item!r:.60}.",
            op=x.node.name,
            hint="Use whole numbers and slices, or take() for a tensor of indices.",
        )
    index = item.__index__()
    if dim is not None and not -dim <= index < dim:
        raise ShapeError(
            f"index {index} lies outside '{x.name}' of shape {shape_text(x.shape)}.",
            op=x.node.name,
        )
    if index < 0 and dim is not None:
        index += dim
    return index, (index + 1) or None, 1
