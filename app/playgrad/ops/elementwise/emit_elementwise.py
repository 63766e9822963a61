"""The emitter of all elementwise operations: one pass over the elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.graph.tensor import Node
from playgrad.ops.emitters import ELEMENTWISE, Operand, emitter
from playgrad.ops.expression.expr import DistinctExpressions, Expr
from playgrad.ops.expression.simd_elements import SIZES
from playgrad.ops.expression.simd_kernel import LeafForm, as_rows
from playgrad.ops.expression.simd_nest import write_nest
from playgrad.ops.expression.simd_rows import WIDTH, RowParts, write_rows
from playgrad.ops.expression.simd_values import can_compute
from playgrad.wasm.step import StepCode, chunk_size
from playgrad.wasm.threads import MOST_ARGUMENTS, ChunkCode
from playgrad.wasm.values import integer, smaller


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
    share = RowShare.of(step, rows, columns, len(places))
    if share is None or len(places) > MOST_ARGUMENTS:
        step.f.call(procedure, integer(rows), integer(columns), *places)
        return
    results = [(operand.spec.dtype, LeafForm.BOTH) for operand in outputs]
    sizes = [share.bytes_of(form, SIZES[name]) for name, form in (*leaves, *results)]

    def write(job: ChunkCode) -> None:
        first = job.f.copy(job.chunk * share.size)
        rest = smaller(integer(share.total) - first, share.size)
        moved = [place + first * size for place, size in zip(job.arguments, sizes, strict=True)]
        shape = (rest, integer(columns)) if share.by_rows else (integer(1), rest)
        job.f.call(procedure, *shape, *moved)

    step.split((*key, rows, columns), share.chunks, places, write)


_BANDWIDTH = 4e9
"""Elements, read or written in a second by one thread, about."""


@dataclass(frozen=True)
class RowShare:
    """Chunks of rows, or of a single row.

    Attributes:
        by_rows: whether whole rows are shared; else elements of the only one.
        columns: of a row.
        total: the rows, or elements.
        size: how many of these a chunk has; the last one has the rest.
        chunks: how many there are.
    """

    by_rows: bool
    columns: int
    total: int
    size: int
    chunks: int

    @classmethod
    def of(cls, step: StepCode, rows: int, columns: int, operands: int) -> RowShare | None:
        """Return how to share rows of so many operands; None to leave them to one thread."""
        by_rows = rows > 1
        total, unit = (rows, 1) if by_rows else (columns, WIDTH)
        chunks = step.chunks(rows * columns * operands / _BANDWIDTH, total // unit)
        if chunks == 1:
            return None
        size = chunk_size(total, chunks, unit)
        return cls(by_rows, columns, total, size, -(-total // size))

    def bytes_of(self, form: LeafForm, item: int) -> int:
        """Return the bytes from a row, or an element, to the next one of an operand."""
        if self.by_rows:
            return item * {LeafForm.BOTH: self.columns, LeafForm.ROWS: 1}.get(form, 0)
        return item if form in (LeafForm.BOTH, LeafForm.COLUMNS) else 0
