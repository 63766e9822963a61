"""Groups of dispatches that are merged into one.

On a small network launching a dispatch costs more than its computation. A dispatch group consists
of *strands* that are independent of each other. A strand is one dispatch spread over workgroups, or
a chain of small ones that one workgroup runs in order, with a barrier after each. Each addition is
done in the same order as before, so the results are the same as from separate dispatches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from playgrad.compiler.dispatches import Dispatch
from playgrad.compiler.kernel_text import is_mergeable, kernel_text
from playgrad.devices.target import Limits, Target
from playgrad.ops.core.loops import rounds

CHAIN_INVOCATIONS = 64
"""Invocations of the workgroup in a group of chains alone."""
LEAST_INVOCATIONS = 8
"""Invocations of the smallest workgroup that a chain may run in: that of another strand's tiles."""
CHAIN_ROUNDS = 16
CHAIN_ITERATIONS = 1 << 13
"""Limits for a member of a chain: elements that an invocation computes, and iterations of the
innermost loop for all of them. Above these, one workgroup takes longer than a dispatch costs."""
HEAVY = 1 << 26
HEAVY_IN_SOFTWARE = 1 << 20
"""Iterations of the innermost loop, over all invocations, above which a dispatch stays alone: it
takes many times what a dispatch costs, and merging may slow it down. Alone, a kernel has registers,
a workgroup size and workgroup memory of its own, and read-only bindings."""
MAX_WORKGROUPS_IN_SOFTWARE = 4
"""Workgroups of a group on a software adapter, if a kernel in it holds a tile of results or has a
barrier. Such an adapter does not jump over a branch: every workgroup runs through the code of all
strands with its invocations masked, and the code of a tile is long. A barrier anywhere in a kernel
makes every workgroup prepare to wait, which takes as long as a dispatch."""
MAX_MEMBERS = 64
"""Keeps a kernel's text, and its cascade of branches, short enough for WGSL compilers."""
ARENAS = 3
"""Number of arenas that the memory planner is expected to spread a group's temporaries over."""


@dataclass(eq=False)
class Strand:
    """One dispatch spread over workgroups, or several that one workgroup runs in order.

    Attributes:
        is_small: one workgroup runs it as fast as many would.
    """

    members: list[Dispatch]
    is_small: bool

    @property
    def is_chain(self) -> bool:
        return len(self.members) > 1

    @property
    def workgroups(self) -> int:
        return 1 if self.is_chain else workgroups_of(self.members[0])


@dataclass
class DispatchGroup:
    """Dispatches to be merged into one.

    Attributes:
        count: number of members.
        is_closed: the only member is heavy, or has a kernel that cannot be merged.
        buffers, blocks: the named buffers and temporaries that members bind.
        has_tiles: a member holds a tile of results.
        largest: invocations of the largest workgroup among the members.
        cooperating: invocations of a workgroup of members that have barriers, or 0.
        shared: number of arrays in workgroup memory by element type and length. Members use them
            one after the other.
    """

    target: Target
    strands: list[Strand] = field(default_factory=list)
    count: int = 0
    is_closed: bool = False
    buffers: set[str] = field(default_factory=set)
    blocks: set[int] = field(default_factory=set)
    has_tiles: bool = False
    largest: int = 0
    cooperating: int = 0
    shared: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, dispatch: Dispatch, chains: Sequence[Strand] = ()) -> None:
        """Add ``dispatch`` as a new strand, or at the end of ``chains``, which become one."""
        members = [member for strand in chains for member in strand.members]
        self.strands = [strand for strand in self.strands if strand not in chains]
        self.strands.append(Strand([*members, dispatch], bool(chains) or is_small(dispatch)))
        self.count += 1
        if not self._may_join(dispatch):
            self.is_closed = True
        if not _is_mergeable(dispatch):
            return
        self.has_tiles |= dispatch.call.results > 1
        self.largest = max(self.largest, workgroup_size_of(dispatch))
        if kernel_text(dispatch.call.code).cooperates:
            self.cooperating = workgroup_size_of(dispatch)
        self.shared |= _shared(dispatch)
        self.buffers |= _buffers(dispatch)
        self.blocks |= _blocks(dispatch)

    def _may_join(self, dispatch: Dispatch) -> bool:
        """Return whether ``dispatch`` may be in a group with others."""
        heavy = HEAVY_IN_SOFTWARE if self.target.is_software else HEAVY
        return _is_mergeable(dispatch) and invocations(dispatch) * dispatch.call.iterations <= heavy

    def fits(self, dispatch: Dispatch, chains: Sequence[Strand] = ()) -> bool:
        """Return whether the group with ``dispatch`` stays within the limits of one dispatch.

        Args:
            chains: the strands that ``dispatch`` would be appended to.
        """
        if self.is_closed or self.count == MAX_MEMBERS or not self._may_join(dispatch):
            return False
        if self.target.is_software and not self._is_cheap_in_software(dispatch, chains):
            return False
        if not self._is_in_time(dispatch, chains):
            return False
        limits = self.target.limits
        # Kernels with barriers rely on their workgroup size; others should not get a smaller one.
        largest = max(self.largest, workgroup_size_of(dispatch))
        cooperating = {self.cooperating} if self.cooperating else set()
        if kernel_text(dispatch.call.code).cooperates:
            cooperating.add(workgroup_size_of(dispatch))
        if cooperating and cooperating != {largest}:
            return False
        shared = self.shared | _shared(dispatch)
        bytes_shared = sum(
            (16 if element == "vec4f" else 4) * length * n
            for (element, length), n in shared.items()
        )
        if bytes_shared > limits.max_compute_workgroup_storage_size:
            return False
        arenas = min(ARENAS, len(self.blocks | _blocks(dispatch)))
        bound = len(self.buffers | _buffers(dispatch)) + arenas
        return bound <= limits.max_storage_buffers_per_shader_stage

    def _is_cheap_in_software(self, dispatch: Dispatch, chains: Sequence[Strand]) -> bool:
        """Return whether there are few workgroups, or no member that slows all of them down."""
        strands = [strand for strand in self.strands if strand not in chains]
        has_tiles = self.has_tiles or dispatch.call.results > 1
        has_barriers = chains or any(strand.is_chain for strand in strands)
        if self.cooperating or kernel_text(dispatch.call.code).cooperates:
            has_barriers = True
        workgroups = sum(strand.workgroups for strand in strands)
        workgroups += 1 if chains else workgroups_of(dispatch)
        return workgroups <= MAX_WORKGROUPS_IN_SOFTWARE or not (has_tiles or has_barriers)

    def _is_in_time(self, dispatch: Dispatch, chains: Sequence[Strand]) -> bool:
        """Return whether the driver ends no loop of the chain early that ``dispatch`` would end."""
        most = self.target.loop_rounds
        if most is None or not chains:
            return True
        members = [member for strand in chains for member in strand.members]
        return sum(map(_rounds_in_chain, (*members, dispatch))) <= most

    def halves(self) -> tuple[DispatchGroup, DispatchGroup]:
        """Two groups that do the same work, one after the other."""
        strands = [strand.members for strand in self.strands]
        if len(strands) == 1:
            (members,) = strands
            middle = len(members) // 2
            return self._of([members[:middle]]), self._of([members[middle:]])
        middle = len(strands) // 2
        return self._of(strands[:middle]), self._of(strands[middle:])

    def _of(self, strands: Sequence[Sequence[Dispatch]]) -> DispatchGroup:
        part = DispatchGroup(self.target)
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
    def workgroup_size(self) -> int:
        """Invocations of a workgroup, as many as the largest of its kernels needs."""
        if self.cooperating:
            return self.cooperating
        wide = [strand.members[0] for strand in self.strands if not strand.is_chain]
        return workgroup_size_of(max(wide, key=invocations)) if wide else CHAIN_INVOCATIONS


