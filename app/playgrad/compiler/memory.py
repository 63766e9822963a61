"""Memory planning: places the temporaries of a Plan in arenas, so that memory is reused.

Within one dispatch WebGPU forbids binding a buffer both for reading and for writing, even in
disjoint ranges. So there are several arenas: a dispatch reads from one and writes to another.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

ALIGNMENT = 256


def aligned(size: int) -> int:
    """Return ``size`` rounded up to the alignment of bindings."""
    return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass
class Block:
    """A temporary.

    Attributes:
        size: in bytes.
        first, last: the first and last dispatch group that needs it; it is unused if ``first`` is
            after ``last``.
        apart: numbers of blocks that must lie in another arena.
        arena, offset: its place, set by `plan_memory`.
    """

    size: int
    first: int
    last: int
    apart: set[int] = field(default_factory=set)
    arena: int = -1
    offset: int = 0

    def overlaps(self, other: Block) -> bool:
        """Return whether both are needed at some time."""
        return self.first <= other.last and other.first <= self.last


def plan_memory(
    blocks: Sequence[Block], max_arena: int, reuse: bool = True, min_arenas: int = 2
) -> list[int]:
    """Place every block, and return the size of each arena in bytes.

    Greedy by size, largest first: each block goes to the lowest free offset of the arena that
    grows least (Pisarchyk and Lee 2020, *Efficient Memory Management for Deep Neural Net
    Inference*).

    Args:
        max_arena: largest size of an arena in bytes.
        reuse: False places blocks without overlap, for comparison.
        min_arenas: number of arenas to open before one grows.
    """
    arenas: list[list[Block]] = []
    sizes: list[int] = []
    needed = [block for block in blocks if block.first <= block.last]
    for block in sorted(needed, key=lambda block: (-block.size, block.first)):
        apart = {blocks[i].arena for i in block.apart}
        best: tuple[int, int, int] | None = None
        for number, placed in enumerate(arenas):
            if number in apart:
                continue
            rivals = [other for other in placed if other.overlaps(block)] if reuse else placed
            offset = _lowest_gap(rivals, block.size)
            growth = max(0, offset + aligned(block.size) - sizes[number])
            if offset + block.size <= max_arena and (best is None or growth < best[0]):
                best = (growth, number, offset)
        if best is None or (best[0] >= aligned(block.size) and len(arenas) < min_arenas):
            arenas.append([])
            sizes.append(0)
            best = (aligned(block.size), len(arenas) - 1, 0)
        _, block.arena, block.offset = best
        insort(arenas[block.arena], block, key=_offset)
        sizes[block.arena] = max(sizes[block.arena], block.offset + aligned(block.size))
    return sizes


_offset = attrgetter("offset")


def _lowest_gap(rivals: Sequence[Block], size: int) -> int:
    """Return the lowest offset with room for ``size`` bytes beside ``rivals``, in order."""
    offset = 0
    for other in rivals:
        if other.offset - offset >= size:
            break
        offset = max(offset, other.offset + aligned(other.size))
    return offset
