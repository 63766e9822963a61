"""The matrix product behind matmul, conv2d and its two gradients.

``tiling.py`` or ``block_tiling.py`` divides it among invocations. A product of large depth and few
results is split along its depth, and the parts are added in a fixed order, so that runs are
reproducible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
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
from playgrad.ops.core.loops import Loop
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.block_tiling import BLOCKS, block_tiling
from playgrad.ops.lowering.half_operands import HALF_VECTOR, with_half_loads
from playgrad.ops.lowering.tiling import Product, Tiling, tile

PARTIAL = Binding("partial_sums", "scratch", 0, "f32")
"""The partial sums of a product that is split, one after the other."""
VECTOR = "vec4<f32>"
STORE_PARTIAL = "fn store(index: u32, value: f32) { partial_sums[index] = value; }"


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
    if not request.outputs[0].size:
        return Lowering(())
    tuning = request.target.tuning
    variant = tuning.product if name == "matmul" else tuning.convolution
    half = _are_half(request, operands)
    tiling = _tiling(request, product, variant, half)
    family = f"{name}_{tiling.family}"
    if any(half):
        params = {**params, "half": list(compress("ab", half))}
    splits = tiling.splits
    inputs = tuple(
        _operand(letter, number, request, is_wide)
        for letter, number, is_wide in zip("ab", operands, tiling.wide, strict=True)
    )
    if splits == 1:
        result = output_binding("result", 0, request.outputs[0])
        call = _product_call(
            request, product, tiling, family, params, request.store("result"),
            (*inputs, *request.epilogue_bindings(), result),
        )  # fmt: skip
        return Lowering((call,))
    items = product.batch * product.rows * product.columns
    first = _product_call(
        request,
        product,
        tiling,
        family,
        {**params, "splits": splits},
        STORE_PARTIAL,
        (*inputs, PARTIAL),
    )
    second = sum_partials(request, items, product.rows * product.columns, splits)
    return Lowering((first, second), scratch=(4 * items * splits,))


def _are_half(request: KernelRequest, operands: tuple[int, int]) -> tuple[bool, bool]:
    """Return whether A and B are float16."""
    a, b = (request.inputs[number].dtype == "float16" for number in operands)
    return a, b


def _tiling(
    request: KernelRequest, product: Product, variant: str, half: tuple[bool, bool]
) -> Tiling:
    if variant not in BLOCKS:
        return tile(product, variant, request.target)
    # A kernel with more bindings than a device allows runs as a group, which binds scalars.
    bound = 3 + len(request.epilogue_bindings())
    may_be_wide = bound <= request.target.limits.max_storage_buffers_per_shader_stage
    return block_tiling(product, variant, request.target, may_be_wide, half)


def _operand(letter: str, number: int, request: KernelRequest, is_wide: bool) -> Binding:
    binding = input_binding(letter, number, request.inputs[number])
    wide = HALF_VECTOR if request.inputs[number].dtype == "float16" else VECTOR
    return replace(binding, element=wide) if is_wide else binding


def sum_partials(request: KernelRequest, items: int, results: int, splits: int) -> KernelCall:
    """Return the dispatch that adds the partial sums of each result, in a fixed order.

    Args:
        items: the number of results of the node.
        results: the number of results of one batch item.
        splits: the number of partial sums of each result.
    """
    return KernelCall(
        family="sum_partials",
        params={"items": items, "splits": splits, "results": results},
        code=render(
            "sum_partials.wgsl",
            ITEMS=items,
            SPLITS=splits,
            RESULTS=results,
            WORKGROUP=64,
            INDEX=flat_index(items, 64, request.target.limits),
            store=request.store("result"),
        ),
        bindings=(
            PARTIAL,
            *request.epilogue_bindings(),
            output_binding("result", 0, request.outputs[0]),
        ),
        workgroups=grid(items, 64, request.target.limits),
        iterations=splits,
        loops=(Loop(splits),),
    )


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
    if tiling.family != "blocks":  # its lines are written for the dtype
        for letter in params.get("half", ()):
            code = with_half_loads(code, letter)
    workgroups = (across, down, product.batch * tiling.splits)
    # For each depth an invocation computes a whole tile of results.
    parts = tiling.splits * tiling.slices
    iterations = -(-product.taps * product.depth // parts) * tiling.results
    return KernelCall(
        family,
        dict(params),
        code,
        bindings,
        workgroups,
        iterations,
        tiling.results,
        loops=tiling.loops,
    )
