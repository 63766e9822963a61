"""The emitter of all elementwise operations: one pass over the elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.graph.tensor import Node
from playgrad.ops.emitters import ELEMENTWISE, Operand, emitter
from playgrad.ops.expression.expr import DistinctExpressions, Expr
from playgrad.ops.expression.simd_kernel import as_rows
from playgrad.ops.expression.simd_rows import RowParts, write_rows
from playgrad.ops.expression.simd_values import can_compute
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import integer


def _expressions(node: Node) -> tuple[Expr, ...]:
    exprs: tuple[Expr, ...] = node.op.elementwise.build(node.attrs)
    return exprs


def _supports(node: Node) -> bool:
    names = [tensor.dtype for tensor in node.inputs]
    shapes = [tensor.spec.static_shape for tensor in node.inputs]
    if as_rows(np.broadcast_shapes(*shapes), shapes, least=0) is None:
        return False
    return all(can_compute(expr, names) for expr in _expressions(node))


@emitter(ELEMENTWISE, supports=_supports, in_place=True)
def emit_elementwise(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Call a procedure that nodes with the same expressions and forms of inputs share."""
    form = as_rows(outputs[0].shape, [operand.shape for operand in inputs], least=0)
    assert form is not None
    rows, columns, forms = form
    if not rows * columns:
        return
    exprs = _expressions(node)
    leaves = tuple((x.spec.dtype, spread) for x, spread in zip(inputs, forms, strict=True))
    parts = RowParts.of(columns)
    key = (DistinctExpressions(exprs), leaves, parts)
    procedure = step.shared(key, lambda module: write_rows(module, exprs, leaves, parts))
    places = (operand.address for operand in (*inputs, *outputs))
    step.f.call(procedure, integer(rows), integer(columns), *places)
