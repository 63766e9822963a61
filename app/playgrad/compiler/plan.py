"""Turns the part of a program that is on one GPU into a Plan: plain data that a runner replays.

A Plan is a dictionary that JSON can hold::

    version   1
    buffers   [{id, size, role: arena|feed|constant|state, data?: base64, external?: key}]
    kernels   [{id, family, params, wgsl, access: ["read"|"read_write", ...]}]
    steps     [{kind: "dispatch", kernel, bindings: [[buffer, offset, size]...],
                workgroups: [x, y, z], node, nodes: [name, ...]}]
    segments  [[first step, last step + 1], ...]
    feeds     {channel: {buffer, offset, shape, dtype}}
    fetches   {tensor name: {buffer, offset, shape, dtype}}

The entry point of every kernel is ``main``; binding i of group 0 is ``bindings[i]``. ``external``
buffers are given by the session (the state of variables); all others belong to the Plan. A dispatch
names its kernel family and parameters, so that another backend can do the same by other means; one
of family "batch" lists its members. ``nodes`` are what it computes, ``node`` the first of them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.compiler.dispatch_groups import Batch
from playgrad.compiler.dispatches import (
    FEED,
    Dispatch,
    Dispatches,
    Place,
    StateLayout,
    Storage,
    device_bytes,
)
from playgrad.compiler.group_kernel import merge
from playgrad.compiler.grouping import alone, schedule, set_lifetimes
from playgrad.compiler.in_place import write_in_place
from playgrad.compiler.memory import Block, plan_memory
from playgrad.compiler.segments import Segment
from playgrad.errors import PlaygradError
from playgrad.graph.serialize import encode
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.kernel import Target

VERSION = 1


class PlanBuilder:
    """Collects the dispatches of nodes, in order, and lays out their memory.

    Args:
        segments: those of the device, in the order of execution.
        fetches: what the program's caller wants.
        reuse_memory, merge_dispatches: False to compare with what does without.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        fetches: Sequence[Tensor],
        target: Target,
        state: StateLayout,
        reuse_memory: bool = True,
        merge_dispatches: bool = True,
    ) -> None:
        self.limits = target.limits
        self.reuse_memory = reuse_memory
        self.parts = Dispatches(target, state)
        self.batches: list[Batch] = []
        self.cuts: list[tuple[int, int]] = []  # the batches of each segment
        self.read = [segment.results(fetches) for segment in segments]
        self.feeds: dict[Place, Block] = {}
        for segment in segments:
            fed = len(self.parts.feeds)
            first = len(self.parts.items)
            for node in segment.nodes:
                try:
                    self.parts.add(node)
                except PlaygradError as error:
                    raise error.located(node.name, node.source) from None
            own = self.parts.items[first:]
            batches = (
                schedule(own, target) if merge_dispatches else [alone(item, target) for item in own]
            )
            self.cuts.append((len(self.batches), len(self.batches) + len(batches)))
            self.batches += batches
            for tensor, place in list(self.parts.feeds.values())[fed:]:
                begin, end = self.cuts[-1]
                self.feeds[place] = Block(device_bytes(tensor.spec), begin, max(begin, end - 1))

    def build(self) -> dict[str, Any]:
        """The Plan."""
        self._set_lifetimes()
        if self.reuse_memory:
            write_in_place(self.parts, self.batches)
            self._set_lifetimes()
        arenas = plan_memory(self.parts.blocks, self.limits.max_buffer_size, self.reuse_memory)
        layout = _Buffers()
        for number, size in enumerate(arenas):
            layout.add(f"arena{number}", "arena", size)
        if self.parts.constants:
            layout.add("constant", "constant", len(self.parts.constants), data=self.parts.constants)
        for number, size in enumerate(self._place_feeds()):
            layout.add(f"{FEED}{number}", "feed", size)
        kernels = _Kernels()
        steps: list[dict[str, Any]] = []
        segments: list[list[int]] = []
        for first, last in self.cuts:
            begin = len(steps)
            for batch in self.batches[first:last]:
                steps += self._steps(batch, layout, kernels)
            segments.append([begin, len(steps)])
        return {
            "version": VERSION,
            "buffers": layout.table,
            "kernels": list(kernels.table.values()),
            "steps": steps,
            "segments": segments,
            "feeds": {key: self._slot(t, layout) for key, (t, _) in self.parts.feeds.items()},
            "fetches": {t.name: self._slot(t, layout) for read in self.read for t in read},
        }

    def _set_lifetimes(self) -> None:
        set_lifetimes(self.parts.blocks, self.batches)
        # What is read after a segment may have the place of something that an earlier one made.
        for (_, end), tensors in zip(self.cuts, self.read, strict=True):
            for tensor in tensors:
                storage = self.parts.storage[tensor]
                if storage.block >= 0:
                    block = self.parts.blocks[storage.block]
                    block.last = max(block.last, end)

    def _place_feeds(self) -> list[int]:
        """Give what is fed its place; returns the sizes of the buffers.

        All that a segment is fed is written before it begins. A place is free for what a later
        segment is fed once nothing reads it any more.
        """
        for now, batch in enumerate(self.batches):
            for member in batch.members:
                for storage, _ in member.operands:
                    if storage.place in self.feeds:
                        block = self.feeds[storage.place]
                        block.last = max(block.last, now)
        blocks = list(self.feeds.values())
        return plan_memory(blocks, self.limits.max_buffer_size, self.reuse_memory, wanted=1)

    def _where(self, storage: Storage, layout: _Buffers) -> tuple[int, int]:
        if storage.place in self.feeds:
            block = self.feeds[storage.place]
            return layout.number[f"{FEED}{block.arena}"], block.offset
        if storage.place is not None:
            return layout.external(storage.place.buffer), storage.place.offset
        block = self.parts.blocks[storage.block]
        return layout.number[f"arena{block.arena}"], block.offset

    def _slot(self, tensor: Tensor, layout: _Buffers) -> dict[str, Any]:
        buffer, offset = self._where(self.parts.storage[tensor], layout)
        shape = list(tensor.spec.static_shape)
        return {"buffer": buffer, "offset": offset, "shape": shape, "dtype": tensor.dtype}

    def _steps(self, batch: Batch, layout: _Buffers, kernels: _Kernels) -> list[dict[str, Any]]:
        """One dispatch for ``batch``, or where that cannot be, several for its parts."""
        places = {
            member: [(*self._where(item, layout), item.size) for item, _ in member.operands]
            for member in batch.members
        }
        if batch.count == 1:
            return [self._step(member, place, kernels) for member, place in places.items()]
        merged = merge(batch, places, self.limits)
        if merged is None:
            return [step for half in batch.halves() for step in self._steps(half, layout, kernels)]
        access = tuple("read_write" if written else "read" for written in merged.written)
        names = [f"buffer{number}" for number in range(len(merged.bindings))]
        sizes = [size for _, _, size in merged.bindings]
        wgsl = _declarations(names, merged.elements, access, sizes, merged.code) + merged.code
        return [
            {
                "kind": "dispatch",
                "kernel": kernels.add("batch", merged.params, wgsl, access),
                "bindings": [list(place) for place in merged.bindings],
                "workgroups": list(merged.workgroups),
                "node": batch.members[0].node.name,
                "nodes": list(dict.fromkeys(member.node.name for member in batch.members)),
            }
        ]

    def _step(
        self, dispatch: Dispatch, places: list[tuple[int, int, int]], kernels: _Kernels
    ) -> dict[str, Any]:
        written = {
            place[0]
            for place, (_, is_written) in zip(places, dispatch.operands, strict=True)
            if is_written
        }
        # Variables share buffers, so one that is read can lie beside one that is written.
        access = tuple("read_write" if place[0] in written else "read" for place in places)
        call = dispatch.call
        names = [binding.name for binding in call.bindings]
        elements = [binding.element for binding in call.bindings]
        sizes = [size for _, _, size in places]
        wgsl = _declarations(names, elements, access, sizes, call.code) + call.code
        return {
            "kind": "dispatch",
            "kernel": kernels.add(call.family, call.params, wgsl, access),
            "bindings": [list(place) for place in places],
            "workgroups": list(call.workgroups),
            "node": dispatch.node.name,
            "nodes": [dispatch.node.name],
        }


