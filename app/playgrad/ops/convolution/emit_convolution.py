"""The emitters of ``conv2d`` and its gradients: products that find pixels by tables.

The kernels and tables are those of `playgrad.ops.convolution.simd_convolution`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from playgrad.graph.opdef import Array
from playgrad.graph.tensor import Node
from playgrad.ops.convolution.emit_blas_convolution import WORTH, emit_panels, panel_form
from playgrad.ops.convolution.emit_padding import padded_form, padded_image, write_cropped
from playgrad.ops.convolution.simd_convolution import segment_length, window_tables
from playgrad.ops.emitters import Operand, emitter
from playgrad.ops.products.emit_matmul import (
    PACKED_FROM,
    emit_product,
    emit_turned,
    product_operands,
    product_procedures,
)
from playgrad.ops.products.product_share import SPEED, ProductShare
from playgrad.wasm.padded_image import PaddedForm
from playgrad.wasm.product import SCRATCH
from playgrad.wasm.small_product import ProductForm
from playgrad.wasm.step import StepCode
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue, integer, smaller
from playgrad.wasm.window_sums import write_window_sums

_PARTS = 1 << 18
"""About the bytes of products that are added up at a time: as many as a cache holds."""


def _is_supported(node: Node) -> bool:
    return node.outputs[0].dtype == "float32" and "groups" not in node.attrs


def _tables(
    node: Node, form: PaddedForm, size: Sequence[int], out: Sequence[int]
) -> tuple[Array, Array]:
    shape = (
        form.batch,
        form.top + form.height + form.bottom,
        form.left + form.width + form.right,
        form.channels,
    )
    return window_tables(shape, size, out, node.attrs)


@emitter("conv2d", supports=_is_supported)
def emit_conv2d(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Multiply the pixels under windows by the filters."""
    image, filters = inputs
    (result,) = outputs
    form = padded_form(image.shape, node.attrs["padding"])
    if _is_worth_panels(step, filters.shape, result.shape):
        _with_panels(step, node, form, "result", image, filters, result)
        return
    windows, terms = _tables(node, form, filters.shape[:2], result.shape[1:3])
    _indexed(step, form, image, windows, terms, filters, result)


