"""The operations that ``fuse`` makes: elementwise ones joined, or joined onto a structured one.

They have a reference like any other op, so that a fused graph runs on the cpu too and tests can
hold it to the one it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array, Attrs, OpDef, lookup, register
from playgrad.graph.spec import TensorSpec
from playgrad.ops.define import elementwise_op
from playgrad.ops.expr import Expr, evaluate, from_json, infer_dtype
from playgrad.ops.kernel import Epilogue, KernelRequest, Lowering


def _expressions(attrs: Attrs) -> tuple[Expr, ...]:
    return tuple(from_json(data) for data in attrs["expressions"])


FUSED = register(elementwise_op("fused", _expressions, None))
# The same with outputs written in place into variables.
FUSED_UPDATE = register(elementwise_op("fused_update", _expressions, None, writes=True))


def _base(attrs: Attrs) -> tuple[OpDef, Attrs, int, Expr]:
    """The structured op, its attributes, how many inputs it takes, and what follows it."""
    return (
        lookup(attrs["base"]),
        attrs["base_attrs"],
        attrs["base_inputs"],
        from_json(attrs["expression"]),
    )


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    base, base_attrs, count, expr = _base(attrs)
    (result,) = base.infer(inputs[:count], base_attrs)
    names = [result.dtype] + [spec.dtype for spec in inputs[count:]]
    return [TensorSpec(result.shape, infer_dtype(expr, names))]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    base, base_attrs, count, expr = _base(attrs)
    (result,) = base.reference(inputs[:count], base_attrs)
    value = evaluate(expr, [result, *inputs[count:]])
    return [np.asarray(np.broadcast_to(value, result.shape), order="C")]


def _lower(request: KernelRequest) -> Lowering:
    base, base_attrs, count, expr = _base(request.attrs)
    assert base.lower is not None
    lowering: Any = base.lower(
        replace(request, attrs=base_attrs, epilogue=Epilogue(expr, first=count))
    )
    assert isinstance(lowering, Lowering)
    return lowering


WITH_EPILOGUE = register(OpDef("with_epilogue", _infer, _reference, lower=_lower))
