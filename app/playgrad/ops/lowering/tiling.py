"""The division of a product into tiles, one for each invocation, and of its depth into splits.

There are three kernel families here: ``matmul_register.wgsl`` (a tile in registers, no barriers),
``matmul_quads.wgsl`` (the same, for adapters on which groups of four invocations can read each
other's values) and ``matmul_shared.wgsl`` (tiles in workgroup memory). ``block_tiling.py`` has a
fourth. Each has variants, of which the target's tuning names one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playgrad.devices.target import Target
from playgrad.ops.core.loops import Loop, nested, rounds
from playgrad.ops.lowering.quad_tile import quad_code
from playgrad.ops.lowering.register_tile import tile_code, tile_size

SHARED_RESULTS = 4
"""Rows and columns of results of one invocation in the shared-memory family."""


@dataclass(frozen=True)
class RegisterVariant:
    """A variant of the register family.

    Attributes:
        rows, columns: the largest size of a tile.
        invocations: the size of a workgroup.
        groups: the number of workgroups that keeps an adapter busy.
    """

    rows: int
    columns: int
    invocations: int
    groups: int


REGISTERS = {
    # For processors: 8 is the width of a vector, and the loop just fits the cache of decoded
    # instructions (SwiftShader makes about 20 instructions of a product and 100 of a load).
    "registers_12x8": RegisterVariant(12, 8, invocations=8, groups=16),
    # For GPUs: 64 is the width of a vector, and a tile leaves registers for several at a time.
    "registers_4x4": RegisterVariant(4, 4, invocations=64, groups=64),
}
QUADS = "quads_8x8"
QUAD_SIDE = 8
"""The most rows and columns of results of one invocation of a quad."""
QUAD_GROUPS = 32
"""Quads that keep an adapter busy."""
QUADS_FROM = 1 << 20
"""Products of fewer multiplications use the tiles of `WITHOUT_QUADS`. Those may share a dispatch
with other kernels (`compiler/dispatch_groups.py`), which saves a small product more than quads."""
QUAD_WASTE = 1.1
"""The largest permitted ratio of the area of all tiles to the area of the result."""
WITHOUT_QUADS = "registers_12x8"
SHARED_SIDES = {"shared_64": 16, "shared_32": 8}
"""The most invocations along a side of a workgroup of the shared-memory family."""


@dataclass(frozen=True)
class Product:
    """result[row, column] = sum over taps and depths of A * B; see ``common/product.wgsl``.

    Attributes:
        a_run: a number of elements of A that always are adjacent in memory, counted from a multiple
            of it: along the depth where ``a_step`` is 1, otherwise along rows.
    """

    rows: int
    columns: int
    depth: int
    rows_code: str
    a_step: int
    a_run: int
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
        """Return the constants of ``common/product.wgsl``, except for the grid and the store."""
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
    """The division of a product for the kernel ``matmul_<family>.wgsl``.

    Attributes:
        constants: the constants of that kernel.
        groups: the number of workgroups for the results of one batch item.
        splits: the number of parts of the depth.
        results: the number of results of an invocation.
        loops: the loops of an invocation.
        slices: the number of parts of a workgroup that share the depth.
        wide: whether the kernel binds A and B as vectors of four elements.
    """

    family: str
    constants: Mapping[str, object]
    groups: int
    splits: int
    results: int
    loops: tuple[Loop, ...]
    slices: int = 1
    wide: tuple[bool, bool] = (False, False)


def tile(product: Product, variant: str, target: Target) -> Tiling:
    """Return the tiling of ``product`` for ``variant``, one of ``devices.tuning.PRODUCTS``."""
    if variant == QUADS:
        if _suits_quads(product):
            return _quad_tiling(product, target)
        variant = WITHOUT_QUADS
    if variant in REGISTERS:
        return _register_tiling(product, REGISTERS[variant], target)
    return _shared_tiling(product, target, SHARED_SIDES[variant])


def _register_tiling(product: Product, variant: RegisterVariant, target: Target) -> Tiling:
    rows = tile_size(product.rows, variant.rows)
    columns = tile_size(product.columns, variant.columns)
    across = -(-product.columns // columns)
    tiles = across * -(-product.rows // rows)
    groups = -(-tiles // variant.invocations)
    splits, parts, loop = _parts(product, groups, variant.groups, target)
    constants = {
        "TILE_ROWS": rows,
        "TILE_COLUMNS": columns,
        "TILES_ACROSS": across,
        "TILES": tiles,
        "INVOCATIONS": variant.invocations,
        **parts,
        **tile_code(rows, columns, product.padded and product.place_step > 0),
    }
    loops = loop, Loop(rows * columns)
    return Tiling("register", constants, groups, splits, rows * columns, loops)


def _suits_quads(product: Product) -> bool:
    """Return whether ``product`` is large enough and quads cover its result without much waste."""
    results = product.rows * product.columns
    down, rows = _quads(product.rows)
    across, columns = _quads(product.columns)
    covered = 4 * down * rows * across * columns
    heavy = results * product.batch * product.taps * product.depth > QUADS_FROM
    return heavy and min(rows, columns) >= 4 and covered <= QUAD_WASTE * results


def _quads(size: int) -> tuple[int, int]:
    """Return the number of quads along ``size`` rows or columns, and the size of their tiles.

    The latter is even, so that two invocations can load one half each.
    """
    count = -(-size // (2 * QUAD_SIDE))
    return count, 2 * -(-size // (4 * count))


def _quad_tiling(product: Product, target: Target) -> Tiling:
    down, rows = _quads(product.rows)
    across, columns = _quads(product.columns)
    # Two depths per iteration: the overhead of an iteration is that of two products. With more, the
    # loop no longer fits the processor's cache of decoded instructions.
    unrolled = 2 if product.depth % 2 == 0 else 1
    splits, parts, loop = _parts(product, down * across, QUAD_GROUPS, target, unrolled)
    constants = {
        "TILE_ROWS": rows,
        "TILE_COLUMNS": columns,
        "QUADS_ACROSS": across,
        "UNROLLED": unrolled,
        **parts,
        **quad_code(rows, columns, unrolled, product.padded and product.place_step > 0),
    }
    loops = loop, Loop(rows * columns)
    return Tiling("quads", constants, down * across, splits, rows * columns, loops)


def _parts(
    product: Product, groups: int, busy: int, target: Target, unrolled: int = 1
) -> tuple[int, dict[str, object], Loop]:
    """Return the number of splits, the constants that give the taps or depths of a split, and the
    loop over them.

    Args:
        groups: the number of workgroups for a batch item without splits.
        busy: the number of workgroups that keeps an adapter busy.
        unrolled: the number of depths in an iteration, of which a split has a multiple.
    """
    full_depth = product.taps * product.depth
    if not full_depth:  # all results are sums of nothing
        constants: dict[str, object] = {"TAPS_PER_SPLIT": 0, "DEPTH_PER_SPLIT": 0}
        return 1, {**constants, "SPLIT_DEPTH": product.taps == 1}, Loop(0)
    splits = _splits(groups * product.batch, busy=busy, full_depth=full_depth, least=256)
    whole = nested(product.taps, -(-product.depth // unrolled))
    splits = max(splits, least_splits((whole,), target.loop_rounds))
    split_depth = product.taps == 1
    taps = product.taps if split_depth else -(-product.taps // splits)
    depth = product.depth
    if split_depth:
        depth = unrolled * -(-product.depth // (splits * unrolled))
    splits = -(-product.depth // depth) if split_depth else -(-product.taps // taps)
    constants = {"TAPS_PER_SPLIT": taps, "DEPTH_PER_SPLIT": depth, "SPLIT_DEPTH": split_depth}
    return splits, constants, nested(taps, -(-depth // unrolled))


def _shared_tiling(product: Product, target: Target, side: int) -> Tiling:
    """Return a tiling with ``side`` times ``side`` invocations, or fewer, of 4 x 4 results each.

    ``side`` is halved until limits allow it and the result keeps an adapter busy, but not below 8
    for the latter: 64 invocations fill the vectors of every GPU, and products with workgroups of
    one size can share a dispatch.
    """
    staged = 16  # depths that a workgroup loads at a time
    limits = target.limits
    while (
        side * side > limits.max_compute_invocations_per_workgroup
        or 2 * 4 * staged * (SHARED_RESULTS * side + 1) > limits.max_compute_workgroup_storage_size
        or (side > 8 and _shared_groups(product, side) < 64)
    ):
        side //= 2
    tile = SHARED_RESULTS * side
    full_depth = product.taps * product.depth
    groups = _shared_groups(product, side)
    splits = _splits(groups, busy=64, full_depth=full_depth, least=512)
    loads = tile * staged // side**2
    splits = max(splits, least_splits((_steps(full_depth, staged, loads),), target.loop_rounds))
    depth = staged * -(-full_depth // (splits * staged))
    constants = {
        "SIDE": side,
        "STEP": staged,
        "DEPTH_PER_SPLIT": depth,
        "GROUP_COLUMNS": -(-product.columns // tile),
        "GROUPS": groups // product.batch,
        "A_ALONG_DEPTH": product.a_step == 1,
        "B_ALONG_DEPTH": product.b_column != 1,
    }
    return Tiling(
        "shared",
        constants,
        groups // product.batch,
        -(-full_depth // depth) if depth else 1,
        SHARED_RESULTS**2,
        (_steps(depth, staged, loads), *(Loop(SHARED_RESULTS),) * SHARED_RESULTS),
    )


def _steps(depth: int, staged: int, loads: int) -> Loop:
    """Return the loop over depths, ``staged`` at a time: to load them, and to multiply."""
    return Loop(-(-depth // staged), (Loop(loads), Loop(staged)))


def least_splits(loops: tuple[Loop, ...], most: int | None) -> int:
    """Return the splits of ``loops`` with which the driver does not end them early.

    Args:
        most: the rounds after which it would; None for no limit.
    """
    needed = rounds(loops)
    return 1 if most is None or needed <= most else -(-needed // (most // 2))


def _shared_groups(product: Product, side: int) -> int:
    """Return the number of workgroups for all batch items without splits."""
    tile = SHARED_RESULTS * side
    return -(-product.rows // tile) * -(-product.columns // tile) * product.batch


def _splits(groups: int, busy: int, full_depth: int, least: int) -> int:
    """Return the splits that make ``busy`` workgroups of ``groups``, with a depth of ``least``."""
    return max(1, min(busy // groups, full_depth // least))