@emitter("conv2d_filter_gradient", supports=_is_supported)
def emit_filter_gradient(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Multiply the pixels under windows, transposed, by the gradient."""
    image, gradient = inputs
    form = padded_form(image.shape, node.attrs["padding"])
    size = node.attrs["kernel_size"]
    if _is_worth_panels(step, outputs[0].shape, gradient.shape):
        _with_panels(step, node, form, "filters", image, outputs[0], gradient)
        return
    windows, terms = _tables(node, form, size, gradient.shape[1:3])
    _indexed(step, form, image, terms, windows, gradient, outputs[0])


def _is_worth_panels(step: StepCode, filters: Sequence[int], result: Sequence[int]) -> bool:
    return step.sgemm is not None and prod(result) * prod(filters[:3]) >= WORTH


def _with_panels(
    step: StepCode,
    node: Node,
    form: PaddedForm,
    kind: str,
    image: Operand,
    filters: Operand,
    result: Operand,
) -> None:
    """Write the array of ``kind`` with the others; see `emit_panels`."""
    panels = panel_form(form, filters.shape[:2], result.shape[1:3], node.attrs)
    size = panels.bytes + -panels.bytes % 16
    turned = -(-filters.spec.size // 4) * 16 * (kind == "image")  # all panels share them
    scratch = step.scratch(turned + size + form.padded_bytes * form.is_padded)
    factor, pixels = filters.address, filters.address
    if turned:
        factor, scratch = scratch, step.f.copy(scratch + turned)
        emit_turned(step, (panels.terms, filters.shape[3]), filters.address, factor)
    if kind != "image":
        pixels = padded_image(step, form, image.address, scratch + size)
    else:
        pixels = scratch + size if form.is_padded else image.address
        step.f.fill_bytes(pixels, 0, form.padded_bytes)
    arrays = pixels, factor, result.address
    emit_panels(step, kind, panels, filters.shape[3], *arrays, scratch)
    if kind == "image" and form.is_padded:
        write_cropped(step, form, pixels, image.address)


def _indexed(
    step: StepCode,
    form: PaddedForm,
    image: Operand,
    rows: Array,
    terms: Array,
    factor: Operand,
    result: Operand,
) -> None:
    """Write the product of pixels, found by tables, with a matrix as wide as the result."""
    columns = result.shape[-1]
    size = 4 * len(rows) * columns
    if not size:
        return
    if not len(terms):
        step.f.fill_bytes(result.address, 0, size)
        return
    scratch = step.scratch(SCRATCH + form.padded_bytes)
    pixels = padded_image(step, form, image.address, scratch + SCRATCH)
    arguments = (pixels, step.constant(rows), step.constant(terms), factor.address, result.address)
    product = product_procedures(step).indexed_product
    row = integer(4 * columns)
    like = ProductForm(
        1, len(rows), columns, len(terms), (0, 4, 0), (0, 4 * columns, 4), (0, 4 * columns)
    )
    share = ProductShare.of(step, like)
    if share is None:
        pixel, row_table, term_table, right, target = arguments
        whole = map(integer, (len(rows), columns, len(terms)))
        ends = (right, row, integer(4), target, row, scratch)
        step.f.call(product, *whole, pixel, row_table, term_table, *ends)
        return

    def write(job: ChunkCode) -> None:
        pixel, row_table, term_table, right, target = job.arguments
        (_, *size), first = share.part(job)
        # Rows of the first operand are found by the table, whose elements have four bytes.
        by_row, by_right, by_target = share.moved(first, like.a, like.b, (*like.c, 4))
        tables = (row_table + by_row, term_table)
        ends = (right + by_right, row, integer(4), target + by_target, row, job.scratch)
        job.f.call(product, *size, pixel, *tables, *ends)

    step.split(("indexed product", like, share), share.chunks, arguments, write, SCRATCH)


@emitter("conv2d_input_gradient", supports=_is_supported)
def emit_image_gradient(
    step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> None:
    """Multiply the gradient by the filters, some images and one segment of the windows at a time,
    and add the rows up in the image."""
    filters, gradient = inputs
    (result,) = outputs
    form = padded_form(result.shape, node.attrs["padding"])
    if not prod(result.shape):
        return
    if _is_worth_panels(step, filters.shape, gradient.shape):
        _with_panels(step, node, form, "image", result, filters, gradient)
        return
    *_, channels, depth = filters.shape
    windows, terms = _tables(node, form, filters.shape[:2], gradient.shape[1:3])
    length = segment_length(filters.shape[1], channels, node.attrs)
    each = prod(gradient.shape[1:3])  # windows of an image
    count = max(1, _PARTS // max(1, 4 * each * length)) * each
    parts = 4 * min(count, len(windows)) * length
    scratch = step.scratch(SCRATCH + parts + (form.padded_bytes if form.is_padded else 0))
    sums: StackValue = result.address if not form.is_padded else scratch + (SCRATCH + parts)
    sizes = _GradientSizes(form, each, count, length, depth, tuple(map(int, terms[::length])))
    arguments = (gradient.address, filters.address, step.constant(windows), sums)
    if not _share_images(step, sizes, arguments):
        _add_images(step, sizes, len(windows), *arguments, scratch + SCRATCH)
    if form.is_padded:
        write_cropped(step, form, sums, result.address)


@dataclass(frozen=True)
class _GradientSizes:
    """The sizes of a gradient of images.

    Attributes:
        windows: of an image.
        part: the windows whose products are added up at a time, those of some images.
        length: the elements of a segment of a window.
        depth: the elements of a gradient.
        segments: the distances in bytes of a window's segments from its first pixel.
    """

    form: PaddedForm
    windows: int
    part: int
    length: int
    depth: int
    segments: tuple[int, ...]

    @property
    def image_bytes(self) -> int:
        return self.form.padded_bytes // self.form.batch

    def product(self, rows: int) -> ProductForm:
        """Return the product of ``rows`` gradients and a segment of the filters."""
        depth, length = self.depth, self.length
        return ProductForm(
            1, rows, length, depth, (0, 4 * depth, 4), (0, 4, 4 * depth), (0, 4 * length)
        )


def _add_images(
    step: StepCode,
    sizes: _GradientSizes,
    count: int,
    gradient: StackValue,
    filters: StackValue,
    table: StackValue,
    sums: StackValue,
    products: StackValue,
) -> None:
    """Write the gradient of all images, of ``count`` windows."""
    step.f.fill_bytes(sums, 0, sizes.form.padded_bytes)
    add_windows = step.shared(write_window_sums, write_window_sums)
    for first in range(0, count, sizes.part):
        rows = min(sizes.part, count - first)
        for number, segment in enumerate(sizes.segments):
            source = gradient + 4 * first * sizes.depth
            factor = filters + 4 * number * sizes.length * sizes.depth
            emit_product(step, sizes.product(rows), source, factor, products)
            lines = (integer(rows), integer(sizes.length))
            step.f.call(add_windows, *lines, products, table + 4 * first, sums + segment)


def _share_images(step: StepCode, sizes: _GradientSizes, arguments: Sequence[StackValue]) -> bool:
    """Have threads share the images, whose windows overlap only with each other; return whether
    that is worth it, and the products of some images are packed, as all are then."""
    batch, windows = sizes.form.batch, sizes.windows
    rest = batch * windows % sizes.part or sizes.part
    if sizes.product(min(rest, batch * windows)).multiplications < PACKED_FROM:
        return False
    work = sizes.product(batch * windows).multiplications * len(sizes.segments)
    chunks = step.chunks(work / SPEED, batch)
    if chunks == 1:
        return False
    images = -(-batch // chunks)
    product = product_procedures(step).product
    add_windows = step.shared(write_window_sums, write_window_sums)

    def write(job: ChunkCode) -> None:
        f, (gradient, filters, table, sums) = job.f, job.arguments
        begin = f.copy(job.chunk * images)
        here = f.copy(smaller(integer(batch) - begin, images))
        f.fill_bytes(sums + begin * sizes.image_bytes, 0, here * sizes.image_bytes)
        end = f.copy((begin + here) * windows)
        first, products = f.copy(begin * windows), f.copy(job.scratch + SCRATCH)
        form = sizes.product(sizes.part)
        with f.repeat_while(first < end):
            rows = f.copy(smaller(end - first, sizes.part))
            source = f.copy(gradient + first * (4 * sizes.depth))
            for number, segment in enumerate(sizes.segments):
                factor = filters + 4 * number * sizes.length * sizes.depth
                size = (integer(1), rows, integer(sizes.length), integer(sizes.depth))
                places = product_operands(form, source, factor, products)
                f.call(product, *size, *places, job.scratch)
                lines = (rows, integer(sizes.length))
                f.call(add_windows, *lines, products, table + first * 4, sums + segment)
            f.add(first, sizes.part)

    private = SCRATCH + 4 * min(sizes.part, batch * windows) * sizes.length
    step.split(("image gradient", sizes), -(-batch // images), arguments, write, private)
    return True
