"""The instructions of a recurrence other than products, as expressions of a unit's operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.graph.opdef import lookup
from playgrad.ops.expression.expr import Expr, Leaf
from playgrad.ops.recurrent.blockwise import BLOCKWISE
from playgrad.ops.recurrent.recurrence_data import Instruction


@dataclass(frozen=True)
class Formula:
    """An instruction other than a product: the same expressions for each unit of a row.

    Attributes:
        units: the results of each expression in a row.
        reads: the operand of each leaf, and the column of its unit 0.
        writes: the output of each expression, and the column of its unit 0.
    """

    units: int
    reads: Sequence[tuple[int, int]]
    exprs: Sequence[Expr]
    writes: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, each: Instruction, widths: Sequence[int]) -> Formula:
        """Return the formula of an instruction, whose operands have ``widths`` columns."""
        width = each.widths[0]
        if each.op == "slice":
            return cls(width, [(0, each.attrs["begin"][1])], [Leaf(0)], [(0, 0)])
        if each.op == "concat":
            units = widths[0]
            reads = [(number, 0) for number in range(len(widths))]
            writes = [(0, number * units) for number in range(len(widths))]
            return cls(units, reads, [Leaf(number) for number in range(len(widths))], writes)
        if each.op in BLOCKWISE:
            blockwise = BLOCKWISE[each.op]
            units = width // blockwise.outputs[0]
            return cls(
                units,
                _blocks(tuple(blockwise.inputs.values()), units),
                blockwise.exprs,
                _blocks(blockwise.outputs, units),
            )
        exprs = lookup(each.op).elementwise.build(each.attrs)
        reads = [(number, 0) for number in range(len(each.inputs))]
        return cls(width, reads, exprs, [(number, 0) for number in range(len(exprs))])


def _blocks(counts: Sequence[int], units: int) -> list[tuple[int, int]]:
    return [
        (number, block * units) for number, count in enumerate(counts) for block in range(count)
    ]
