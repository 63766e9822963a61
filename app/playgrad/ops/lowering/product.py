"""The matrix product behind matmul, conv2d and its two gradients.

``tiling.py`` divides it among invocations. A product of large depth and few results is split along
its depth, and the parts are added in a fixed order, so that runs are reproducible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    flat_index,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.tiling import Product, Tiling, tile


def lower_product(
    request: KernelRequest,
    product: Product,
    name: str,
    params: Mapping[str, Any],
    operands: tuple[int, int] = (0, 1),
) -> Lowering:
    """Return the dispatches of ``product``.

    Args:
        name, params: the description of the kernels in the Plan.
        operands: the numbers of the inputs that are A and B.
    """
    tuning = request.target.tuning
    variant = tuning.product if name == "matmul" else tuning.convolution
    tiling = tile(product, variant, request.target)
    family = f"{name}_{tiling.family}"
    splits = tiling.splits
    inputs = tuple(
        input_binding(letter, number, request.inputs[number])
        for letter, number in zip("ab", operands, strict=True)
    )
    result = output_binding("result", 0, request.outputs[0])
    if splits == 1:
        call = _product_call(
            request, product, tiling, family, params, request.store("result"),
            (*inputs, *request.epilogue_bindings(), result),
        )  # fmt: skip
        return Lowering((call,))
    partial = Binding("partial_sums", "scratch", 0, "f32")
    store = "fn store(index: u32, value: f32) { partial_sums[index] = value; }"
    items = product.batch * product.rows * product.columns
    first = _product_call(
        request, product, tiling, family, {**params, "splits": splits}, store, (*inputs, partial)
    )
    second = KernelCall(
        family="sum_partials",
        params={"items": items, "splits": splits, "results": product.rows * product.columns},
        code=render(
            "sum_partials.wgsl",
            ITEMS=items,
            SPLITS=splits,
            RESULTS=product.rows * product.columns,
            WORKGROUP=64,
            INDEX=flat_index(items, 64, request.target.limits),
            store=request.store("result"),
        ),
        bindings=(partial, *request.epilogue_bindings(), result),
        workgroups=grid(items, 64, request.target.limits),
        iterations=splits,
    )
    return Lowering((first, second), scratch=(4 * items * splits,))


def _product_call(
    request: KernelRequest,
    product: Product,
    tiling: Tiling,
    family: str,
    params: Mapping[str, Any],
    store: str,
    bindings: tuple[Binding, ...],
) -> KernelCall:
    across, down, _ = grid(tiling.groups, 1, request.target.limits)
    code = render(
        f"matmul_{tiling.family}.wgsl",
        **product.constants(),
        **tiling.constants,
        SPLITS=tiling.splits,
        GRID_X=across,
        store=store,
    )
    workgroups = (across, down, product.batch * tiling.splits)
    # For each depth an invocation computes a whole tile of results.
    iterations = -(-product.taps * product.depth // tiling.splits) * tiling.results
    return KernelCall(family, dict(params), code, bindings, workgroups, iterations, tiling.results)
