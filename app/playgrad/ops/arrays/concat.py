"""``concat`` and its gradient, which takes the parts out again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.arrays.pad_slice import SLICE, slice_like
from playgrad.ops.core.build import add_node, as_tensors, normalize_axis
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.move_elements import lower_concat


def concat(values: Sequence[Any], axis: int, name: str | None = None) -> Tensor:
    """Join tensors along an axis.

    Args:
        values: at least one tensor, of one dtype. Their shapes may differ in ``axis`` only.
        axis: the axis along which they are joined; a negative one counts from the end.

    Returns:
        A tensor of the dtype of ``values``, whose dimension ``axis`` is the sum of theirs.

    Raises:
        ShapeError: ``values`` is empty, or the shapes differ in another dimension.
        DTypeError: the element types differ.
    """
    tensors = as_tensors(*values)
    if not tensors:
        raise ShapeError("concat needs at least one tensor.")
    attrs = {"axis": normalize_axis(axis, tensors[0].spec.rank)}
    return add_node(_CONCAT, tensors, attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    axis, first = attrs["axis"], inputs[0]
    if not 0 <= axis < first.rank:
        raise ShapeError(f"concat: axis {axis} does not exist in {shape_text(first.shape)}.")
    shape = list(first.shape)
    for other in inputs[1:]:
        if other.dtype != first.dtype:
            raise DTypeError(
                f"concat: element types differ: {first.dtype} and {other.dtype}.",
                hint="Convert one of them with cast().",
            )
        if other.rank != first.rank or not _agree(shape, other.shape, axis):
            raise ShapeError(
                f"concat: shapes {shape_text(first.shape)} and {shape_text(other.shape)} differ "
                f"in more than axis {axis}."
            )
        for position, dim in enumerate(other.shape):
            known = shape[position]
            if position == axis:
                shape[position] = None if known is None or dim is None else known + dim
            elif known is None:
                shape[position] = dim
    return [TensorSpec(tuple(shape), first.dtype)]


def _agree(a: Sequence[int | None], b: Sequence[int | None], axis: int) -> bool:
    """Return whether two shapes are equal in all known dimensions except ``axis``."""
    return all(
        position == axis or None in (m, n) or m == n
        for position, (m, n) in enumerate(zip(a, b, strict=True))
    )


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    axis, parts = node.attrs["axis"], node.inputs
    sizes = [part.shape[axis] for part in parts]
    begin = [0] * grads[0].spec.rank
    result: list[Tensor | None] = []
    for i, part in enumerate(parts):
        known = [size for size in sizes[:i] if size is not None]
        if len(known) < i:  # where a part begins depends on the shapes of earlier ones
            result.append(_part(grads[0], parts, axis, i))
        else:
            begin[axis] = sum(known)
            result.append(slice_like(grads[0], part, begin))
    return result


# concat_part: the part of a concatenation that came from one of its tensors


def _part(x: Tensor, values: Sequence[Tensor], axis: int, index: int) -> Tensor:
    return add_node(_PART, [x, *values], {"axis": axis, "index": index}).output


def _infer_part(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return [TensorSpec(inputs[1 + attrs["index"]].shape, inputs[0].dtype)]


def _window(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    """Return the attributes of the ``slice`` that takes part number ``attrs["index"]``."""
    axis, index = attrs["axis"], attrs["index"]
    shapes = [value.static_shape for value in inputs[1:]]
    begin = [0] * len(shapes[index])
    begin[axis] = sum(shape[axis] for shape in shapes[:index])
    return {"begin": begin, "size": list(shapes[index])}


def _part_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    parts = [
        grads[0] if i == node.attrs["index"] else zeros_like(value)
        for i, value in enumerate(node.inputs[1:])
    ]
    return [concat(parts, node.attrs["axis"])]


_CONCAT = register(
    OpDef(
        name="concat",
        infer=_infer,
        reference=lambda inputs, attrs: [np.concatenate(inputs, axis=attrs["axis"])],
        gradient=_gradient,
        lower=lower_concat,
        samples=(
            Sample((floats(2, 3), floats(4, 3, seed=1)), {"axis": 0}),
            Sample((floats(2, 3), floats(2, 1), floats(2, 4)), {"axis": 1}),
            Sample((integers(2, 3, 4), integers(2, 5, 4)), {"axis": 1}),
            Sample((floats(3),), {"axis": 0}),
            Sample(tuple(np.full((2, n), n, np.uint8) for n in (3, 5)), {"axis": 1}),
            Sample(tuple(np.full((2, n), -n, np.int8) for n in (3, 5)), {"axis": 1}),
            Sample((floats(3, 0), floats(3, 2)), {"axis": 1}),
            Sample((floats(0, 2), floats(0, 1)), {"axis": 1}),
            Sample(tuple(floats(2, 1, seed=i) for i in range(11)), {"axis": 1}),
        ),
        invalid=(
            InvalidSample(
                (floats(2, 3), floats(3, 3)), {"axis": 1}, ShapeError, "(2, 3) and (3, 3) differ"
            ),
            InvalidSample((floats(2), integers(2)), {"axis": 0}, DTypeError, "types differ"),
            InvalidSample((floats(2), floats(2)), {"axis": 1}, ShapeError, "axis 1 does not exist"),
        ),
    )
)
_PART = register_like(
    "concat_part",
    SLICE,
    1,
    _window,
    infer=_infer_part,
    gradient=_part_gradient,
    samples=(Sample((floats(2, 7), floats(2, 3), floats(2, 4)), {"axis": 1, "index": 1}),),
)
