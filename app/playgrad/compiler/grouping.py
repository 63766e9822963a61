"""Collects dispatches into groups, each after the groups whose results it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from playgrad.compiler.dispatch_groups import DispatchGroup, Strand, is_small
from playgrad.compiler.dispatches import Dispatch
from playgrad.compiler.memory import Block
from playgrad.compiler.steps import Place, Storage
from playgrad.devices.target import Target
from playgrad.graph.tensor import Node
from playgrad.ops.core.kernel import Binding

HORIZON = 32
"""Number of groups, from the last one back, that a dispatch may join. What it writes occupies
memory from there on."""

MAX_COPIES = 32
MAX_TILE_COPIES = 6
"""The number of dispatches with the same code, without and with a tile of results, above which
they stay out of groups. A group's kernel contains the code of each member, and adapters compile
kernels in more than linear time, but the code of separate dispatches only once."""

COPIES_TOGETHER = 32
"""Maximum number of copies in a group of their own. Each takes a line of its kernel's text."""

Key = Place | int


def group_dispatches(dispatches: Sequence[Dispatch], target: Target) -> list[DispatchGroup]:
    """Return ``dispatches`` in groups, each after the groups whose results it needs.

    Greedy, in the given order: a dispatch joins a chain whose result it needs, else the first
    group after all that it needs with room for it. Code that is repeated often stays out of groups
    with other code, so that compiling a deep network takes no longer than a shallow one. On
    hardware, copies of it form groups of their own, whose kernels have it once.
    """
    repeated = _repeated_code(dispatches)
    groups: list[DispatchGroup] = []
    copied: list[str | None] = []  # by group: the code of its members if that is repeated
    group_of: dict[int, int] = {}  # by number of the dispatch
    uses = _Uses(target)
    for number, dispatch in enumerate(dispatches):
        code = dispatch.call.code if dispatch.call.code in repeated else None
        if code is not None and target.is_software:
            group_of[number] = len(groups)
            groups.append(group_of_one(dispatch, target))
            copied.append(code)
            uses.add(number, dispatch)
            continue
        needed = uses.before(dispatch)
        last = max((group_of[other] for other in needed), default=-1)
        close = [dispatches[other] for other in needed if group_of[other] == last]
        chains = _chains(groups[last], dispatch, close) if close and code is None else []
        if chains and copied[last] is None and groups[last].fits(dispatch, chains):
            group_of[number] = last
        else:
            chains = []
            later = range(max(last + 1, len(groups) - HORIZON), len(groups))
            fitting = (
                i
                for i in later
                if copied[i] == code
                and (code is None or groups[i].count < COPIES_TOGETHER)
                and groups[i].fits(dispatch)
            )
            group_of[number] = next(fitting, len(groups))
            if group_of[number] == len(groups):
                groups.append(DispatchGroup(target))
                copied.append(code)
        groups[group_of[number]].add(dispatch, chains)
        uses.add(number, dispatch)
    return groups


def group_of_one(dispatch: Dispatch, target: Target) -> DispatchGroup:
    """A group with ``dispatch`` as its only member; no other may join."""
    group = DispatchGroup(target)
    group.add(dispatch)
    group.is_closed = True
    return group


def set_lifetimes(blocks: Sequence[Block], groups: Sequence[DispatchGroup]) -> None:
    """Set the first and last group that needs each block, and the blocks it must lie apart from.

    The members of a group run at the same time, so all blocks that they touch live during all of
    it.
    """
    for block in blocks:
        block.first, block.last = len(groups), -1
        block.apart.clear()
    for now, group in enumerate(groups):
        for member in group.members:
            temporaries = [(s.block, written) for s, written in member.operands if s.block >= 0]
            reads = {number for number, written in temporaries if not written}
            writes = {number for number, written in temporaries if written}
            for number in reads | writes:
                block = blocks[number]
                block.first, block.last = min(block.first, now), max(block.last, now)
                block.apart |= writes if number in reads else reads


def _chains(group: DispatchGroup, dispatch: Dispatch, needed: Sequence[Dispatch]) -> list[Strand]:
    """The strands that ``dispatch`` needs, if their workgroup can run it after them."""
    strands = [s for s in group.strands if any(member in needed for member in s.members)]
    fitting = is_small(dispatch) and all(strand.is_small for strand in strands)
    return strands if fitting else []


def _repeated_code(dispatches: Sequence[Dispatch]) -> set[str]:
    """Return the kernel code that occurs too often to be merged."""
    copies = Counter(dispatch.call.code for dispatch in dispatches)
    with_tiles = {dispatch.call.code for dispatch in dispatches if dispatch.call.results > 1}
    return {
        code
        for code, count in copies.items()
        if count > (MAX_TILE_COPIES if code in with_tiles else MAX_COPIES)
    }


class _Uses:
    """The last writers of each storage, and its readers since.

    There are several writers where calls of one node each write a part of a temporary. Software
    adapters keep their order, one dispatch for each: there all workgroups run through the code of
    all parts, which took lavapipe 1.6 times as long for 28 of them.
    """

    def __init__(self, target: Target) -> None:
        self.separates_parts = not target.is_software
        self.writers: dict[Key, list[int]] = {}
        self.readers: dict[Key, list[int]] = {}
        self.parts_of: dict[Key, Node] = {}

    def before(self, dispatch: Dispatch) -> set[int]:
        """The dispatches that must have ended before ``dispatch`` begins."""
        earlier: set[int] = set()
        for binding, storage, written in _operands(dispatch):
            if not self._is_further_part(dispatch, binding, storage):
                earlier.update(self.writers.get(storage.key, ()))
            if written:
                earlier.update(self.readers.get(storage.key, ()))
        return earlier

    def add(self, number: int, dispatch: Dispatch) -> None:
        for binding, storage, written in _operands(dispatch):
            if not written:
                self.readers.setdefault(storage.key, []).append(number)
            elif self._is_further_part(dispatch, binding, storage):
                self.writers[storage.key].append(number)
            else:
                self.writers[storage.key] = [number]
                self.readers[storage.key] = []
                self.parts_of.pop(storage.key, None)
                if binding.is_part and storage.block >= 0 and self.separates_parts:
                    self.parts_of[storage.key] = dispatch.node

    def _is_further_part(self, dispatch: Dispatch, binding: Binding, storage: Storage) -> bool:
        """Return whether the last writers are of the same node, and write other parts."""
        return binding.is_part and self.parts_of.get(storage.key) is dispatch.node


def _operands(dispatch: Dispatch) -> Iterator[tuple[Binding, Storage, bool]]:
    for binding, (storage, written) in zip(dispatch.call.bindings, dispatch.operands, strict=True):
        yield binding, storage, written
