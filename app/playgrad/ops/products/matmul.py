"""``matmul``: products of matrices or of stacks of matrices, optionally transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.broadcast import broadcast_to
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.shape import expand_dims, reshape, squeeze
from playgrad.ops.core.build import (
    FLOATS,
    add_node,
    as_tensors,
    broadcast_shapes,
    expect_dtype,
    is_static,
)
from playgrad.ops.core.half import in_float32, or_wide
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.elementwise_op import sum_to_like
from playgrad.ops.lowering.matmul import lower_matmul
from playgrad.ops.products.array_product import numpy_matmul


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the matrix product ``a @ b``, for each pair of matrices in a stack.

    Leading dimensions are a stack of matrices. They are equal in both operands, or absent in one of
    them, which is then multiplied with every matrix of the other; known shapes broadcast.
    An operand of one dimension is a row in front and a column behind, as in NumPy: the result does
    not have that dimension.

    Args:
        a: shape (..., m, k), or (..., k, m) with ``transpose_a``; float16, float32 or float64.
        b: shape (..., k, n), or (..., n, k) with ``transpose_b``; of the same dtype.
        transpose_a: transpose the last two dimensions of ``a`` first.
        transpose_b: transpose the last two dimensions of ``b`` first.

    Returns:
        A tensor of shape (..., m, n) and the dtype of the operands.

    Raises:
        ShapeError: an operand is a scalar, a vector is to be transposed, or the inner or leading
            dimensions differ.
        DTypeError: the operands are not of one floating dtype.
    """
    attrs = {"transpose_a": bool(transpose_a), "transpose_b": bool(transpose_b)}
    left, right = as_tensors(a, b)
    ranks = (left.spec.rank, right.spec.rank)
    if ranks[0] == 1 and not transpose_a:
        left = expand_dims(left, 0)
    if ranks[1] == 1 and not transpose_b:
        right = expand_dims(right, 1)
    left, right = _broadcast(left, right)
    dropped = [axis - 2 for axis in (0, 1) if ranks[axis] == 1]
    product = add_node(_MATMUL, [left, right], attrs, name=None if dropped else name).output
    return squeeze(product, dropped, name=name) if dropped else product


