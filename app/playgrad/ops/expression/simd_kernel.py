"""Kernels in WebAssembly for expressions of float32 arrays, one pass over the elements.

The result is seen as rows of columns. Each leaf has an element for each of both, or is repeated
along the rows, along the columns, or along both.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import prod

from playgrad.ops.expression.expr import Expr
from playgrad.ops.expression.simd_dtypes import ExpressionDtypes
from playgrad.ops.expression.simd_values import VectorValues, can_compute
from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.lanes import splat
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import integer, smaller

Shape = tuple[int, ...]
WIDTH = 4
"""Elements of a vector: a row has as many at least."""


class LeafForm(Enum):
    """The dimensions along which a leaf has elements, and its parameter of the kernel."""

    BOTH = "address"
    COLUMNS = "address of a row"
    ROWS = "address of a column"
    NEITHER = "number"


Leaves = tuple[tuple[str, LeafForm], ...]
"""The dtype of each leaf, and its elements."""


def as_rows(
    shape: Shape, leaves: Sequence[Shape], least: int = WIDTH
) -> tuple[int, int, list[LeafForm]] | None:
    """Return the rows and columns of a result, and the spread of each leaf; the fewest rows.

    None if a leaf is repeated in another way, or a row is shorter than ``least``.
    """
    padded = [(1,) * (len(shape) - len(leaf)) + leaf for leaf in leaves]
    for split in range(len(shape) + 1):
        rows, columns = prod(shape[:split]), prod(shape[split:])
        if columns < least:
            break
        spreads = [_spread(leaf, split, rows, columns) for leaf in padded]
        if None not in spreads:
            return rows, columns, [spread for spread in spreads if spread is not None]
    return None


def _spread(leaf: Shape, split: int, rows: int, columns: int) -> LeafForm | None:
    high, low = prod(leaf[:split]), prod(leaf[split:])
    if high not in (1, rows) or low not in (1, columns):
        return None
    if low == columns:
        return LeafForm.BOTH if high == rows else LeafForm.COLUMNS
    return LeafForm.ROWS if high == rows > 1 else LeafForm.NEITHER


def is_supported(exprs: Sequence[Expr], leaves: Leaves) -> bool:
    """Return whether `kernel_module` can compute ``exprs``."""
    names = [name for name, _ in leaves]
    if any(
        name != "float32" and (name, spread) != ("bool", LeafForm.NEITHER)
        for name, spread in leaves
    ):
        return False
    if any(ExpressionDtypes(names).dtype(expr) != "float32" for expr in exprs):
        return False
    return all(can_compute(expr, names) for expr in exprs)


def kernel_module(exprs: Sequence[Expr], leaves: Leaves) -> bytes:
    """Return a module with the function ``run``.

    Its parameters: the numbers of rows and of columns, at least `WIDTH`; of each leaf its address,
    or its value if it is a single number; the addresses of the results, which overlap no leaf.
    """
    module = Module()
    numbers = {"float32": F32, "bool": I32}
    kinds = [numbers[name] if spread is LeafForm.NEITHER else I32 for name, spread in leaves]
    f = module.procedure([I32, I32, *kinds, *(I32 for _ in exprs)], "run")
    rows, columns, *values = f.arguments
    places, results = values[: len(leaves)], values[len(leaves) :]
    vectors = [_single(f, leaf, place) for leaf, place in zip(leaves, places, strict=True)]
    with f.count(rows):
        for (_, spread), place, vector in zip(leaves, places, vectors, strict=True):
            if spread is LeafForm.ROWS:
                f.set(vector, place.load_splat())
        with f.count(columns, WIDTH) as column:
            # The last vector may begin within the one before it.
            offset = f.copy(smaller(column, columns - WIDTH) * 4)
            for (_, spread), place, vector in zip(leaves, places, vectors, strict=True):
                if spread in (LeafForm.BOTH, LeafForm.COLUMNS):
                    f.set(vector, (place + offset).load(V128))
            computed = VectorValues(f, vectors, [name for name, _ in leaves])
            for expr, result in zip(exprs, results, strict=True):
                f.store(result + offset, computed.value(expr, "float32"))
        for (_, spread), place in zip(leaves, places, strict=True):
            if spread is LeafForm.BOTH:
                f.add(place, columns * 4)
            elif spread is LeafForm.ROWS:
                f.add(place, 4)
        for result in results:
            f.add(result, columns * 4)
    return module.encode()


def _single(f: Procedure, leaf: tuple[str, LeafForm], number: Local) -> Local:
    """Return the variable of a leaf's vector, with its value if that is a single number."""
    if leaf[1] is not LeafForm.NEITHER:
        return f.local(V128)
    if leaf[0] == "bool":
        return f.copy(splat(integer(0) - number))
    return f.copy(splat(number))
