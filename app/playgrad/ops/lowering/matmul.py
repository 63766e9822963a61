"""Lowering of matrix products."""

from __future__ import annotations

from math import prod

from playgrad.ops.core.kernel import KernelRequest, Lowering, output_binding
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.product import lower_product
from playgrad.ops.lowering.tiling import Product


def lower_matmul(request: KernelRequest) -> Lowering:
    """Lower result[..., M, N] = a[..., M, K] @ b[..., K, N], float32.

    attrs: ``transpose_a`` (a is [..., K, M]) and ``transpose_b`` (b is [..., N, K]). Leading
    dimensions are a stack; an operand of rank 2 is multiplied with every item of it.
    """
    a, b = request.inputs[0].static_shape, request.inputs[1].static_shape
    *lead, rows, columns = request.outputs[0].static_shape
    transpose_a = bool(request.attrs.get("transpose_a"))
    transpose_b = bool(request.attrs.get("transpose_b"))
    depth = a[-2] if transpose_a else a[-1]
    batch = prod(lead)
    if len(b) == 2 and not transpose_a:
        rows, batch = rows * batch, 1  # a stack becomes one tall matrix
    if not (batch and rows and columns and depth):
        return _lower_empty(request)
    product = Product(
        rows=rows,
        columns=columns,
        depth=depth,
        rows_code=render("matmul_rows.wgsl", A_ROW=1 if transpose_a else depth),
        a_step=rows if transpose_a else 1,
        a_run=rows if transpose_a and rows > 1 else depth,
        b_depth=1 if transpose_b else columns,
        b_column=depth if transpose_b else 1,
        batch=batch,
        a_batch=rows * depth if batch > 1 and len(a) > 2 else 0,
        b_batch=depth * columns if len(b) > 2 else 0,
    )
    params = {
        "rows": rows,
        "columns": columns,
        "depth": depth,
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
    }
    return lower_product(request, product, "matmul", params)


def _lower_empty(request: KernelRequest) -> Lowering:
    """Lower a product that has no elements, or whose elements are sums of none."""
    output = request.outputs[0]
    call = item_kernel(
        request,
        "matmul_empty.wgsl",
        output.size,
        (*request.epilogue_bindings(), output_binding("result", 0, output)),
        {},
        store=request.store("result"),
    )
    return Lowering((call,))
