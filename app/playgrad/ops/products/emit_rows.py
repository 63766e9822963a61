"""Products of a few rows with a dense matrix in a compiled step, such as layers of one sample."""

from __future__ import annotations

from playgrad.ops.products.product_share import SPEED
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.row_product import LEAST_COLUMNS, MOST_ROWS, write_row_product
from playgrad.wasm.small_product import ProductForm
from playgrad.wasm.step import StepCode, chunk_size
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue, integer, smaller

_UNIT = 16
"""Columns that stay together, a line of a cache."""


def is_few_rows(form: ProductForm) -> bool:
    """Return whether `emit_rows` is for such a product."""
    is_dense = form.b[2] == 4 and form.columns >= LEAST_COLUMNS
    return is_dense and form.count == 1 and form.rows <= MOST_ROWS and form.terms > 0


def emit_rows(
    step: StepCode, form: ProductForm, a: StackValue, b: StackValue, c: StackValue
) -> None:
    """Write the product row by row; threads share the columns."""
    product = step.shared(write_row_product, lambda m: write_row_product(m, step.relaxed))

    def rows(f: Procedure, columns: StackValue, places: tuple[StackValue, ...]) -> None:
        left, matrix, result = places
        for row in range(form.rows):
            sizes = columns, integer(form.terms)
            operand = left + row * form.a[1], integer(form.a[2])
            f.call(product, *sizes, *operand, matrix, integer(form.b[1]), result + row * form.c[1])

    chunks = step.chunks(form.multiplications / SPEED, -(-form.columns // _UNIT))
    size = chunk_size(form.columns, chunks, _UNIT)
    count = -(-form.columns // size)
    if count == 1 or form.columns - (count - 1) * size < LEAST_COLUMNS:
        rows(step.f, integer(form.columns), (a, b, c))
        return

    def write(job: ChunkCode) -> None:
        first = job.f.copy(job.chunk * size)
        columns = job.f.copy(smaller(integer(form.columns) - first, size))
        left, matrix, result = job.arguments
        rows(job.f, columns, (left, matrix + first * 4, result + first * 4))

    step.split(("rows", form, size), count, (a, b, c), write)
