"""Where the values of a compiled step are: in a block that runs share, in an array of the run's
own, or in other arrays."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter

from playgrad.compiler.memory import Block, aligned, plan_memory
from playgrad.devices.kinds import CPU
from playgrad.graph.tensor import Tensor
from playgrad.runtime.interpreter import LARGEST
from playgrad.runtime.step_order import StepOrder

SMALL = 1 << 12
"""The most bytes of a constant that is copied into the constants of a module."""

MOST_PLANNED = 500
"""The most results that are placed by `plan_memory`."""


class Region(Enum):
    """What an offset counts in."""

    BLOCK = "bytes of the block"
    CONSTANT = "small constants"
    ARRAY = "arrays: the variables, then the fed tensors, then large constants"
    RESULTS = "bytes of the array after these, which each run has for itself"


@dataclass(frozen=True)
class ValuePlace:
    """The place of a value."""

    region: Region
    offset: int


@dataclass(frozen=True)
class Arena:
    """The places of all values of a step.

    Attributes:
        places: by the root of each tensor.
        variables: the names of the variables that the step reads or writes; the first arrays.
        fed: the fed tensors, the arrays after them.
        constants: the tensors of small constants.
        held: the tensors of large constants, the last arrays.
        size: the bytes of the block.
        results: the bytes of what each run returns in an array of its own.
        turned: the places in the block of transposed copies, by the roots of the originals.
    """

    places: dict[Tensor, ValuePlace]
    variables: list[str]
    fed: list[Tensor]
    constants: list[Tensor]
    held: list[Tensor]
    size: int
    results: int
    turned: dict[Tensor, int]

    @property
    def arrays(self) -> int:
        """The number of the array of results, the last one if there are any."""
        return len(self.variables) + len(self.fed) + len(self.held)


def plan_arena(
    step: StepOrder,
    fetches: Collection[Tensor],
    fed: Sequence[Tensor],
    reads: Sequence[Tensor],
    returns: bool = False,
) -> Arena:
    """Place the values of ``step``.

    Args:
        fed: the tensors that are fed, in order.
        reads: the tensors of constants that the step or its fetches need.
        returns: whether what outlives a run is in an array of the run's own.
    """
    names = dict.fromkeys([*step.variables.values(), *step.written])
    variables = list(names)
    numbers = {name: place for place, name in enumerate(variables)}
    places: dict[Tensor, ValuePlace] = {}
    for tensor, name in step.variables.items():
        places[tensor] = ValuePlace(Region.ARRAY, numbers[name])
    for place, tensor in enumerate(fed):
        places[tensor] = ValuePlace(Region.ARRAY, len(variables) + place)
    small = [tensor for tensor in reads if CPU.bytes_of(tensor.spec) <= SMALL]
    held = [tensor for tensor in reads if CPU.bytes_of(tensor.spec) > SMALL]
    for place, tensor in enumerate(held):
        places[tensor] = ValuePlace(Region.ARRAY, len(variables) + len(fed) + place)
    for number, tensor in enumerate(small):
        places[tensor] = ValuePlace(Region.CONSTANT, number)
    overwriting = {step.written[name]: numbers[name] for name in step.in_place}
    places |= {tensor: ValuePlace(Region.ARRAY, place) for tensor, place in overwriting.items()}
    sizes = _place_results(step, places, {step.root(tensor) for tensor in fetches}, returns)
    return Arena(places, variables, list(fed), small, held, *sizes)


def _place_results(
    step: StepOrder,
    places: dict[Tensor, ValuePlace],
    fetched: Collection[Tensor],
    returns: bool,
) -> tuple[int, int, dict[Tensor, int]]:
    """Place all results that have no place yet, and transposed copies.

    Returns:
        The bytes of the block, those of what a run returns, and the places of the copies.
    """
    nodes, layout = step.nodes, step.layout
    unplaced = layout.unplaced
    kept = {*fetched, *step.written.values()}
    blocks: dict[tuple[Tensor, bool], Block] = {}
    homes: dict[Tensor, tuple[Tensor, int]] = {}
    for now, node in enumerate(nodes):
        for tensor in layout.reads(node):
            if (root := step.root(tensor)) in homes:
                block = blocks[homes[root][0], False]
                block.last = max(block.last, now)
        if (factor := layout.turned_by(node)) is not None:
            block = Block(CPU.bytes_of(factor.spec), now, now)
            blocks.setdefault((factor, True), block).last = now
        for tensor in node.outputs:
            if tensor not in places and tensor not in unplaced:
                home, _ = homes[tensor] = layout.home(tensor)
                size = max(CPU.bytes_of(home.spec), 1)
                block = blocks.setdefault((home, False), Block(size, now, now))
                block.last = max(block.last, len(nodes) if tensor in kept else now)
    apart = [block for block in blocks.values() if returns and block.last == len(nodes)]
    results = 0
    for block in apart:
        block.offset, results = results, results + aligned(block.size)
    placed = [block for block in blocks.values() if not returns or block.last < len(nodes)]
    if len(placed) > MOST_PLANNED:
        size = place_in_order(placed)
    else:
        sizes = plan_memory(placed, LARGEST, min_arenas=1)
        starts = [sum(sizes[:number]) for number in range(len(sizes))]
        for block in placed:
            block.offset += starts[block.arena]
        size = sum(sizes)
    for tensor, (home, before) in homes.items():
        block = blocks[home, False]
        region = Region.RESULTS if returns and block.last == len(nodes) else Region.BLOCK
        places[tensor] = ValuePlace(region, block.offset + before)
    copies = {tensor: blocks[tensor, True].offset for tensor, turned in blocks if turned}
    return size, results, copies


def place_in_order(blocks: Sequence[Block]) -> int:
    """Place blocks, in the order of their first use, each in the smallest gap that is large enough;
    return the bytes that they take.

    Faster than `plan_memory`, whose time grows with the square of the number of blocks, but it may
    take some more memory.
    """
    dying: dict[int, list[Block]] = {}
    gaps: list[tuple[int, int]] = []  # offset and size, by offset
    end = now = 0
    for block in blocks:
        while now < block.first:
            for other in dying.pop(now, ()):
                _free(gaps, other.offset, aligned(other.size))
            now += 1
        size = aligned(block.size)
        fitting = [gap for gap in gaps if gap[1] >= size]
        if fitting:
            offset, room = min(fitting, key=itemgetter(1))
            gaps.remove((offset, room))
            if room > size:
                insort(gaps, (offset + size, room - size))
        else:
            offset = end
            if gaps and sum(gaps[-1]) == end:  # grow the last one
                offset = gaps.pop()[0]
            end = offset + size
        block.offset = offset
        dying.setdefault(block.last, []).append(block)
    return end


def _free(gaps: list[tuple[int, int]], offset: int, size: int) -> None:
    """Add a gap, joined with the gaps beside it."""
    place = bisect_left(gaps, (offset, 0))
    if place < len(gaps) and gaps[place][0] == offset + size:
        size += gaps.pop(place)[1]
    if place and sum(gaps[place - 1]) == offset:
        before, room = gaps.pop(place - 1)
        offset, size = before, size + room
    insort(gaps, (offset, size))
