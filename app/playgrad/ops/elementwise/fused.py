"""The operations that the compiler's ``fuse`` pass creates.

``fused`` is several elementwise operations in one, ``with_epilogue`` a structured operation and the
elementwise ones after it. Both also exist with outputs written into variables. All have a
reference, so that a fused graph runs on the cpu and tests can compare it with the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError
from playgrad.graph.opdef import Array, Attrs, OpDef, Sample, lookup, register
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import Epilogue, KernelRequest, Lowering
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.elementwise.unpacked import lower_unpacked
from playgrad.ops.expression.evaluate import evaluate
from playgrad.ops.expression.expr import Cast, Expr, Leaf, from_json, infer_dtype, to_json, where


def _expressions(attrs: Attrs) -> tuple[Expr, ...]:
    return tuple(from_json(data) for data in attrs["expressions"])


_X, _Y = Leaf(0), Leaf(1)
_TWO = {"expressions": [to_json(_X * 2.0 + _Y), to_json(where(_X < _Y, _X, 0.5))]}
_STEP = {"expressions": [to_json(_X - 0.1 * _Y)], "variables": ["state"]}

FUSED = register(
    elementwise_op(
        "fused",
        _expressions,
        None,
        (Sample((floats(3, 4), floats(4)), _TWO), Sample((floats(70), floats(70, seed=1)), _TWO)),
    )
)
# fused, with outputs written in place into variables.
FUSED_UPDATE = register(
    elementwise_op(
        "fused_update",
        _expressions,
        None,
        (Sample((floats(3, 4), floats(4)), _STEP),),
        writes=True,
    )
)


def _base(attrs: Attrs) -> tuple[OpDef, Attrs, int, tuple[Expr, ...]]:
    """Return the structured op, its attributes, the number of its inputs, and the epilogue."""
    return (
        lookup(attrs["base"]),
        attrs["base_attrs"],
        attrs["base_inputs"],
        _expressions(attrs),
    )


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    base, base_attrs, count, exprs = _base(attrs)
    (result,) = base.infer(inputs[:count], base_attrs)
    names = [result.dtype] + [spec.dtype for spec in inputs[count:]]
    kinds = [infer_dtype(expr, names) for expr in exprs]
    if any(dtype(kind).per_word > 1 for kind in kinds):
        raise DTypeError(f"an epilogue stores whole words, not {' and '.join(kinds)}.")
    return [TensorSpec(result.shape, kind) for kind in kinds]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    base, base_attrs, count, exprs = _base(attrs)
    (result,) = base.reference(inputs[:count], base_attrs)
    values = [evaluate(expr, [result, *inputs[count:]]) for expr in exprs]
    return [np.asarray(np.broadcast_to(value, result.shape), order="C") for value in values]


def _lower(request: KernelRequest) -> Lowering:
    base, base_attrs, count, exprs = _base(request.attrs)
    (result,) = base.infer(request.inputs[:count], base_attrs)
    epilogue = Epilogue(exprs, first=count, dtype=result.dtype)
    return lower_unpacked(base, replace(request, attrs=base_attrs, epilogue=epilogue))


def _sample(base: str, attrs: Attrs, inputs: tuple[Array, ...], bias: Array) -> Sample:
    """Return a sample of a structured op followed by a bias and relu."""
    total = Leaf(0) + Leaf(1)
    return Sample(
        (*inputs, bias),
        {
            "base": base,
            "base_attrs": dict(attrs),
            "base_inputs": len(inputs),
            "expressions": [to_json(where(total < 0.0, 0.0, total))],
        },
    )


_PLAIN = {"transpose_a": False, "transpose_b": False}
_WINDOW = {"strides": [1, 1], "padding": [[1, 1], [0, 0]]}
_DROP = {"rate": 0.5, "seed": [0, 1]}
_STEP_NUMBER = np.asarray(3, np.uint32)


_NUMBERS = Cast("float32", _X) + Cast("float32", _Y)


def _gathered(rows: Array) -> Sample:
    """Return a sample that gathers rows, converts them to float32 and adds a column."""
    sample = _sample("gather", {}, (rows, integers(6)), floats(6, 1))
    return replace(sample, attrs={**sample.attrs, "expressions": [to_json(_NUMBERS)]})


WITH_EPILOGUE = register(
    OpDef(
        "with_epilogue",
        _infer,
        _reference,
        lower=_lower,
        packed=True,
        samples=(
            _sample("matmul", _PLAIN, (floats(9, 5), floats(5, 7)), floats(7)),
            _sample("matmul", _PLAIN, (floats(9, 0), floats(0, 7)), floats(7)),
            _sample("matmul", _PLAIN, (floats(3, 2100), floats(2100, 2)), floats(2)),
            _sample("conv2d", _WINDOW, (floats(2, 5, 6, 3), floats(3, 2, 3, 4)), floats(4)),
            _sample("reduce_mean", {"axes": [0], "keepdims": False}, (floats(300, 5),), floats(5)),
            _sample("softmax", {"axis": 1}, (floats(5, 7),), floats(5, 1)),
            _sample("dropout", _DROP, (floats(5, 7), _STEP_NUMBER), floats(7)),
            _gathered(np.arange(63, dtype=np.uint8).reshape(9, 7)),
            _gathered(np.arange(-31, 32, dtype=np.int8).reshape(9, 7)),
            _gathered(np.arange(72, dtype=np.uint8).reshape(9, 8)),
            _gathered(floats(9, 3)),
            _gathered(floats(9, 3) > 0.0),
        ),
    )
)


def _gradient_step(base: str, attrs: Attrs, inputs: tuple[Array, ...], *shape: int) -> Sample:
    """Return a sample that updates a weight and its velocity by the result of a structured op."""
    weight, velocity, gradient = Leaf(1), Leaf(2), Leaf(0)
    moved = 0.9 * velocity + gradient
    return Sample(
        (*inputs, floats(*shape), floats(*shape, seed=1)),
        {
            "base": base,
            "base_attrs": dict(attrs),
            "base_inputs": len(inputs),
            "expressions": [to_json(weight - 0.1 * moved), to_json(moved)],
            "variables": ["weight", "velocity"],
        },
    )


_FLIPPED = {"transpose_a": True, "transpose_b": False}
# with_epilogue, with outputs written in place into variables: a gradient consumed in its kernel.
UPDATE_WITH_EPILOGUE = register(
    OpDef(
        "update_with_epilogue",
        _infer,
        _reference,
        lower=_lower,
        packed=True,
        writes=True,
        samples=(
            _gradient_step("matmul", _FLIPPED, (floats(9, 5), floats(9, 7)), 5, 7),
            _gradient_step("matmul", _FLIPPED, (floats(2100, 3), floats(2100, 2)), 3, 2),
            _gradient_step(
                "conv2d_filter_gradient",
                {**_WINDOW, "kernel_size": [3, 2]},
                (floats(2, 5, 6, 3), floats(2, 5, 5, 4)),
                *(3, 2, 3, 4),
            ),
            _gradient_step("sum_to", {"shape": [5]}, (floats(300, 5),), 5),
        ),
    )
)