class _Kernels:
    """The table of kernels, in which equal ones are stored once."""

    def __init__(self) -> None:
        self.table: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}

    def add(
        self, family: str, params: Mapping[str, Any], wgsl: str, access: tuple[str, ...]
    ) -> int:
        kernel = self.table.setdefault(
            (wgsl, access),
            {
                "id": len(self.table),
                "family": family,
                "params": encode(dict(params)),
                "wgsl": wgsl,
                "access": list(access),
            },
        )
        number: int = kernel["id"]
        return number


class _Buffers:
    """The table of buffers, filled as they are met."""

    def __init__(self) -> None:
        self.table: list[dict[str, Any]] = []
        self.number: dict[str, int] = {}

    def add(self, key: str, role: str, size: int, data: bytes | bytearray | None = None) -> int:
        entry: dict[str, Any] = {"id": len(self.table), "size": size, "role": role}
        if data is not None:
            entry["data"] = base64.b64encode(data).decode()
        self.table.append(entry)
        self.number[key] = entry["id"]
        return len(self.table) - 1

    def external(self, key: str) -> int:
        """The number of buffer ``key``; one not met yet is the session's."""
        if key not in self.number:
            number = self.add(key, "state", 0)
            self.table[number]["external"] = key
        return self.number[key]


def _declarations(
    names: Sequence[str],
    elements: Sequence[str],
    access: Sequence[str],
    sizes: Sequence[int],
    code: str,
) -> str:
    """The bindings of ``code``, of as many elements as ``sizes`` bytes hold.

    An access to an array of unknown length asks for its length, which SwiftShader finds by
    dividing: a quarter of a matrix product's time, and half of the time to compile it.
    """
    return "".join(
        f"@group(0) @binding({i}) var<storage, {mode}> {name}: {_array(element, size, code)};\n"
        for i, (name, element, mode, size) in enumerate(
            zip(names, elements, access, sizes, strict=True)
        )
    )


def _array(element: str, size: int, code: str) -> str:
    known = element in ("f32", "i32", "u32") and "arrayLength" not in code
    return f"array<{element}, {size // 4}>" if known else f"array<{element}>"
