"""``unstack_rows`` and ``stack_rows``: all rows of a tensor at once.

Each is the other's gradient, so that the graph of a loop over n rows has O(n) edges. The slices of
``unstack`` have n gradients of the size of the whole tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.core.build import add_node
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.strided_copy import as_part, copy_elements

RADIX = 8
"""More rows are taken apart in chunks of equal size, whose kernels have the same text: a kernel for
each position would be compiled n times."""


def unstack_rows(x: Tensor) -> tuple[Tensor, ...]:
    """Return the n ≥ 1 tensors ``x[0]``, ``x[1]``, ... along the first axis, of known size."""
    count = x.shape[0]
    assert count is not None
    if count > RADIX:
        size = _chunk(count)
        parts = [getitem(x, slice(first, first + size)) for first in range(0, count, size)]
        return tuple(row for part in parts for row in unstack_rows(part))
    return add_node(_UNSTACK, [x], {"count": count}).outputs


def stack_rows(rows: Sequence[Tensor]) -> Tensor:
    """Join n ≥ 1 tensors of one shape and dtype along a new first axis."""
    count = len(rows)
    if count > RADIX:
        size = _chunk(count)
        starts = range(0, count, size)
        return concat([stack_rows(rows[first : first + size]) for first in starts], 0)
    return add_node(_STACK, rows).output


def _chunk(count: int) -> int:
    """Return the largest power of `RADIX` below ``count``."""
    size = RADIX
    while size * RADIX < count:
        size *= RADIX
    return size


def _infer_unstack(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    shape = inputs[0].shape
    if not shape or shape[0] not in (None, attrs["count"]):
        raise ShapeError(f"{shape_text(shape)} does not have {attrs['count']} rows.")
    return [TensorSpec(shape[1:], inputs[0].dtype)] * int(attrs["count"])


def _unstack_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    rows = [
        grad if grad is not None else zeros_like(row)
        for grad, row in zip(grads, node.outputs, strict=True)
    ]
    return [stack_rows(rows)]


def _infer_stack(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    shape = list(inputs[0].shape)
    for other in inputs[1:]:
        if other.dtype != inputs[0].dtype:
            raise DTypeError(f"the rows are {inputs[0].dtype} and {other.dtype}.")
        pairs = list(zip(shape, other.shape, strict=False))
        if other.rank != len(shape) or any(None not in (m, n) and m != n for m, n in pairs):
            raise ShapeError(
                f"the rows have the shapes {shape_text(inputs[0].shape)} and "
                f"{shape_text(other.shape)}."
            )
        shape = [n if m is None else m for m, n in pairs]
    return [TensorSpec((len(inputs), *shape), inputs[0].dtype)]


def _lower_unstack(request: KernelRequest) -> Lowering:
    size = request.outputs[0].size
    calls = [
        copy_elements(request, 0, [size], f"index + {place * size}u", "index", output=place)
        for place in range(len(request.outputs))
    ]
    return Lowering(tuple(calls) if size else ())


def _lower_stack(request: KernelRequest) -> Lowering:
    size = request.inputs[0].size
    calls = [
        as_part(copy_elements(request, place, [size], "index", f"index + {place * size}u"))
        for place in range(len(request.inputs))
    ]
    return Lowering(tuple(calls) if size else ())


_UNSTACK = register(
    OpDef(
        name="unstack_rows",
        infer=_infer_unstack,
        reference=lambda inputs, attrs: [np.asarray(row) for row in inputs[0]],
        gradient=_unstack_gradient,
        lower=_lower_unstack,
        samples=(
            Sample((floats(3, 2, 2),), {"count": 3}),
            Sample((integers(4),), {"count": 4}),
            Sample((np.arange(15, dtype=np.uint8).reshape(3, 5),), {"count": 3}),
            Sample((floats(9, 0),), {"count": 9}),
        ),
        invalid=(InvalidSample((floats(3, 2),), {"count": 4}, ShapeError, "not have 4 rows"),),
    )
)
_STACK = register(
    OpDef(
        name="stack_rows",
        infer=_infer_stack,
        reference=lambda inputs, attrs: [np.stack(inputs)],
        gradient=lambda node, grads: unstack_rows(_only(grads)),
        lower=_lower_stack,
        samples=(
            Sample((floats(2, 3), floats(2, 3, seed=1))),
            Sample(tuple(integers(seed=i) for i in range(11))),
            Sample(tuple(np.arange(i, i + 5, dtype=np.uint8) for i in range(3))),
            Sample((floats(0, 2), floats(0, 2))),
        ),
        invalid=(
            InvalidSample((floats(2), integers(2)), {}, DTypeError, "float32 and int32"),
            InvalidSample((floats(2), floats(3)), {}, ShapeError, "(2,) and (3,)"),
        ),
    )
)


def _only(grads: Sequence[Tensor | None]) -> Tensor:
    assert grads[0] is not None
    return grads[0]
