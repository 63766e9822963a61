"""Attention and its gradient in a compiled step: strided products, head by head, of one batch at a
time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.graph.opdef import Attrs
from playgrad.ops.arrays.emit_moves import broadcast_strides
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.ops.expression import simd
from playgrad.ops.products.emit_matmul import PACKED_FROM
from playgrad.wasm.copies import clear, copy_view
from playgrad.wasm.elements import load
from playgrad.wasm.encoding import F32
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.lanes import floats, lanes, numbers, splat, words
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local
from playgrad.wasm.product import SCRATCH, ProductProcedures
from playgrad.wasm.reduction_kinds import MAXIMUM
from playgrad.wasm.row_reductions import row_extreme, row_sum
from playgrad.wasm.scalars import choose, number, scalar
from playgrad.wasm.small_product import ProductForm, write_small_product
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import WIDTH, VectorPlace, across


@dataclass(frozen=True)
class _Matrices:
    """A matrix for each head: where the first is, and the bytes between heads, rows and columns."""

    address: StackValue
    steps: tuple[int, int, int]

    @property
    def transposed(self) -> _Matrices:
        head, row, column = self.steps
        return _Matrices(self.address, (head, column, row))


class _Heads:
    """Writes products of all heads of one batch."""

    def __init__(self, code: KernelCode, heads: int) -> None:
        self._code, self._heads = code, heads
        self._copies: dict[int, Local] = {}

    def multiply(
        self, a: _Matrices, b: _Matrices, c: _Matrices, rows: int, columns: int, terms: int
    ) -> None:
        """Write the products of matrices (rows, terms) and (terms, columns)."""
        code = self._code
        if rows * columns * terms < PACKED_FROM:
            if b.steps[2] != 4 and columns >= WIDTH:
                b = self._with_dense_rows(b, terms, columns)
            distances = a.steps, b.steps, (c.steps[0], c.steps[1])
            form = ProductForm(self._heads, rows, columns, terms, *distances)
            procedure = code.shared(
                form, lambda module: write_small_product(module, form, code.relaxed)
            )
            code.f.call(procedure, a.address, b.address, c.address)
            return
        kernels: ProductProcedures = code.shared(
            ProductProcedures, lambda module: ProductProcedures(module, code.relaxed)
        )
        sizes = map(integer, (self._heads, rows, columns, terms))
        operands = [x for m in (a, b, c) for x in (m.address, *map(integer, m.steps))]
        code.f.call(kernels.product, *sizes, *operands, self._scratch(SCRATCH))

    def _with_dense_rows(self, matrices: _Matrices, rows: int, columns: int) -> _Matrices:
        """Return a copy of the matrices, with the elements of a row side by side."""
        size = 4 * rows * columns
        copy = _Matrices(self._scratch(self._heads * size), (size, 4 * columns, 4))
        sizes = (self._heads, rows, columns)
        source, target = ((m.address, m.steps) for m in (matrices, copy))
        copy_view(self._code.f, sizes, 4, source, target)
        return copy

    def _scratch(self, size: int) -> Local:
        """Return the address of so many bytes for one product."""
        if size not in self._copies:
            self._copies[size] = self._code.f.copy(self._code.scratch(size))
        return self._copies[size]


def _of_batch(code: KernelCode, x: ArrayPlace, batch: Local) -> _Matrices:
    """Return the matrices (position, element) of the heads of a batch."""
    _, positions, heads, size = x.shape
    place = code.f.copy(x.address + batch * (positions * heads * size * 4))
    return _Matrices(place, (4 * size, 4 * heads * size, 4))


@dataclass(frozen=True)
class _Scores:
    """Matrices (to, from) of all heads in scratch memory."""

    address: Local
    heads: int
    rows: int
    columns: int

    @staticmethod
    def reserve(code: KernelCode, query: ArrayPlace, key: ArrayPlace) -> _Scores:
        heads, rows, columns = query.shape[2], query.shape[1], key.shape[1]
        return _Scores(code.f.copy(code.scratch(4 * heads * rows * columns)), heads, rows, columns)

    @property
    def matrices(self) -> _Matrices:
        return _Matrices(self.address, (4 * self.rows * self.columns, 4 * self.columns, 4))


def _weights(
    code: KernelCode, scores: _Scores, mask: ArrayPlace | None, batch: Local, attrs: Attrs
) -> None:
    """Replace products of queries and keys by the weights of the values."""
    f, columns, causal = code.f, scores.columns, attrs["is_causal"]
    steps: list[tuple[StackValue, tuple[int, ...]]] = [
        (scores.address, (4 * scores.rows * columns, 4 * columns))
    ]
    along = 0
    if mask is not None:
        sizes = (0, scores.heads, scores.rows, columns)
        per_batch, head, row, along = broadcast_strides(mask, sizes)
        steps.append((f.copy(mask.address + batch * per_batch), (head, row)))
    number_of_row = f.copy(integer(0))
    with nest(f, [scores.heads, scores.rows], steps) as (place, *seen):
        if mask is not None:
            score, flag = f.copy(place), f.copy(seen[0])
            with f.count(integer(columns)) as column:
                visible = load(mask.element, flag)
                if causal:
                    earlier = scalar("i32.le_s", column, number_of_row)
                    visible = scalar("i32.and", visible, earlier)
                scaled = scalar("f32.mul", score.load(F32), number(F32, attrs["scale"]))
                f.store(score, choose(visible, scaled, number(F32, -float("inf"))))
                f.add(score, 4)
                f.add(flag, along)
        else:
            _scale(code, place, columns, attrs["scale"], number_of_row if causal else None)
        _softmax(code, place, columns)
        f.add(number_of_row, 1)
        at_end = scalar("i32.eq", number_of_row, scores.rows)
        f.set(number_of_row, choose(at_end, integer(0), number_of_row))


def _scale(code: KernelCode, row: Local, length: int, scale: float, last: Local | None) -> None:
    """Multiply a row by ``scale``; beyond the element ``last`` it becomes minus infinity."""
    f = code.f
    if last is None:
        across(f, length, lambda at: at.store(f, row, lanes("mul", at.load(row), floats(scale))))
        return
    limit, columns = f.copy(splat(last)), f.copy(numbers())

    def part(at: VectorPlace) -> None:
        scaled = lanes("mul", at.load(row), floats(scale))
        visible = lanes("i32 le_s", columns, limit)
        at.store(f, row, lanes("bitselect", scaled, floats(-float("inf")), visible))
        f.set(columns, lanes("i32 add", columns, words(WIDTH)))

    across(f, length, part)


def _softmax(code: KernelCode, row: Local, length: int) -> None:
    """Replace a row by its softmax, or by zeros if all of it is minus infinity."""
    f = code.f
    largest = f.copy(row_extreme(f, MAXIMUM, row, length))
    is_empty = scalar("f32.eq", largest, number(F32, -float("inf")))
    shift = f.copy(splat(choose(is_empty, number(F32, 0.0), largest)))

    def power(place: VectorPlace) -> None:
        shifted = f.copy(lanes("sub", place.load(row), shift))
        place.store(f, row, simd.exp(f, shifted))

    across(f, length, power)
    total = row_sum(code, row, length)
    is_zero = scalar("f32.eq", total, number(F32, 0.0))
    divisor = f.copy(splat(choose(is_zero, number(F32, 1.0), total)))
    across(f, length, lambda place: place.store(f, row, lanes("div", place.load(row), divisor)))


@static_kernel("dot_product_attention", shared=SharedRows(2e-8))
def _attention(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (query, key, value, *mask), (result,) = inputs, outputs
    if not key.count or not value.count or not query.count:
        clear(code.f, result.address, result.bytes)
        return
    heads, scores = _Heads(code, query.shape[2]), _Scores.reserve(code, query, key)
    to, size, keys, width = query.shape[1], query.shape[3], key.shape[1], value.shape[3]
    with code.f.count(integer(query.shape[0])) as batch:
        q, k, v, y = (_of_batch(code, x, batch) for x in (query, key, value, result))
        heads.multiply(q, k.transposed, scores.matrices, to, keys, size)
        _weights(code, scores, mask[0] if mask else None, batch, attrs)
        heads.multiply(scores.matrices, v, y, to, width, keys)


@static_kernel("dot_product_attention_gradient", shared=SharedRows(4e-8))
def _attention_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    f, (query, key, value, grad, *mask) = code.f, inputs
    if not key.count or not value.count or not query.count:
        for y in outputs:
            clear(f, y.address, y.bytes)
        return
    heads = _Heads(code, query.shape[2])
    weights, slopes = (_Scores.reserve(code, query, key) for _ in range(2))
    to, size, keys, width = query.shape[1], query.shape[3], key.shape[1], value.shape[3]
    with f.count(integer(query.shape[0])) as batch:
        q, k, v, g = (_of_batch(code, x, batch) for x in (query, key, value, grad))
        by_q, by_k, by_v = (_of_batch(code, x, batch) for x in outputs)
        heads.multiply(q, k.transposed, weights.matrices, to, keys, size)
        _weights(code, weights, mask[0] if mask else None, batch, attrs)
        heads.multiply(weights.matrices.transposed, g, by_v, keys, width, to)
        heads.multiply(g, v.transposed, slopes.matrices, to, keys, width)
        _by_scores(code, weights, slopes, attrs["scale"])
        heads.multiply(slopes.matrices, k, by_q, to, size, keys)
        heads.multiply(slopes.matrices.transposed, q, by_k, keys, size, to)


def _by_scores(code: KernelCode, weights: _Scores, slopes: _Scores, scale: float) -> None:
    """Replace the slopes of weights by those of the products of queries and keys."""
    f, columns = code.f, weights.columns
    terms = f.copy(code.scratch(4 * columns))
    step = (4 * columns,)
    rows = weights.heads * weights.rows
    with nest(f, [rows], [(weights.address, step), (slopes.address, step)]) as (weight, slope):
        across(
            f,
            columns,
            lambda at: at.store(f, terms, lanes("mul", at.load(slope), at.load(weight))),
        )
        along = f.copy(splat(row_sum(code, terms, columns)))

        def part(at: VectorPlace) -> None:
            value = lanes("mul", at.load(weight), lanes("sub", at.load(slope), along))
            at.store(f, slope, lanes("mul", value, floats(scale)))

        across(f, columns, part)
