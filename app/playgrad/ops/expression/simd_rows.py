"""Procedures in WebAssembly for expressions of arrays of any small or large size and of any dtypes
that vectors hold. Results may overwrite leaves of their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.ops.expression.expr import Expr, infer_dtype
from playgrad.ops.expression.simd_kernel import LeafForm, Leaves
from playgrad.ops.expression.simd_values import VectorValues
from playgrad.wasm.encoding import I32, V128
from playgrad.wasm.lanes import lanes, words
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
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
    kinds = [infer_dtype(expr, names) for expr in exprs]
    f = module.procedure([I32] * (2 + len(leaves) + len(exprs)))
    rows, columns, *addresses = f.arguments
    places, results = addresses[: len(leaves)], addresses[len(leaves) :]
    vectors = [f.local(V128) for _ in leaves]
    for (name, form), place, vector in zip(leaves, places, vectors, strict=True):
        if form is LeafForm.NEITHER:
            f.set(vector, _loaded(place, name, whole=False))

    def compute(column: StackValue, whole: bool) -> None:
        for (name, form), place, vector in zip(leaves, places, vectors, strict=True):
            if form in (LeafForm.BOTH, LeafForm.COLUMNS):
                f.set(vector, _loaded(place + column * _size(name), name, whole))
        values = VectorValues(f, vectors, names)
        # All results first: one may overwrite a leaf that another needs.
        computed = [values.value(expr, kind) for expr, kind in zip(exprs, kinds, strict=True)]
        for value, kind, result in zip(computed, kinds, results, strict=True):
            _store(f, result + column * _size(kind), value, kind, whole)

    with f.count(rows):
        for (name, form), place, vector in zip(leaves, places, vectors, strict=True):
            if form is LeafForm.ROWS:
                f.set(vector, _loaded(place, name, whole=False))
        whole = f.copy(columns & -WIDTH)
        if parts.vectors:
            with f.count(whole, WIDTH) as column:
                compute(column, whole=True)
        if parts.rest:
            with f.count(columns - whole) as rest:
                compute(f.copy(whole + rest), whole=False)
        for (name, form), place in zip(leaves, places, strict=True):
            if form is LeafForm.BOTH:
                f.add(place, columns * _size(name))
            elif form is LeafForm.ROWS:
                f.add(place, _size(name))
        for kind, result in zip(kinds, results, strict=True):
            f.add(result, columns * _size(kind))
    return f


def _size(name: str) -> int:
    return 1 if name == "bool" else 4


def _loaded(address: StackValue, name: str, whole: bool) -> StackValue:
    """Return four elements, or four copies of one."""
    if name != "bool":
        return address.load(V128) if whole else address.load_splat()
    if not whole:
        return lanes("i32 ne", address.load_byte_splat(), words(0))
    wide = lanes("i16 extend_low_u", address.load_bytes())
    return lanes("i32 ne", lanes("i32 extend_low_u", wide), words(0))


def _store(f: Procedure, address: StackValue, value: Local, name: str, whole: bool) -> None:
    """Store four elements, or the first of them."""
    if name != "bool":
        if whole:
            f.store(address, value)
        else:
            f.store_lane(address, value)
        return
    bits = lanes("and", value, words(1))
    if whole:
        narrow = lanes("i16 narrow_s", bits, bits)
        f.store_lane(address, lanes("i8 narrow_s", narrow, narrow))
    else:
        f.store_lane(address, bits, 1)
