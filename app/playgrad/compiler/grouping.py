"""Puts dispatches into batches, in an order that keeps each after those whose results it needs."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.compiler.dispatch_groups import Batch, Strand, is_little
from playgrad.compiler.dispatches import Dispatch, Place
from playgrad.compiler.memory import Block
from playgrad.devices.base import Target

HORIZON = 32
"""Batches, from the last one back, that a dispatch may join: what it makes lives from then on."""

Key = Place | int


def schedule(dispatches: Sequence[Dispatch], target: Target) -> list[Batch]:
    """``dispatches`` in batches, each after those whose results it needs.

    Greedy, in the given order: a dispatch joins a chain that it needs, else the first batch after
    all that it needs which takes it.
    """
    batches: list[Batch] = []
    place: dict[int, int] = {}  # number of a dispatch -> its batch
    uses = _Uses()
    for number, dispatch in enumerate(dispatches):
        needed = uses.before(dispatch)
        last = max((place[other] for other in needed), default=-1)
        close = [dispatches[other] for other in needed if place[other] == last]
        chains = _chains(batches[last], dispatch, close) if close else []
        if chains and batches[last].fits(dispatch, chains):
            place[number] = last
        else:
            chains = []
            later = range(max(last + 1, len(batches) - HORIZON), len(batches))
            fitting = (i for i in later if batches[i].fits(dispatch))
            place[number] = next(fitting, len(batches))
            if place[number] == len(batches):
                batches.append(Batch(target))
        batches[place[number]].add(dispatch, chains)
        uses.add(number, dispatch)
    return batches


def alone(dispatch: Dispatch, target: Target) -> Batch:
    """A batch of one."""
    batch = Batch(target)
    batch.add(dispatch)
    return batch


def set_lifetimes(blocks: Sequence[Block], batches: Sequence[Batch]) -> None:
    """Say of each block from which batch to which it is needed, and what it must lie apart from.

    The members of a batch run at the same time, hence all that they touch lives during all of it.
    """
    for block in blocks:
        block.first, block.last = len(batches), -1
        block.apart.clear()
    for now, batch in enumerate(batches):
        for member in batch.members:
            reads, writes = (
                {s.block for s, written in member.operands if written == wanted and s.block >= 0}
                for wanted in (False, True)
            )
            for number in reads | writes:
                block = blocks[number]
                block.first, block.last = min(block.first, now), max(block.last, now)
                block.apart |= writes if number in reads else reads


def _chains(batch: Batch, dispatch: Dispatch, needed: Sequence[Dispatch]) -> list[Strand]:
    """The strands that ``dispatch`` needs, if it can be done after them by their workgroup."""
    strands = [s for s in batch.strands if any(member in needed for member in s.members)]
    fitting = is_little(dispatch) and all(strand.is_little for strand in strands)
    return strands if fitting else []


class _Uses:
    """Who wrote each storage last, and who has read it since."""

    def __init__(self) -> None:
        self.writer: dict[Key, int] = {}
        self.readers: dict[Key, list[int]] = {}

    def before(self, dispatch: Dispatch) -> set[int]:
        """The dispatches that must have ended before ``dispatch`` begins."""
        found: set[int] = set()
        for storage, written in dispatch.operands:
            if storage.key in self.writer:
                found.add(self.writer[storage.key])
            if written:
                found.update(self.readers.get(storage.key, ()))
        return found

    def add(self, number: int, dispatch: Dispatch) -> None:
        for storage, written in dispatch.operands:
            if written:
                self.writer[storage.key] = number
                self.readers[storage.key] = []
            else:
                self.readers.setdefault(storage.key, []).append(number)
