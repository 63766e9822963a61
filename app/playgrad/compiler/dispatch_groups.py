"""What will be one dispatch: several that do not need each other's results, or little ones that do.

On a small network a dispatch costs more than what it computes. A batch is made of *strands* that
are independent of each other. A strand is one dispatch spread over workgroups, or a chain of little
ones that one workgroup does one after the other, with a barrier after each. No addition changes its
place, so the numbers are those of the dispatches alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from playgrad.compiler.dispatches import Dispatch
from playgrad.compiler.kernel_text import is_plain, kernel_text
from playgrad.devices.base import Target

LANES = 64
"""Invocations of a workgroup that does only chains."""
CHAIN_ROUNDS = 16
CHAIN_STEPS = 1 << 13
"""How many elements, and rounds of the innermost loop for all of them, an invocation may do for a
member of a chain: more take longer in one workgroup than a dispatch of their own costs."""
HEAVY = 1 << 26
HEAVY_IN_SOFTWARE = 1 << 20
"""Rounds of the innermost loop, of all invocations together, above which a dispatch stays alone: it
takes many times what a dispatch costs, and merging may only slow it down. By itself a kernel has
registers, a workgroup size and workgroup memory of its own, and bindings that are only read."""
MOST_GROUPS = 4
"""Workgroups of a batch on a software adapter that has a kernel with a tile of results in it, or a
barrier. There a branch is no jump: every workgroup goes through the code of all strands, lanes
switched off, and that of a tile is long. And where a kernel has a barrier anywhere, every workgroup
is made ready to wait, which takes as long as a dispatch."""
MAX_MEMBERS = 64
"""So that no kernel's text, and no cascade of its branches, gets too long for a compiler."""
ARENAS = 3
"""In how many arenas the memory planner is expected to put what a batch touches."""


@dataclass(eq=False)
class Strand:
    """One dispatch spread over workgroups, or several that one workgroup does in order.

    Attributes:
        is_little: one workgroup does them as well as many.
    """

    members: list[Dispatch]
    is_little: bool

    @property
    def is_chain(self) -> bool:
        return len(self.members) > 1