def workgroup_size_of(dispatch: Dispatch) -> int:
    """The number of invocations of one of its workgroups."""
    x, y, z = kernel_text(dispatch.call.code).workgroup
    return x * y * z


def workgroups_of(dispatch: Dispatch) -> int:
    """The number of its workgroups."""
    x, y, z = dispatch.call.workgroups
    return x * y * z


def invocations(dispatch: Dispatch) -> int:
    """The number of invocations of all its workgroups."""
    return workgroups_of(dispatch) * workgroup_size_of(dispatch)


def is_small(dispatch: Dispatch) -> bool:
    """Return whether one workgroup runs ``dispatch`` as fast as many would."""
    if not _is_mergeable(dispatch):
        return False
    if kernel_text(dispatch.call.code).cooperates:
        return workgroups_of(dispatch) == 1
    rounds = -(-invocations(dispatch) // CHAIN_INVOCATIONS)
    return rounds <= CHAIN_ROUNDS and rounds * dispatch.call.iterations <= CHAIN_ITERATIONS


def binds_too_many(dispatch: Dispatch, limits: Limits) -> bool:
    """Return whether ``dispatch`` has more operands than a kernel may bind, and can run as a group
    of one: that binds each buffer once. The update of AdamW with AMSGrad is an example."""
    most = limits.max_storage_buffers_per_shader_stage
    return len(dispatch.operands) > most and _is_mergeable(dispatch)


def _is_mergeable(dispatch: Dispatch) -> bool:
    bindings = dispatch.call.bindings
    if not dispatch.call.mergeable:
        return False
    names = tuple(binding.name for binding in bindings)
    return all(binding.element in ("f32", "i32", "u32") for binding in bindings) and is_mergeable(
        dispatch.call.code, names
    )


def _rounds_in_chain(dispatch: Dispatch) -> int:
    """Return the most rounds of loops in which one workgroup of a chain runs ``dispatch``."""
    times = -(-invocations(dispatch) // LEAST_INVOCATIONS)
    return times * (1 + rounds(dispatch.call.loops))


def _shared(dispatch: Dispatch) -> Counter[tuple[str, int]]:
    return Counter(kernel_text(dispatch.call.code).shared.values())


def _buffers(dispatch: Dispatch) -> set[str]:
    places = [storage.place for storage, _ in dispatch.operands]
    return {place.buffer for place in places if place is not None}


def _blocks(dispatch: Dispatch) -> set[int]:
    return {storage.block for storage, _ in dispatch.operands if storage.block >= 0}
