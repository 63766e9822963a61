"""The matrix product that matmul and the three convolution kernels share.

There are two families: `matmul_register.wgsl` (a tile in registers, no barriers) and
`matmul_shared.wgsl` (tiles in workgroup memory), each with variants; the target's tuning says
which. A product of great depth and few results is split along its depth, and the parts are added in
a fixed order, so that runs are reproducible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playgrad.devices.base import Target
from playgrad.ops.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    flat_index,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.lowering.register_tile import tile_code, tile_size
from playgrad.ops.templates import render

SHARED_RESULTS = 4
"""Rows and columns of results that one invocation makes in the shared-memory family."""


@dataclass(frozen=True)
class RegisterVariant:
    """Of the register family: the most rows and columns of a tile, invocations of a workgroup, and
    the workgroups that keep an adapter busy."""

    rows: int
    columns: int
    lanes: int
    groups: int


REGISTERS = {
    # A processor's: the width of its vectors, and about as much as its store of decoded
    # instructions holds (SwiftShader makes about 20 of a product and 100 of a load).
    "registers_12x8": RegisterVariant(12, 8, lanes=8, groups=16),
    # A GPU's: the width of its vectors, and few enough registers for several of them at a time.
    "registers_4x4": RegisterVariant(4, 4, lanes=64, groups=64),
}
SHARED_SIDES = {"shared_64": 16, "shared_32": 8}
"""Invocations along a side of a workgroup of the shared-memory family, at most."""


@dataclass(frozen=True)
class Product:
    """result[row, column] = sum over taps and depths of A * B; see common/product.wgsl."""

    rows: int
    columns: int
    depth: int
    rows_code: str
    a_step: int
    b_depth: int
    b_column: int
    taps: int = 1
    tap_columns: int = 1
    b_tap: int = 0
    batch: int = 1
    a_batch: int = 0
    b_batch: int = 0
    padded: bool = False
    places: int = 0
    place_step: int = 1

    def constants(self) -> dict[str, object]:
        """What common/product.wgsl asks for, save the grid and the store."""
        return {
            "ROWS": self.rows,
            "COLUMNS": self.columns,
            "TAPS": self.taps,
            "TAP_COLUMNS": self.tap_columns,
            "DEPTH": self.depth,
            "A_STEP": self.a_step,
            "A_BATCH": self.a_batch,
            "B_BATCH": self.b_batch,
            "B_TAP": self.b_tap,
            "B_DEPTH": self.b_depth,
            "B_COLUMN": self.b_column,
            "PADDED": self.padded,
            "PLACES": self.places or self.depth,
            "PLACE_STEP": self.place_step,
            "rows": self.rows_code,
        }


@dataclass(frozen=True)
class _Tiling:
    """How a product is cut: `constants` and `kernel` of its family, workgroups for the results of a
    batch item, splits of the depth, results that an invocation makes."""

    kernel: str
    constants: Mapping[str, object]
    groups: int
    splits: int
    results: int


def lower_product(
    request: KernelRequest,
    product: Product,
    name: str,
    params: Mapping[str, Any],
    operands: tuple[int, int] = (0, 1),
) -> Lowering:
    """The dispatches of `product`, whose A and B are the inputs numbered `operands`.

    `name` and `params` go into the plan, to say what the kernels do.
    """
    tuning = request.target.tuning
    variant = tuning.product if name == "matmul" else tuning.convolution
    if variant in REGISTERS:
        family, tiling = f"{name}_register", _register_tiling(product, REGISTERS[variant])
    else:
        side = SHARED_SIDES[variant]
        family, tiling = f"{name}_shared", _shared_tiling(product, request.target, side)
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
        steps=splits,
    )
    return Lowering((first, second), scratch=(4 * items * splits,))


def _product_call(
    request: KernelRequest,
    product: Product,
    tiling: _Tiling,
    family: str,
    params: Mapping[str, Any],
    store: str,
    bindings: tuple[Binding, ...],
) -> KernelCall:
    across, down, _ = grid(tiling.groups, 1, request.target.limits)
    code = render(
        tiling.kernel,
        **product.constants(),
        **tiling.constants,
        SPLITS=tiling.splits,
        GRID_X=across,
        store=store,
    )
    workgroups = (across, down, product.batch * tiling.splits)
    # An invocation keeps a tile of results, the depth is what it walks through.
    steps = -(-product.taps * product.depth // tiling.splits) * tiling.results
    return KernelCall(family, dict(params), code, bindings, workgroups, steps, tiling.results)


def _register_tiling(product: Product, variant: RegisterVariant) -> _Tiling:
    rows = tile_size(product.rows, variant.rows)
    columns = tile_size(product.columns, variant.columns)
    across = -(-product.columns // columns)
    tiles = across * -(-product.rows // rows)
    groups = -(-tiles // variant.lanes)
    steps = product.taps * product.depth
    splits = _splits(groups * product.batch, wanted=variant.groups, steps=steps, least=256)
    split_depth = product.taps == 1
    taps = product.taps if split_depth else -(-product.taps // splits)
    depth = -(-product.depth // splits) if split_depth else product.depth
    splits = -(-product.depth // depth) if split_depth else -(-product.taps // taps)
    constants = {
        "TILE_ROWS": rows,
        "TILE_COLUMNS": columns,
        "TILES_ACROSS": across,
        "TILES": tiles,
        "LANES": variant.lanes,
        "TAPS_PER_SPLIT": taps,
        "DEPTH_PER_SPLIT": depth,
        "SPLIT_DEPTH": split_depth,
        **tile_code(rows, columns, product.padded and product.place_step > 0),
    }
    return _Tiling("matmul_register.wgsl", constants, groups, splits, rows * columns)


def _shared_tiling(product: Product, target: Target, side: int) -> _Tiling:
    """Tiles of 4 x 4 results for `side` times `side` invocations, or as many as limits allow and
    the result can use.

    64 where limits allow that many: they fill the vectors of every GPU, and products of one size
    of workgroup can share a dispatch.
    """
    step = 16
    limits = target.limits
    while (
        side * side > limits.max_compute_invocations_per_workgroup
        or 2 * 4 * step * (SHARED_RESULTS * side + 1) > limits.max_compute_workgroup_storage_size
        or (side > 8 and _shared_groups(product, side) < 64)
    ):
        side //= 2
    tile = SHARED_RESULTS * side
    steps = product.taps * product.depth
    splits = _splits(_shared_groups(product, side), wanted=64, steps=steps, least=512)
    depth = step * -(-steps // (splits * step))
    constants = {
        "SIDE": side,
        "STEP": step,
        "DEPTH_PER_SPLIT": depth,
        "GROUP_COLUMNS": -(-product.columns // tile),
        "GROUPS": _shared_groups(product, side) // product.batch,
        "A_ALONG_DEPTH": product.a_step == 1,
        "B_ALONG_DEPTH": product.b_column != 1,
    }
    return _Tiling(
        "matmul_shared.wgsl",
        constants,
        _shared_groups(product, side) // product.batch,
        -(-steps // depth),
        SHARED_RESULTS**2,
    )


def _shared_groups(product: Product, side: int) -> int:
    tile = SHARED_RESULTS * side
    return -(-product.rows // tile) * -(-product.columns // tile) * product.batch


def _splits(groups: int, wanted: int, steps: int, least: int) -> int:
    """Parts to cut the depth into: for up to `wanted` workgroups, of `least` steps or more each."""
    return max(1, min(wanted // groups, steps // least))