@dataclass
class Batch:
    """What is to be one dispatch: its strands, and what they bind and share.

    Attributes:
        target: where it will run.
        count: of the members.
        is_closed: the one member is heavy, or has a kernel that cannot be merged.
        has_tiles: a member keeps a tile of results.
        most_lanes: invocations of the largest workgroup that a member wants.
        cooperating: invocations of a workgroup of members in which they wait for each other.
        shared: arrays in workgroup memory, by element type and length: no two members need theirs
            at the same time.
    """

    target: Target
    strands: list[Strand] = field(default_factory=list)
    count: int = 0
    is_closed: bool = False
    buffers: set[str] = field(default_factory=set)
    blocks: set[int] = field(default_factory=set)
    has_tiles: bool = False
    most_lanes: int = 0
    cooperating: int = 0
    shared: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, dispatch: Dispatch, joined: Sequence[Strand] = ()) -> None:
        """Take in ``dispatch`` as a strand of its own, or at the end of the chains ``joined``."""
        members = [member for strand in joined for member in strand.members]
        self.strands = [strand for strand in self.strands if strand not in joined]
        self.strands.append(Strand([*members, dispatch], bool(joined) or is_little(dispatch)))
        self.count += 1
        if not self._may_join(dispatch):
            self.is_closed = True
            return
        self.has_tiles |= dispatch.call.results > 1
        self.most_lanes = max(self.most_lanes, lanes_of(dispatch))
        if kernel_text(dispatch.call.code).cooperates:
            self.cooperating = lanes_of(dispatch)
        self.shared |= _shared(dispatch)
        self.buffers |= _buffers(dispatch)
        self.blocks |= _blocks(dispatch)

    def _may_join(self, dispatch: Dispatch) -> bool:
        """Whether ``dispatch`` may be one of several."""
        heavy = HEAVY_IN_SOFTWARE if self.target.is_software else HEAVY
        return _is_plain(dispatch) and invocations(dispatch) * dispatch.call.steps <= heavy

    def fits(self, dispatch: Dispatch, joined: Sequence[Strand] = ()) -> bool:
        """Whether one dispatch may bind and share what the batch and ``dispatch`` do.

        Args:
            joined: the chains at whose end it would be.
        """
        if self.is_closed or self.count == MAX_MEMBERS or not self._may_join(dispatch):
            return False
        if self.target.is_software and not self._is_cheap_in_software(dispatch, joined):
            return False
        limits = self.target.limits
        # Where invocations wait for each other a workgroup must have as many as they count on;
        # others should not have to do with fewer.
        lanes = max(self.most_lanes, lanes_of(dispatch))
        cooperating = {self.cooperating} if self.cooperating else set()
        if kernel_text(dispatch.call.code).cooperates:
            cooperating.add(lanes_of(dispatch))
        if cooperating and cooperating != {lanes}:
            return False
        shared = self.shared | _shared(dispatch)
        if sum(4 * length * n for (_, length), n in shared.items()) > (
            limits.max_compute_workgroup_storage_size
        ):
            return False
        arenas = min(ARENAS, len(self.blocks | _blocks(dispatch)))
        bound = len(self.buffers | _buffers(dispatch)) + arenas
        return bound <= limits.max_storage_buffers_per_shader_stage

    def _is_cheap_in_software(self, dispatch: Dispatch, joined: Sequence[Strand]) -> bool:
        """Whether its workgroups would be few, or do nothing that makes all of them slow."""
        strands = [strand for strand in self.strands if strand not in joined]
        has_tiles = self.has_tiles or dispatch.call.results > 1
        has_barriers = joined or any(strand.is_chain for strand in strands)
        if self.cooperating or kernel_text(dispatch.call.code).cooperates:
            has_barriers = True
        groups = sum(map(_workgroups_of_strand, strands))
        groups += 1 if joined else workgroups_of(dispatch)
        return groups <= MOST_GROUPS or not (has_tiles or has_barriers)

    def halves(self) -> tuple[Batch, Batch]:
        """Two batches that do the same one after the other."""
        strands = [strand.members for strand in self.strands]
        if len(strands) == 1:
            (members,) = strands
            middle = len(members) // 2
            return self._of([members[:middle]]), self._of([members[middle:]])
        middle = len(strands) // 2
        return self._of(strands[:middle]), self._of(strands[middle:])

    def _of(self, strands: Sequence[Sequence[Dispatch]]) -> Batch:
        part = Batch(self.target)
        for members in strands:
            chain: list[Strand] = []
            for member in members:
                part.add(member, chain)
                chain = part.strands[-1:]
        return part

    @property
    def members(self) -> list[Dispatch]:
        return [member for strand in self.strands for member in strand.members]

    @property
    def lanes(self) -> int:
        """Invocations of a workgroup: as the kernel wants it that has the most to do."""
        if self.cooperating:
            return self.cooperating
        wide = [strand.members[0] for strand in self.strands if not strand.is_chain]
        return lanes_of(max(wide, key=invocations)) if wide else LANES


def lanes_of(dispatch: Dispatch) -> int:
    """Invocations of one of its workgroups."""
    x, y, z = kernel_text(dispatch.call.code).workgroup
    return x * y * z


def workgroups_of(dispatch: Dispatch) -> int:
    x, y, z = dispatch.call.workgroups
    return x * y * z


def _workgroups_of_strand(strand: Strand) -> int:
    return 1 if strand.is_chain else workgroups_of(strand.members[0])


def invocations(dispatch: Dispatch) -> int:
    return workgroups_of(dispatch) * lanes_of(dispatch)


def _is_plain(dispatch: Dispatch) -> bool:
    """Whether its kernel can be part of another."""
    bindings = dispatch.call.bindings
    names = tuple(binding.name for binding in bindings)
    return all(binding.element in ("f32", "i32", "u32") for binding in bindings) and is_plain(
        dispatch.call.code, names
    )


def is_little(dispatch: Dispatch) -> bool:
    """Whether one workgroup does it as well as many."""
    if not _is_plain(dispatch):
        return False
    if kernel_text(dispatch.call.code).cooperates:
        return workgroups_of(dispatch) == 1
    rounds = -(-invocations(dispatch) // LANES)
    return rounds <= CHAIN_ROUNDS and rounds * dispatch.call.steps <= CHAIN_STEPS


def _shared(dispatch: Dispatch) -> Counter[tuple[str, int]]:
    return Counter(kernel_text(dispatch.call.code).shared.values())


def _buffers(dispatch: Dispatch) -> set[str]:
    places = [storage.place for storage, _ in dispatch.operands]
    return {place.buffer for place in places if place is not None}


def _blocks(dispatch: Dispatch) -> set[int]:
    return {storage.block for storage, _ in dispatch.operands if storage.block >= 0}
