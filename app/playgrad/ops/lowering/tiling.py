"""How a product is cut into tiles, one for each invocation, and its depth into parts.

There are three families: `matmul_register.wgsl` (a tile in registers, no barriers),
`matmul_quads.wgsl` (the same, for invocations that in fours see each other's values) and
`matmul_shared.wgsl` (tiles in workgroup memory), with variants; the target's tuning says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playgrad.devices.target import Target
from playgrad.ops.lowering.quad_tile import quad_code
from playgrad.ops.lowering.register_tile import tile_code, tile_size

SHARED_RESULTS = 4
"""Rows and columns of results that one invocation makes in the shared-memory family."""


@dataclass(frozen=True)
class RegisterVariant:
    """Of the register family: the most rows and columns of a tile, invocations of a workgroup, and
    the workgroups that keep an adapter busy."""

    rows: int
    columns: int
    invocations: int
    groups: int


REGISTERS = {
    # A processor's: the width of its vectors, and about as much as its store of decoded
    # instructions holds (SwiftShader makes about 20 of a product and 100 of a load).
    "registers_12x8": RegisterVariant(12, 8, invocations=8, groups=16),
    # A GPU's: the width of its vectors, and few enough registers for several of them at a time.
    "registers_4x4": RegisterVariant(4, 4, invocations=64, groups=64),
}
QUADS = "quads_8x8"
QUAD_SIDE = 8
"""Rows and columns of results that one of four invocations makes, at most."""
QUAD_GROUPS = 32
"""Quads that keep an adapter busy."""
QUADS_FROM = 1 << 20
"""Products of fewer rounds than this are tiles of `WITHOUT_QUADS`: those may share a dispatch with
others, and a light one gains less from its kernel than from that
(`compiler/dispatch_groups.py`)."""
QUAD_WASTE = 1.1
"""How much larger than the result all tiles together may be."""
WITHOUT_QUADS = "registers_12x8"
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
class Tiling:
    """How a product is cut: its `family`, of the kernel `matmul_<family>.wgsl`, the `constants` of
    that, workgroups for the results of a batch item, splits of the depth, results that an
    invocation makes."""

    family: str
    constants: Mapping[str, object]
    groups: int
    splits: int
    results: int


def tile(product: Product, variant: str, target: Target) -> Tiling:
    """How `product` is cut for `variant`, one of `playgrad.devices.tuning.PRODUCTS`."""
    if variant == QUADS:
        if _suits_quads(product):
            return _quad_tiling(product)
        variant = WITHOUT_QUADS
    if variant in REGISTERS:
        return _register_tiling(product, REGISTERS[variant])
    return _shared_tiling(product, target, SHARED_SIDES[variant])


def _register_tiling(product: Product, variant: RegisterVariant) -> Tiling:
    rows = tile_size(product.rows, variant.rows)
    columns = tile_size(product.columns, variant.columns)
    across = -(-product.columns // columns)
    tiles = across * -(-product.rows // rows)
    groups = -(-tiles // variant.invocations)
    splits, parts = _parts(product, groups, variant.groups)
    constants = {
        "TILE_ROWS": rows,
        "TILE_COLUMNS": columns,
        "TILES_ACROSS": across,
        "TILES": tiles,
        "INVOCATIONS": variant.invocations,
        **parts,
        **tile_code(rows, columns, product.padded and product.place_step > 0),
    }
    return Tiling("register", constants, groups, splits, rows * columns)


def _suits_quads(product: Product) -> bool:
    """Whether it is long enough, and quads of tiles cover its result without much waste."""
    results = product.rows * product.columns
    down, rows = _quads(product.rows)
    across, columns = _quads(product.columns)
    covered = 4 * down * rows * across * columns
    heavy = results * product.batch * product.taps * product.depth > QUADS_FROM
    return heavy and min(rows, columns) >= 4 and covered <= QUAD_WASTE * results


def _quads(size: int) -> tuple[int, int]:
    """Quads along ``size`` rows or columns of the result, and those of each of their tiles: an even
    number, so that two invocations can load one half each."""
    count = -(-size // (2 * QUAD_SIDE))
    return count, 2 * -(-size // (4 * count))


def _quad_tiling(product: Product) -> Tiling:
    down, rows = _quads(product.rows)
    across, columns = _quads(product.columns)
    # Two depths a round: what a loop carries round costs as much as two products. More, and the
    # loop outgrows the processor's store of decoded instructions.
    unrolled = 2 if product.depth % 2 == 0 else 1
    splits, parts = _parts(product, down * across, QUAD_GROUPS, unrolled)
    constants = {
        "TILE_ROWS": rows,
        "TILE_COLUMNS": columns,
        "QUADS_ACROSS": across,
        "UNROLLED": unrolled,
        **parts,
        **quad_code(rows, columns, unrolled, product.padded and product.place_step > 0),
    }
    return Tiling("quads", constants, down * across, splits, rows * columns)


def _parts(
    product: Product, groups: int, wanted: int, unrolled: int = 1
) -> tuple[int, dict[str, object]]:
    """Splits for ``groups`` workgroups a batch item, of which ``wanted`` keep an adapter busy, and
    the constants that say what a split does: so many taps, or depths in rounds of ``unrolled``."""
    steps = product.taps * product.depth
    splits = _splits(groups * product.batch, wanted=wanted, steps=steps, least=256)
    split_depth = product.taps == 1
    taps = product.taps if split_depth else -(-product.taps // splits)
    depth = product.depth
    if split_depth:
        depth = unrolled * -(-product.depth // (splits * unrolled))
    splits = -(-product.depth // depth) if split_depth else -(-product.taps // taps)
    return splits, {
        "TAPS_PER_SPLIT": taps,
        "DEPTH_PER_SPLIT": depth,
        "SPLIT_DEPTH": split_depth,
    }


def _shared_tiling(product: Product, target: Target, side: int) -> Tiling:
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
    return Tiling(
        "shared",
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
