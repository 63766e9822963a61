"""``stack``, ``unstack``, ``split`` and ``concatenate``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.core.build import as_tensor, as_tensors, normalize_axis, whole


def concatenate(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Tensor:
    """Join tensors along an axis: ``concat``, under the name and with the default of NumPy.

    Args:
        values: at least one tensor, of one dtype. Their shapes may differ in ``axis`` only.
        axis: the axis along which they are joined; a negative one counts from the end.

    Raises:
        ShapeError, DTypeError: as for ``concat``.
    """
    return concat(values, axis, name=name)


def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Tensor:
    """Join tensors of one shape along a new axis.

    Args:
        values: n ≥ 1 tensors of one shape and dtype.
        axis: the position of the new axis in the result; a negative one counts from the end.

    Returns:
        A tensor of the dtype of ``values``, with one more axis, of size n.

    Raises:
        ShapeError: ``values`` is empty, the shapes differ, or the result has no such axis.
        DTypeError: the element types differ.
    """
    tensors = as_tensors(*values)
    if not tensors:
        raise ShapeError("stack needs at least one tensor.")
    for other in tensors[1:]:
        if other.spec.rank != tensors[0].spec.rank or any(
            None not in (m, n) and m != n
            for m, n in zip(tensors[0].shape, other.shape, strict=True)
        ):
            raise ShapeError(
                f"stack: the shapes {shape_text(tensors[0].shape)} and {shape_text(other.shape)} "
                "differ."
            )
    axis = normalize_axis(axis, tensors[0].spec.rank + 1)
    return concat([expand_dims(tensor, axis) for tensor in tensors], axis, name=name)


def unstack(x: Any, num: int | None = None, axis: int = 0) -> list[Tensor]:
    """Return the tensors that ``stack`` would join to ``x``.

    Args:
        x: a tensor of at least one dimension and any dtype.
        num: the size of ``axis``; needed only where it is unknown.
        axis: the axis that is removed; a negative one counts from the end.

    Raises:
        ShapeError: there is no such axis, its size is not ``num``, or neither is known.
    """
    tensor = as_tensor(x)
    axis = normalize_axis(axis, tensor.spec.rank)
    size = tensor.shape[axis]
    if size is None and num is None:
        raise ShapeError(
            f"unstack: the size of axis {axis} of the shape {shape_text(tensor.shape)} is "
            "unknown. Give num."
        )
    count = whole(size if num is None else num, "num")
    if size is not None and size != count:
        raise ShapeError(
            f"unstack: axis {axis} of the shape {shape_text(tensor.shape)} cannot be unstacked "
            f"into {count} tensors."
        )
    return [getitem(tensor, (*[slice(None)] * axis, i)) for i in range(count)]


def split(
    x: Any,
    indices_or_sections: int | Sequence[int] | None = None,
    axis: int = 0,
    sizes: Sequence[int] | None = None,
) -> list[Tensor]:
    """Cut ``x`` into parts along an axis.

    Args:
        x: a tensor of at least one dimension and any dtype.
        indices_or_sections: the number of equal parts; or the indices at which the parts after
            the first begin, as in ``numpy.split``.
        axis: the axis that is cut; a negative one counts from the end.
        sizes: the sizes of the parts, instead of ``indices_or_sections``.

    Returns:
        The parts, in order.

    Raises:
        ShapeError: there is no such axis, it cannot be cut into so many equal parts or into parts
            of such sizes, or not exactly one of ``indices_or_sections`` and ``sizes`` is given.
    """
    tensor = as_tensor(x)
    axis = normalize_axis(axis, tensor.spec.rank)
    size = tensor.shape[axis]
    if (indices_or_sections is None) == (sizes is None):
        raise ShapeError("split needs either indices_or_sections or sizes.")
    if sizes is not None:
        ends = _ends([whole(n, "a size") for n in sizes], size, axis, tensor)
    elif isinstance(indices_or_sections, (list, tuple)):
        ends = [whole(n, "an index") for n in indices_or_sections]
    else:
        count = whole(indices_or_sections, "the number of sections")
        if count < 1 or size is None or size % count:
            raise ShapeError(
                f"split: axis {axis} of the shape {shape_text(tensor.shape)} cannot be cut into "
                f"{count} equal parts.",
                hint="Give the indices at which to cut, or sizes=[...].",
            )
        ends = [size // count * i for i in range(1, count)]
    bounds = [None, *ends, None]
    return [
        getitem(tensor, (*[slice(None)] * axis, slice(first, last)))
        for first, last in pairwise(bounds)
    ]


def _ends(sizes: list[int], size: int | None, axis: int, x: Tensor) -> list[int]:
    """Return the indices at which parts of ``sizes`` end, without the last."""
    if not sizes or min(sizes) < 0 or (size is not None and sum(sizes) != size):
        raise ShapeError(
            f"split: the sizes {sizes} do not add up to axis {axis} of the shape "
            f"{shape_text(x.shape)}."
        )
    return [sum(sizes[:i]) for i in range(1, len(sizes))]
