"""Products of small float32 matrices of known sizes, without packing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.lanes import horizontal_sum
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer, multiply_add, number, smaller, zeros

_ROWS, _VECTORS, _PARTS = 4, 2, 4
"""Of a tile of the result: rows, vectors of each; rows and columns of a tile of sums by parts."""


@dataclass(frozen=True)
class ProductForm:
    """The sizes of ``count`` products of matrices (rows, terms) and (terms, columns).

    Attributes:
        a, b: the distances in bytes of the matrices, rows and columns of the operands.
        c: the distances of the matrices and rows of the result, whose columns are dense.
    """

    count: int
    rows: int
    columns: int
    terms: int
    a: tuple[int, int, int]
    b: tuple[int, int, int]
    c: tuple[int, int]

    @property
    def multiplications(self) -> int:
        """Of all products."""
        return self.count * self.rows * self.columns * self.terms

    def with_long_rows(self) -> ProductForm:
        """Return the form of one product in the place of a stack with a common second operand, if
        the rows of the others follow each other."""
        (a, a_row, _), (c, c_row) = self.a, self.c
        if self.b[0] or a != self.rows * a_row or c != self.rows * c_row:
            return self
        return replace(self, count=1, rows=self.count * self.rows)

    def as_row(self) -> ProductForm:
        """Return the form of the transposed product, with the operands exchanged, of matrices whose
        results have one dense column."""
        (a, a_row, a_column), (b, b_row, b_column) = self.a, self.b
        swapped = ((b, b_column, b_row), (a, a_column, a_row))
        return ProductForm(
            self.count, self.columns, self.rows, self.terms, *swapped, (self.c[0], 4 * self.rows)
        )


def write_small_product(module: Module, form: ProductForm, relaxed: bool) -> Procedure:
    """Add a procedure of the addresses of two operands and their product."""
    f = module.procedure([I32] * 3)
    a, b, c = f.arguments
    with f.count(integer(form.count)):
        if form.columns >= 4 and form.b[2] == 4:
            _by_columns(f, form, relaxed)
        elif form.terms >= 4 and form.a[2] == form.b[1] == 4:
            _by_parts(f, form, relaxed)
        else:
            _by_elements(f, form)
        for place, step in ((a, form.a[0]), (b, form.b[0]), (c, form.c[0])):
            f.add(place, step)
    return f


def _by_columns(f: Procedure, form: ProductForm, relaxed: bool) -> None:
    """Compute tiles of several rows and vectors, whose sums stay in variables."""
    a, b, c = f.arguments
    whole = form.columns // (4 * _VECTORS) * 4 * _VECTORS

    def tiles(first_row: StackValue, rows: int) -> None:
        line_a, line_c = f.copy(a + first_row * form.a[1]), f.copy(c + first_row * form.c[1])
        if whole:
            with f.count(integer(whole), 4 * _VECTORS) as column:
                tile(line_a, line_c, f.copy(column * 4), rows, _VECTORS)
        if whole < form.columns:
            with f.count(integer(form.columns - whole), 4) as rest:
                # The last vector may begin within the one before it.
                last = smaller(rest + whole, form.columns - 4)
                tile(line_a, line_c, f.copy(last * 4), rows, 1)

    def tile(line_a: Local, line_c: Local, offset: Local, rows: int, vectors: int) -> None:
        sums = [[f.copy(zeros()) for _ in range(vectors)] for _ in range(rows)]
        place_a, place_b = f.copy(line_a), f.copy(b + offset)
        with f.count(integer(form.terms)):
            loaded = [f.copy(place_b.load(V128, 16 * part)) for part in range(vectors)]
            for row, line in enumerate(sums):
                factor = f.copy(place_a.load_splat(row * form.a[1]))
                for total, vector in zip(line, loaded, strict=True):
                    f.set(total, multiply_add(factor, vector, total, relaxed))
            f.add(place_a, form.a[2])
            f.add(place_b, form.b[1])
        for row, line in enumerate(sums):
            for part, total in enumerate(line):
                f.store(line_c + offset, total, row * form.c[1] + 16 * part)

    _in_groups(f, form.rows, _ROWS, tiles)


def _by_parts(f: Procedure, form: ProductForm, relaxed: bool) -> None:
    """Sum every fourth term in each element of a vector, and then these four sums."""
    a, b, c = f.arguments
    whole = form.terms // 4 * 4

    def rows(first_row: StackValue, height: int) -> None:
        line_a, line_c = f.copy(a + first_row * form.a[1]), f.copy(c + first_row * form.c[1])

        def columns(first: StackValue, width: int) -> None:
            place_a, place_b = f.copy(line_a), f.copy(b + first * form.b[2])
            sums = [[f.copy(zeros()) for _ in range(width)] for _ in range(height)]
            with f.count(integer(whole), 4):
                parts = [f.copy(place_b.load(V128, x * form.b[2])) for x in range(width)]
                for y, line in enumerate(sums):
                    part = f.copy(place_a.load(V128, y * form.a[1]))
                    for total, other in zip(line, parts, strict=True):
                        f.set(total, multiply_add(part, other, total, relaxed))
                f.add(place_a, 16)
                f.add(place_b, 16)
            totals = [[f.copy(horizontal_sum(total)) for total in line] for line in sums]
            if whole < form.terms:
                with f.count(integer(form.terms - whole)):
                    for y, line in enumerate(totals):
                        for x, total in enumerate(line):
                            factors = (
                                place_a.load(F32, y * form.a[1]),
                                place_b.load(F32, x * form.b[2]),
                            )
                            f.set(total, total + factors[0] * factors[1])
                    f.add(place_a, 4)
                    f.add(place_b, 4)
            place = f.copy(line_c + first * 4)
            for y, line in enumerate(totals):
                for x, total in enumerate(line):
                    f.store(place, total, y * form.c[1] + 4 * x)

        _in_groups(f, form.columns, _PARTS // 2, columns)

    _in_groups(f, form.rows, _PARTS // 2, rows)


def _by_elements(f: Procedure, form: ProductForm) -> None:
    a, b, c = f.arguments
    with f.count(integer(form.rows)) as row, f.count(integer(form.columns)) as column:
        total = f.copy(number(0.0))
        place_a, place_b = f.copy(a + row * form.a[1]), f.copy(b + column * form.b[2])
        with f.count(integer(form.terms)):
            f.set(total, total + place_a.load(F32) * place_b.load(F32))
            f.add(place_a, form.a[2])
            f.add(place_b, form.b[1])
        f.store(c + row * form.c[1] + column * 4, total)


def _in_groups(
    f: Procedure, count: int, size: int, write: Callable[[StackValue, int], None]
) -> None:
    """Repeat what ``write`` writes for the first of ``size`` lines each, and once for the rest."""
    whole = count // size * size
    if whole:
        with f.count(integer(whole), size) as first:
            write(first, size)
    if whole < count:
        write(integer(whole), count - whole)
