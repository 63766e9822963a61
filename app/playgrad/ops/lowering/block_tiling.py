"""The tiles of matmul_blocks.wgsl, and the choice of one for a product by its shape.

A large tile reads least, but a small product has few of them, and processors without a tile idle.
So the choice is made by an estimate of the time, for an assumed number of processors: how many
rounds an invocation runs, with a smaller tile, with slices of a workgroup that share the depth, or
with splits of the depth whose sums a second dispatch adds. Either adds in a fixed order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, prod

from playgrad.devices.target import Limits, Target
from playgrad.ops.core.loops import Loop, rounds
from playgrad.ops.lowering.block_tile import BlockTile, operand_code, tile_code
from playgrad.ops.lowering.tiling import Product, Tiling, least_splits

RESIDENT = 256
"""Invocations that keep a processor busy."""
STAGED_LOAD = 4
"""Multiplications that take as long as a load of four elements from workgroup memory."""
GLOBAL_LOAD = 4
"""Multiplications that take as long as a load of an element from a buffer."""
BARRIER = 40
"""Multiplications that take as long as a barrier."""
DISPATCH = 10_000
"""Multiplications of an invocation in the time of a dispatch that waits for another: 10 µs."""
APART = 4000
"""The same for a small product with a workgroup that is not of `SHARING` invocations: so the kernel
does not share a dispatch with others."""
SHARING = 64
SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
LEAST_DEPTH = 128
"""The least depth of a split. A shorter one costs more to add than to compute."""
WIDE_FROM = 1 << 26
"""A product of so many multiplications stays alone (`compiler/dispatch_groups.py`). So its operands
can be bound as vectors, which a merged kernel cannot do."""


SMALL = (BlockTile(32, 32, 4, 4, 16, (1, 4)), BlockTile(16, 16, 4, 4, 8, (4, 16)))
"""Tiles for few results. Workgroups of 64 invocations can share a dispatch with other kernels."""


@dataclass(frozen=True)
class BlockVariant:
    """A variant: the tiles to choose from, and the number of processors to keep busy.

    ``processors`` is an assumption, as WebGPU does not tell; the tuner compares variants.
    """

    tiles: tuple[BlockTile, ...]
    processors: int


BLOCKS = {
    "blocks_8x8": BlockVariant(
        (BlockTile(128, 128, 8, 8, 16), BlockTile(64, 64, 8, 8, 16), *SMALL), processors=128
    ),
    "blocks_8x8_ahead": BlockVariant(
        (
            BlockTile(128, 128, 8, 8, 8, ahead=True),
            BlockTile(64, 64, 8, 8, 16, ahead=True),
            *SMALL,
        ),
        processors=128,
    ),
    "blocks_8x4": BlockVariant(
        (BlockTile(128, 64, 8, 4, 16), BlockTile(64, 64, 8, 4, 16), *SMALL), processors=128
    ),
    "blocks_4x4": BlockVariant((BlockTile(64, 64, 4, 4, 32), *SMALL), processors=128),
    "blocks_8x4_few": BlockVariant(
        (BlockTile(128, 64, 8, 4, 16), BlockTile(64, 64, 8, 4, 16), *SMALL), processors=16
    ),
}
"""By name, as in `devices.tuning.PRODUCTS`."""


@dataclass(frozen=True)
class BlockChoice:
    """A tile for a product, with slices of a workgroup and splits among workgroups."""

    tile: BlockTile
    slices: int
    splits: int

    def depth(self, full_depth: int) -> int:
        """Return the depth of a split: whole rounds."""
        together = self.tile.step * self.slices
        return together * ceil(full_depth / (self.splits * together))

    def loops(self, full_depth: int) -> tuple[Loop, ...]:
        """Return the loops of an invocation."""
        tile = self.tile
        steps = ceil(self.depth(full_depth) / (tile.step * self.slices))
        results = (Loop(self.slices),) if self.slices > 1 else ()
        return (
            Loop(steps, (Loop(tile.step),)),
            Loop(tile.results // 4, (*results, Loop(4))),
        )

    def cost(self, rows: int, columns: int, batch: int, full_depth: int, processors: int) -> float:
        """Return the estimated time, in multiplications of an invocation."""
        tile = self.tile
        groups = tile.tiles(rows, columns) * batch * self.splits
        at_once = processors * max(1, RESIDENT // (tile.threads * self.slices))
        loads = STAGED_LOAD * (tile.thread_rows + tile.thread_columns) / 4
        loads += GLOBAL_LOAD * (tile.rows + tile.columns) / tile.threads
        depth = self.depth(full_depth) / self.slices
        steps = depth / tile.step + (tile.results / 4 if self.slices > 1 else 0)
        each = depth * (tile.results + loads) + 2 * BARRIER * steps
        cost = ceil(groups / at_once) * each
        is_small = rows * columns * batch * full_depth <= WIDE_FROM
        if is_small and tile.threads * self.slices != SHARING:
            cost += APART
        if self.splits > 1:
            partial = rows * columns * batch * self.splits
            cost += DISPATCH + 2 * GLOBAL_LOAD * partial / (processors * RESIDENT)
        return cost


def block_tiling(
    product: Product, variant: str, target: Target, may_be_wide: bool, half: tuple[bool, bool]
) -> Tiling:
    """Return the tiling of ``product`` for a variant of `BLOCKS`.

    Args:
        may_be_wide: whether a large product may bind its operands as vectors.
        half: whether A and B are float16.
    """
    full_depth = product.taps * product.depth
    size = (product.rows, product.columns, product.batch, full_depth)
    choice = choose_blocks(*size, variant, target.limits, target.loop_rounds)
    tile, slices = choice.tile, choice.slices
    depth = choice.depth(full_depth)
    is_wide = may_be_wide and prod(size) > WIDE_FROM
    along_a, along_b = product.a_step == 1, product.b_column != 1
    quads_a = product.a_run % 4 == 0
    quads_b = (product.depth if along_b else product.columns) % 4 == 0
    groups = tile.tiles(product.rows, product.columns)
    constants = {
        "GROUP_COLUMNS": ceil(product.columns / tile.columns),
        "GROUPS": groups,
        "TILE_ROWS": tile.rows,
        "TILE_COLUMNS": tile.columns,
        "THREADS_DOWN": tile.rows // tile.thread_rows,
        "THREADS_ACROSS": tile.columns // tile.thread_columns,
        "SLICES": slices,
        "STEP": tile.step,
        "RESULT_QUADS": tile.thread_columns // 4,
        "RESULTS": tile.results // 4,
        "INVOCATIONS": tile.threads * slices,
        "DEPTH_PER_SPLIT": depth,
        "A_ALONG_DEPTH": along_a,
        "B_ALONG_DEPTH": along_b,
        "A_QUADS": quads_a,
        "B_QUADS": quads_b,
        "LAST_ROW_QUAD": max(product.rows - 4, 0),
        "LAST_COLUMN_QUAD": max(product.columns - 4, 0),
        "STAGED_A": slices * tile.step * tile.rows // 4,
        "STAGED_B": slices * tile.step * tile.columns // 4,
        **operand_code("a", quads_a and is_wide, half[0]),
        **operand_code("b", quads_b and is_wide, half[1]),
        **tile_code(tile, slices),
    }
    return Tiling(
        "blocks",
        constants,
        groups,
        ceil(full_depth / depth) if depth else 1,
        tile.results,
        choice.loops(full_depth),
        slices=slices,
        wide=(quads_a and is_wide, quads_b and is_wide),
    )


@lru_cache(maxsize=1024)
def choose_blocks(
    rows: int,
    columns: int,
    batch: int,
    full_depth: int,
    variant: str,
    limits: Limits,
    loop_rounds: int | None,
) -> BlockChoice:
    """Return the tile, slices and splits of the least estimated time.

    Args:
        loop_rounds: the most rounds of loops of an invocation; None for no limit.
    """
    processors = BLOCKS[variant].processors

    def cost(choice: BlockChoice) -> float:
        return choice.cost(rows, columns, batch, full_depth, processors)

    return min(possible_choices(BLOCKS[variant], full_depth, limits, loop_rounds), key=cost)


def possible_choices(
    variant: BlockVariant, full_depth: int, limits: Limits, loop_rounds: int | None
) -> Iterator[BlockChoice]:
    """Yield what the limits allow; there is always something, as WebGPU guarantees limits."""
    for tile in variant.tiles:
        for slices in tile.slices:
            if tile.storage(slices) > limits.max_compute_workgroup_storage_size:
                continue
            if tile.threads * slices > limits.max_compute_invocations_per_workgroup:
                continue
            whole = BlockChoice(tile, slices, 1)
            if rounds(whole.loops(full_depth)) > (loop_rounds or float("inf")):
                yield BlockChoice(tile, slices, least_splits(whole.loops(full_depth), loop_rounds))
                continue
            for splits in SPLITS:
                if splits == 1 or full_depth >= splits * LEAST_DEPTH:
                    yield BlockChoice(tile, slices, splits)
