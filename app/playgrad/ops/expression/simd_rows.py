"""Procedures in WebAssembly for expressions of arrays of any small or large size and of any dtypes
that vectors hold. Results may overwrite leaves of their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.ops.expression.expr import Expr
from playgrad.ops.expression.simd_dtypes import ExpressionDtypes
from playgrad.ops.expression.simd_elements import SIZES, loaded, stored
from playgrad.ops.expression.simd_kernel import LeafForm, Leaves
from playgrad.ops.expression.simd_values import VectorValues
from playgrad.wasm.encoding import I32, V128
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import StackValue

WIDTH = 4
"""Elements of a vector."""


@dataclass(frozen=True)
class RowParts:
    """The parts that rows are computed in: whole vectors, then the rest by single elements."""

    vectors: bool
    rest: bool

    @classmethod
    def of(cls, columns: int) -> RowParts:
        """Return the parts of rows of ``columns`` elements."""
        return cls(columns >= WIDTH, columns % WIDTH > 0)


def write_rows(module: Module, exprs: Sequence[Expr], leaves: Leaves, parts: RowParts) -> Procedure:
    """Add a procedure that computes ``exprs`` for each element of rows.

    Its parameters: the numbers of rows and of columns; the addresses of the leaves; the addresses
    of the results, which are dense.
    """
    names = [name for name, _ in leaves]
    kinds = list(map(ExpressionDtypes(names).dtype, exprs))
    f = module.procedure([I32] * (2 + len(leaves) + len(exprs)))
    rows, columns, *addresses = f.arguments
    places, results = addresses[: len(leaves)], addresses[len(leaves) :]
    vectors = [f.local(V128) for _ in leaves]
    for (name, form), place, vector in zip(leaves, places, vectors, strict=True):
        if form is LeafForm.NEITHER:
            f.set(vector, loaded(f, place, name, whole=False))

    def compute(column: StackValue, whole: bool) -> None:
        for (name, form), place, vector in zip(leaves, places, vectors, strict=True):
            if form in (LeafForm.BOTH, LeafForm.COLUMNS):
                f.set(vector, loaded(f, place + column * SIZES[name], name, whole))
        values = VectorValues(f, vectors, names)
        # All results first: one may overwrite a leaf that another needs.
        computed = [values.value(expr, kind) for expr, kind in zip(exprs, kinds, strict=True)]
        for value, kind, result in zip(computed, kinds, results, strict=True):
            stored(f, result + column * SIZES[kind], value, kind, whole)

    with f.count(rows):
        for (name, form), place, vector in zip(leaves, places, vectors, strict=True):
            if form is LeafForm.ROWS:
                f.set(vector, loaded(f, place, name, whole=False))
        whole = f.copy(columns & -WIDTH)
        if parts.vectors:
            with f.count(whole, WIDTH) as column:
                compute(column, whole=True)
        if parts.rest:
            with f.count(columns - whole) as rest:
                compute(f.copy(whole + rest), whole=False)
        for (name, form), place in zip(leaves, places, strict=True):
            if form is LeafForm.BOTH:
                f.add(place, columns * SIZES[name])
            elif form is LeafForm.ROWS:
                f.add(place, SIZES[name])
        for kind, result in zip(kinds, results, strict=True):
            f.add(result, columns * SIZES[kind])
    return f