def _broadcast(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the operands with equal stacks, if their shapes are known and broadcast."""
    stacks = (a.shape[:-2], b.shape[:-2])
    if stacks[0] == stacks[1] or not all(stacks) or not (is_static(a.shape) and is_static(b.shape)):
        return a, b
    try:
        stack = broadcast_shapes(*stacks)
    except ShapeError:  # the op says what is wrong, with the shapes of both operands
        return a, b
    sizes = [int(size or 0) for size in stack]
    shapes = [(*sizes, *(int(size or 0) for size in x.shape[-2:])) for x in (a, b)]
    return broadcast_to(a, shapes[0]), broadcast_to(b, shapes[1])


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    a, b = inputs
    flips = (attrs["transpose_a"], attrs["transpose_b"])
    texts = [
        shape_text(spec.shape) + (" transposed" if flip else "")
        for spec, flip in zip(inputs, flips, strict=True)
    ]
    if min(a.rank, b.rank) < 2:
        raise ShapeError(
            f"matmul: both operands need at least 2 dimensions: {texts[0]} x {texts[1]}."
        )
    expect_dtype(a, "the operands of matmul", *FLOATS)
    if a.dtype != b.dtype:
        raise DTypeError(
            f"matmul: element types differ: {a.dtype} and {b.dtype}.",
            hint="Convert one of them with cast().",
        )
    rows, inner_a = reversed(a.shape[-2:]) if flips[0] else a.shape[-2:]
    inner_b, columns = reversed(b.shape[-2:]) if flips[1] else b.shape[-2:]
    if None not in (inner_a, inner_b) and inner_a != inner_b:
        raise ShapeError(f"matmul: inner dimensions differ: {texts[0]} x {texts[1]}.")
    stack = _stack(a.shape[:-2], b.shape[:-2])
    if stack is None:
        raise ShapeError(f"matmul: leading dimensions differ: {texts[0]} x {texts[1]}.")
    return [TensorSpec((*stack, rows, columns), a.dtype)]


def _stack(a: Shape, b: Shape) -> Shape | None:
    """Return the leading dimensions of the product, or None if the operands' own differ."""
    if not a or not b:
        return a or b
    if len(a) != len(b) or any(None not in (m, n) and m != n for m, n in zip(a, b, strict=True)):
        return None
    return tuple(n if m is None else m for m, n in zip(a, b, strict=True))


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    a, b = inputs
    a = a.swapaxes(-1, -2) if attrs["transpose_a"] else a
    b = b.swapaxes(-1, -2) if attrs["transpose_b"] else b
    return [np.ascontiguousarray(numpy_matmul(a, b))]


def _prepare(inputs: Sequence[TensorSpec], attrs: Attrs) -> Callable[..., list[Array]]:
    """Return a function for matrices without the checks that stacks need in each run."""
    if inputs[0].dtype == "float16":
        rounded = in_float32(_reference)
        return lambda arrays: list(rounded(arrays, attrs))
    if {spec.rank for spec in inputs} != {2}:
        if inputs[1].rank == 2 and not attrs["transpose_a"] and inputs[0].size:
            return _prepare_rows(inputs, attrs)
        return lambda arrays: _reference(arrays, attrs)
    match attrs["transpose_a"], attrs["transpose_b"]:
        case False, False:
            return lambda arrays: [numpy_matmul(arrays[0], arrays[1])]
        case True, False:
            return lambda arrays: [numpy_matmul(arrays[0].T, arrays[1])]
        case False, True:
            return lambda arrays: [numpy_matmul(arrays[0], arrays[1].T)]
    return lambda arrays: [numpy_matmul(arrays[0].T, arrays[1].T)]


def _prepare_rows(inputs: Sequence[TensorSpec], attrs: Attrs) -> Callable[..., list[Array]]:
    """Return a function that multiplies a stack with a matrix as one tall matrix."""
    *lead, depth = inputs[0].static_shape
    flip = attrs["transpose_b"]
    shape = (*lead, inputs[1].static_shape[0 if flip else 1])

    def product(arrays: Sequence[Array]) -> list[Array]:
        a, b = arrays
        return [numpy_matmul(a.reshape(-1, depth), b.T if flip else b).reshape(shape)]

    return product


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    (grad,), (a, b) = grads, node.inputs
    assert grad is not None
    flip_a, flip_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if flip_a:
        grad_a = matmul(b, grad, transpose_a=flip_b, transpose_b=True)
    else:
        grad_a = matmul(grad, b, transpose_b=not flip_b)
    tall = b.spec.rank == 2 and a.spec.rank > 2 and not flip_a
    if tall and a.shape[-1] and grad.shape[-1]:
        # One product of two tall matrices sums over the stack.
        a, grad = (reshape(x, (-1, x.shape[-1])) for x in (a, grad))
    if flip_b:
        grad_b = matmul(grad, a, transpose_a=True, transpose_b=flip_a)
    else:
        grad_b = matmul(a, grad, transpose_a=not flip_a)
    # Ranks differ where one operand was multiplied with every matrix of a stack.
    return [
        part if part.spec.rank == operand.spec.rank else sum_to_like(part, operand)
        for part, operand in zip((grad_a, grad_b), node.inputs, strict=True)
    ]


_FEW = 3
"""As many products are added up: to join their operands would cost as many dispatches."""


def _total(products: Sequence[Tensor]) -> Tensor | None:
    """Return the sum of gradients of a weight that was used in several products, as one product.

    ``sum(a_i^T @ b_i)`` is ``a^T @ b``, where ``a`` and ``b`` have the rows of all, in the order in
    which they were computed: gradients come in the reverse order.
    """
    nodes = [product.node for product in reversed(products)]
    flipped = {"transpose_a": True, "transpose_b": False}
    if len(nodes) <= _FEW or any(
        node.attrs != flipped or {x.spec.rank for x in node.inputs} != {2} for node in nodes
    ):
        return None
    left, right = (concat([node.inputs[i] for node in nodes], 0) for i in (0, 1))
    return matmul(left, right, transpose_a=True)


def _attrs(transpose_a: bool = False, transpose_b: bool = False) -> dict[str, bool]:
    return {"transpose_a": transpose_a, "transpose_b": transpose_b}


_MATMUL = register(
    OpDef(
        name="matmul",
        infer=or_wide(_infer),
        reference=in_float32(_reference),
        prepare=_prepare,
        total=_total,
        gradient=_gradient,
        lower=lower_matmul,
        epilogue=True,
        samples=(
            Sample((floats(5, 7), floats(7, 3)), _attrs()),
            Sample((floats(7, 5), floats(7, 3)), _attrs(transpose_a=True)),
            Sample((floats(5, 7), floats(3, 7)), _attrs(transpose_b=True)),
            Sample((floats(7, 5), floats(3, 7)), _attrs(True, True)),
            Sample((floats(1, 1), floats(1, 1)), _attrs()),
            Sample((floats(5, 0), floats(0, 3)), _attrs()),
            Sample((floats(0, 5), floats(5, 3)), _attrs()),
            Sample((floats(2, 5, 4), floats(0, 4)), _attrs(transpose_b=True)),
            Sample((floats(64, 100), floats(100, 10)), _attrs()),
            Sample((floats(130, 67), floats(67, 129)), _attrs()),
            Sample((floats(3, 4, 5), floats(3, 5, 2)), _attrs()),
            Sample((floats(2, 3, 4, 5), floats(2, 3, 2, 5)), _attrs(transpose_b=True)),
            Sample((floats(3, 4, 5), floats(5, 2)), _attrs()),
            Sample((floats(2, 3, 4, 5), floats(2, 5)), _attrs(transpose_b=True)),
            Sample((floats(2, 0, 5), floats(5, 2)), _attrs()),
            Sample((floats(4, 5), floats(3, 4, 2)), _attrs(transpose_a=True)),
        ),
        invalid=(
            InvalidSample(
                (floats(4, 3), floats(2, 5)),
                _attrs(),
                ShapeError,
                "inner dimensions differ: (4, 3) x (2, 5)",
            ),
            InvalidSample(
                (floats(4, 3), floats(3, 5)),
                _attrs(transpose_b=True),
                ShapeError,
                "(4, 3) x (3, 5) transposed",
            ),
            InvalidSample(
                (floats(4), floats(4, 5)), _attrs(), ShapeError, "at least 2 dimensions: (4,)"
            ),
            InvalidSample(
                (floats(3, 4, 5), floats(2, 5, 2)),
                _attrs(),
                ShapeError,
                "leading dimensions differ",
            ),
            InvalidSample((integers(2, 2), integers(2, 2)), _attrs(), DTypeError, "not int32"),
            InvalidSample((floats(2, 2), integers(2, 2)), _attrs(), DTypeError, "types differ"),
        ),
    )
)
