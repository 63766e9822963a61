"""The emitter of all elementwise operations: one pass over the elements."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.tensor import Node
from playgrad.ops.emitters import ELEMENTWISE, Operand, emitter
from playgrad.ops.expression.expr import DistinctExpressions, Expr
from playgrad.ops.expression.simd_kernel import as_rows
from playgrad.ops.expression.simd_nest import write_nest
from playgrad.ops.expression.simd_rows import RowParts, write_rows
from playgrad.ops.expression.simd_values import can_compute
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import integer


def _expressions(node: Node) -> tuple[Expr, ...]:
    exprs: tuple[Expr, ...] = node.op.elementwise.build(node.attrs)
    return exprs


def _supports(node: Node) -> bool:
    names = [tensor.dtype for tensor in node.inputs]
    return all(can_compute(expr, names) for expr in _expressions(node))


@emitter(ELEMENTWISE, supports=_supports, in_place=True)
def emit_elementwise(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Call a procedure that nodes with the same expressions and forms of inputs share."""
    exprs, shapes = _expressions(node), tuple(operand.shape for operand in inputs)
    places = [operand.address for operand in (*inputs, *outputs)]
    if not outputs[0].spec.size:
        return
    form = as_rows(outputs[0].shape, shapes, least=0)
    if form is None:
        names = tuple(operand.spec.dtype for operand in inputs)
        nest_key = (DistinctExpressions(exprs), names, shapes)
        nested = step.shared(nest_key, lambda module: write_nest(module, exprs, names, shapes))
        step.f.call(nested, *places)
        return
    rows, columns, forms = form
    leaves = tuple((x.spec.dtype, spread) for x, spread in zip(inputs, forms, strict=True))
    parts = RowParts.of(columns)
    key = (DistinctExpressions(exprs), leaves, parts)
    procedure = step.shared(key, lambda module: write_rows(module, exprs, leaves, parts))
    step.f.call(procedure, integer(rows), integer(columns), *places)
