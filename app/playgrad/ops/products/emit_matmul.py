"""The emitter of ``matmul``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.emitters import Operand, emitter
from playgrad.ops.products.emit_rows import emit_rows, is_few_rows
from playgrad.ops.products.product_share import ProductShare
from playgrad.wasm.copies import copy_run, copy_view
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.product import SCRATCH, ProductProcedures
from playgrad.wasm.small_product import ProductForm, write_small_product
from playgrad.wasm.step import StepCode
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue, integer

PACKED_FROM = 1 << 15
"""Multiplications from which packing is worth it."""
BLAS_FROM = 1 << 18
"""Multiplications from which a call of the host's BLAS is worth it."""


def _is_float32(node: Node) -> bool:
    return node.outputs[0].dtype == "float32"


@emitter("matmul", supports=_is_float32)
def emit_matmul(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Multiply matrices, or stacks of matrices, of which one operand may have only one."""
    form = _form(node)
    places = inputs[0].address, inputs[1].address, outputs[0].address
    is_for_blas = step.sgemm is not None and form.multiplications >= BLAS_FROM
    if is_few_rows(form) and form.multiplications >= PACKED_FROM and not is_for_blas:
        emit_rows(step, form, *places)
    else:
        emit_product(step, form, *places)


def calls_blas(node: Node) -> bool:
    """Return whether the ``matmul`` ``node`` is one call of the host's BLAS, if it has that."""
    form = _form(node)
    return form.count == 1 and bool(form.terms) and form.multiplications >= BLAS_FROM


def emit_large_product(
    step: StepCode,
    node: Node,
    factors: Sequence[StackValue],
    target: Operand,
    other: Operand | None,
    turned: bool,
) -> None:
    """Write the product ``node``, of which `calls_blas` is true.

    Args:
        factors: their addresses.
        other: what it is added to, at the place of ``target``, or a row; None for 0.
        turned: whether the second factor is a transposed copy.
    """
    assert step.sgemm is not None
    if other is not None and other.place != target.place:
        size, row = 4 * other.spec.size, other.address
        rows = (target.spec.size // other.spec.size,)
        with nest(step.f, rows, [(row, (0,)), (target.address, (size,))]) as (read, write):
            copy_run(step.f, size, 4, read, write)
    a, b = factors
    adds = other is not None
    _call_blas(step, step.sgemm, _form(node, turned), a, b, target.address, adds)


def emit_turned(step: StepCode, shape: tuple[int, ...], a: StackValue, target: StackValue) -> None:
    """Write a copy of a matrix of float32, transposed."""
    rows, columns = shape
    views = (a, (4, 4 * columns)), (target, (4 * rows, 4))
    copy_view(step.f, (columns, rows), 4, *views)


def _form(node: Node, turned: bool = False) -> ProductForm:
    """Return the form of a product; of one with a transposed copy of its second factor if
    ``turned``."""
    a, b = node.inputs
    shape = node.outputs[0].spec.static_shape
    rows, columns = shape[-2:]
    flips = node.attrs["transpose_a"], node.attrs["transpose_b"]
    terms = a.spec.static_shape[-2 if flips[0] else -1]
    form = ProductForm(
        prod(shape[:-2]),
        rows,
        columns,
        terms,
        _distances(a, flips[0]),
        (0, 4 * columns, 4) if turned else _distances(b, flips[1]),
        (4 * rows * columns, 4 * columns),
    )
    return form.with_long_rows()


def emit_product(
    step: StepCode, form: ProductForm, a: StackValue, b: StackValue, c: StackValue
) -> None:
    """Write the product of float32 matrices at two addresses to the third one.

    Without terms, the product is 0.
    """
    if not form.count * form.rows * form.columns:
        return
    if not form.terms:
        step.f.fill_bytes(c, 0, 4 * form.count * form.rows * form.columns)
        return
    if step.sgemm is not None and form.multiplications >= form.count * BLAS_FROM:
        _call_blas(step, step.sgemm, form, a, b, c)
    elif form.multiplications >= PACKED_FROM:
        _emit_packed(step, form, a, b, c)
    else:
        _call_small(step, form, a, b, c)


def _call_small(
    step: StepCode, form: ProductForm, a: StackValue, b: StackValue, c: StackValue
) -> None:
    if form.columns == 1 and form.c[1] == 4:
        form, a, b = form.as_row(), b, a
    procedure = step.shared(form, lambda module: write_small_product(module, form, step.relaxed))
    step.f.call(procedure, a, b, c)


def _call_blas(
    step: StepCode,
    sgemm: Procedure,
    form: ProductForm,
    a: StackValue,
    b: StackValue,
    c: StackValue,
    adds: bool = False,
) -> None:
    f = step.f
    sizes = map(integer, (form.rows, form.columns, form.terms))
    (flip_a, row_a), (flip_b, row_b) = _stored(form.a, form.terms), _stored(form.b, form.columns)
    a, b, c = places = f.copy(a), f.copy(b), f.copy(c)
    with f.count(integer(form.count)):
        operands = (a, integer(row_a), b, integer(row_b), integer(adds), c, integer(form.c[1] // 4))
        f.call(sgemm, integer(flip_a), integer(flip_b), *sizes, *operands)
        for place, (distance, *_) in zip(places, (form.a, form.b, form.c), strict=True):
            f.add(place, distance)


def _stored(distances: tuple[int, int, int], columns: int) -> tuple[int, int]:
    """Return whether a matrix is stored transposed, and the elements from row to row as stored."""
    _, row, column = distances
    # A single row or column may be taken for either, but the rows of a stack lie side by side.
    return (0, max(row // 4, columns)) if column == 4 or columns == 1 else (1, column // 4)


def _emit_packed(
    step: StepCode, form: ProductForm, a: StackValue, b: StackValue, c: StackValue
) -> None:
    kernels = product_procedures(step)
    share = ProductShare.of(step, form)
    if share is None:
        size = map(integer, (form.count, form.rows, form.columns, form.terms))
        step.f.call(kernels.product, *size, *product_operands(form, a, b, c), step.scratch(SCRATCH))
        return

    def write(job: ChunkCode) -> None:
        size, first = share.part(job)
        moved = share.moved(first, form.a, form.b, (*form.c, 4))
        places = [place + distance for place, distance in zip(job.arguments, moved, strict=True)]
        job.f.call(kernels.product, *size, *product_operands(form, *places), job.scratch)

    step.split(("product", form, share), share.chunks, (a, b, c), write, SCRATCH)


def product_operands(
    form: ProductForm, a: StackValue, b: StackValue, c: StackValue
) -> list[StackValue]:
    """Return the arguments of a product that say where its operands and its result are."""
    distances = [list(map(integer, each)) for each in (form.a, form.b, (*form.c, 4))]
    return [x for place, each in zip((a, b, c), distances, strict=True) for x in (place, *each)]


def product_procedures(step: StepCode) -> ProductProcedures:
    """Return the procedures of packed products, added to the module the first time."""
    return step.shared(ProductProcedures, lambda module: ProductProcedures(module, step.relaxed))


def _distances(operand: Tensor, transposed: bool) -> tuple[int, int, int]:
    """Return the distances in bytes of matrices, rows and columns; 0 for a single matrix."""
    rows, columns = operand.spec.static_shape[-2:]
    stack = 4 * rows * columns if operand.spec.rank > 2 else 0
    return (stack, 4, 4 * columns) if transposed else (stack, 4 * columns, 4)
