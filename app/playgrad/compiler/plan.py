"""Lowers the steps of one GPU to a Plan: plain data that a runner replays.

A Plan is a JSON-serializable dictionary::

    version   2
    buffers   [{id, size, role: arena|feed|constant|state, data?: base64, external?: key}]
    kernels   [{id, family, params, wgsl, access: ["read"|"read_write", ...]}]
    commands  [{kernel, bindings: [[buffer, offset, size]...], workgroups: [x, y, z],
                node, nodes: [name, ...]}]
    segments  [[first command, last command + 1], ...]
    feeds     {channel: {buffer, offset, shape, dtype}}
    fetches   {tensor name: {buffer, offset, shape, dtype}}
    alarms    [{buffer, offset, node, op}, ...], if there are any

A command is one dispatch. The entry point of every kernel is ``main``; binding i of group 0 is
``bindings[i]``. ``external`` buffers belong to the session (they hold variables), all others to the
Plan. A kernel names the family and parameters that it was made from, for readers; one of
family "group" lists its members. Other backends start from the steps (steps.py). ``nodes`` are
the nodes that a command computes, ``node`` the first of them. An alarm is a word that is 0 before a
run; if it is not afterwards, the driver has ended loops of an operation of the user's program
before their end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.compiler.dispatch_groups import DispatchGroup, binds_too_many
from playgrad.compiler.dispatches import ALARM, Dispatch, Dispatches
from playgrad.compiler.group_kernel import group_kernel
from playgrad.compiler.grouping import group_dispatches, group_of_one, set_lifetimes
from playgrad.compiler.in_place import write_in_place
from playgrad.compiler.memory import Block, aligned, plan_memory
from playgrad.compiler.plan_tables import Buffers, Kernels, declarations
from playgrad.compiler.segments import Segment
from playgrad.compiler.steps import FEED, Place, StepList, Storage, VariablePlaces, place_feeds
from playgrad.devices.kinds import GPU
from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.kernel import Target

VERSION = 2


class PlanBuilder:
    """Collects the dispatches of nodes, in order, and plans their memory.

    Args:
        segments: the segments of the device, in the order of execution.
        fetches: the fetches of the program.
        variables: the places of the variables.
        reuse_memory, merge_dispatches: set to False to compare with an unoptimised Plan.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        fetches: Sequence[Tensor],
        target: Target,
        variables: VariablePlaces,
        reuse_memory: bool = True,
        merge_dispatches: bool = True,
    ) -> None:
        self.limits = target.limits
        self.reuse_memory = reuse_memory
        self.steps = StepList(GPU, variables, self.limits.max_storage_buffer_binding_size)
        self.parts = Dispatches(target, self.steps)
        self.groups: list[DispatchGroup] = []
        self.cuts: list[tuple[int, int]] = []  # the groups of each segment
        self.read = [segment.results(fetches) for segment in segments]
        self.feeds: dict[Place, Block] = {}
        for segment in segments:
            fed = len(self.steps.feeds)
            first = len(self.parts.items)
            for node in segment.nodes:
                try:
                    step = self.steps.add(node)
                    if step is not None:
                        self.parts.lower(step)
                except PlaygradError as error:
                    raise error.located(node.name, node.source) from None
            dispatches = self.parts.items[first:]
            groups = (
                group_dispatches(dispatches, target)
                if merge_dispatches
                else [group_of_one(dispatch, target) for dispatch in dispatches]
            )
            self.cuts.append((len(self.groups), len(self.groups) + len(groups)))
            self.groups += groups
            for tensor, place in list(self.steps.feeds.values())[fed:]:
                begin, end = self.cuts[-1]
                self.feeds[place] = Block(GPU.bytes_of(tensor.spec), begin, max(begin, end - 1))

    def build(self) -> dict[str, Any]:
        """The Plan."""
        self._set_lifetimes()
        if self.reuse_memory:
            write_in_place(self.parts, self.groups)
            self._set_lifetimes()
        arenas = plan_memory(self.steps.blocks, self.limits.max_buffer_size, self.reuse_memory)
        buffers = Buffers()
        for number, size in enumerate(arenas):
            buffers.add(f"arena{number}", "arena", size)
        if self.steps.constants:
            buffers.add(
                "constant", "constant", len(self.steps.constants), data=self.steps.constants
            )
        for number, size in enumerate(self._place_feeds()):
            buffers.add(f"{FEED}{number}", "feed", size)
        if self.parts.alarms:
            buffers.add(ALARM, "arena", aligned(4) * len(self.parts.alarms))
        kernels = Kernels()
        commands: list[dict[str, Any]] = []
        segments: list[list[int]] = []
        for first, last in self.cuts:
            begin = len(commands)
            for group in self.groups[first:last]:
                commands += self._commands(group, buffers, kernels)
            segments.append([begin, len(commands)])
        plan = {
            "version": VERSION,
            "buffers": buffers.table,
            "kernels": list(kernels.table.values()),
            "commands": commands,
            "segments": segments,
            "feeds": {key: self._slot(t, buffers) for key, (t, _) in self.steps.feeds.items()},
            "fetches": {t.name: self._slot(t, buffers) for read in self.read for t in read},
        }
        if self.parts.alarms:
            plan["alarms"] = [
                {
                    "buffer": buffers.number[ALARM],
                    "offset": place.offset,
                    "node": node.name,
                    "op": node.op.name,
                }
                for node, place in self.parts.alarms.items()
            ]
        return plan

    def _set_lifetimes(self) -> None:
        set_lifetimes(self.steps.blocks, self.groups)
        # A tensor that is read after its segment lives until then.
        for (_, end), tensors in zip(self.cuts, self.read, strict=True):
            for tensor in tensors:
                storage = self.steps.storage[tensor]
                if storage.block >= 0:
                    block = self.steps.blocks[storage.block]
                    block.last = max(block.last, end)

    def _place_feeds(self) -> list[int]:
        uses = (
            (storage for member in group.members for storage, _ in member.operands)
            for group in self.groups
        )
        return place_feeds(self.feeds, uses, self.limits.max_buffer_size, self.reuse_memory)

    def _where(self, storage: Storage, buffers: Buffers) -> tuple[int, int]:
        return buffers.where(storage, self.steps.blocks, self.feeds)

    def _slot(self, tensor: Tensor, buffers: Buffers) -> dict[str, Any]:
        buffer, offset = self._where(self.steps.storage[tensor], buffers)
        shape = list(tensor.spec.static_shape)
        return {"buffer": buffer, "offset": offset, "shape": shape, "dtype": tensor.dtype}

    def _commands(
        self, group: DispatchGroup, buffers: Buffers, kernels: Kernels
    ) -> list[dict[str, Any]]:
        """The command of ``group``, or several if it would bind more than a kernel may."""
        places = {
            member: [(*self._where(item, buffers), item.size) for item, _ in member.operands]
            for member in group.members
        }
        merged = None
        if group.count > 1 or binds_too_many(group.members[0], self.limits):
            merged = group_kernel(group, places, self.limits)
        if merged is None and group.count == 1:
            return [_command(member, place, kernels) for member, place in places.items()]
        if merged is None:
            halves = group.halves()
            return [c for half in halves for c in self._commands(half, buffers, kernels)]
        access = tuple("read_write" if written else "read" for written in merged.written)
        names = [f"buffer{number}" for number in range(len(merged.bindings))]
        sizes = [size for _, _, size in merged.bindings]
        wgsl = declarations(names, merged.elements, access, sizes, merged.code) + merged.code
        return [
            {
                "kernel": kernels.add("group", merged.params, wgsl, access),
                "bindings": [list(place) for place in merged.bindings],
                "workgroups": list(merged.workgroups),
                "node": group.members[0].node.name,
                "nodes": list(dict.fromkeys(member.node.name for member in group.members)),
            }
        ]


def _command(
    dispatch: Dispatch, places: list[tuple[int, int, int]], kernels: Kernels
) -> dict[str, Any]:
    """The command of a dispatch that is not merged, with its operands at ``places``."""
    written = {
        place[0]
        for place, (_, is_written) in zip(places, dispatch.operands, strict=True)
        if is_written
    }
    # Variables share buffers, so one that is read can be next to one that is written.
    access = tuple("read_write" if place[0] in written else "read" for place in places)
    call = dispatch.call
    names = [binding.name for binding in call.bindings]
    elements = [binding.element for binding in call.bindings]
    sizes = [size for _, _, size in places]
    wgsl = declarations(names, elements, access, sizes, call.code) + call.code
    return {
        "kernel": kernels.add(call.family, call.params, wgsl, access),
        "bindings": [list(place) for place in places],
        "workgroups": list(call.workgroups),
        "node": dispatch.node.name,
        "nodes": [dispatch.node.name],
    }
