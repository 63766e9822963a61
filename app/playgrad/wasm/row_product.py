"""Products of a few rows of float32 with a matrix whose rows are dense, which is read in order.

Packing the matrix would take longer than the product.
"""

from __future__ import annotations

from playgrad.wasm.encoding import I32, V128
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, multiply_add, smaller, zeros

MOST_ROWS = 4
"""Rows up to which this is faster than `playgrad.wasm.product`."""
LEAST_COLUMNS = 4
_BLOCK = 1024
"""Columns that are summed up at a time: their sums stay in the first cache."""
_TERMS = 4
"""Rows of the matrix that are read together."""


def write_row_product(module: Module, relaxed: bool) -> Procedure:
    """Add a procedure for one row.

    Its parameters: the numbers of columns, at least `LEAST_COLUMNS`, and of terms; the address of
    the row and the distance of its elements; the address of the matrix and the distance of its
    rows; the address of the result. Sums run over rising indices.
    """
    f = module.procedure([I32] * 7)
    columns, terms, row, element, matrix, line, result = f.arguments
    whole, end = f.copy(columns & -4), f.copy(terms & -_TERMS)
    with f.count(whole, _BLOCK) as first:
        width = f.copy(smaller(whole - first, _BLOCK))
        source, target = f.copy(matrix + first * 4), f.copy(result + first * 4)
        f.fill_bytes(target, 0, width * 4)
        place = f.copy(row)
        with f.count(end, _TERMS):
            _add(f, _TERMS, width, (place, element), (source, line), target, relaxed)
        with f.count(terms - end):
            _add(f, 1, width, (place, element), (source, line), target, relaxed)
    with f.when(columns - whole):  # the last vector begins within the one before it
        total, place = f.copy(zeros()), f.copy(row)
        source = f.copy(matrix + (columns - 4) * 4)
        with f.count(terms):
            f.set(total, multiply_add(place.load_splat(), source.load(V128), total, relaxed))
            f.add(place, element)
            f.add(source, line)
        f.store(result + (columns - 4) * 4, total)
    return f


def _add(
    f: Procedure,
    count: int,
    width: StackValue,
    factors: tuple[Local, Local],
    lines: tuple[Local, Local],
    target: Local,
    relaxed: bool,
) -> None:
    """Add ``count`` rows of the matrix, times their factors, to the sums, and go on to the next."""
    place, element = factors
    source, line = lines
    values, sources = [], []
    for _ in range(count):
        values.append(f.copy(place.load_splat()))
        sources.append(f.copy(source))
        f.add(place, element)
        f.add(source, line)
    with f.count(width, 4) as column:
        offset = f.copy(column * 4)
        sums = f.copy((target + offset).load(V128))
        for value, each in zip(values, sources, strict=True):
            f.set(sums, multiply_add(value, (each + offset).load(V128), sums, relaxed))
        f.store(target + offset, sums)
