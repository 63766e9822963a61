"""Turns the part of a program that is on one GPU into a Plan: plain data that a runner replays.

A Plan is a dictionary that JSON can hold::

    version   1
    buffers   [{id, size, role: arena|feed|constant|state, data?: base64, external?: key}]
    kernels   [{id, family, params, wgsl, access: ["read"|"read_write", ...]}]
    steps     [{kind: "dispatch", kernel, bindings: [[buffer, offset, size]...],
                workgroups: [x, y, z], node}]
    segments  [[first step, last step + 1], ...]
    feeds     {channel: {buffer, offset, shape, dtype}}
    fetches   {tensor name: {buffer, offset, shape, dtype}}

The entry point of every kernel is ``main``; binding i of group 0 is ``bindings[i]``. ``external``
buffers are given by the session (the state of variables); all others belong to the Plan. A dispatch
names its kernel family and parameters, so that another backend can do the same by other means.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.memory import Block, aligned, plan_memory
from playgrad.compiler.order import COPY
from playgrad.dtypes import dtype, to_device_bytes
from playgrad.errors import OutOfMemoryError, PlaygradError, UnsupportedOpError
from playgrad.graph.serialize import encode
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.kernel import KernelCall, KernelRequest, Lowering, Target
from playgrad.ops.state import is_variable

VERSION = 1


@dataclass(frozen=True)
class Place:
    """Where bytes are: in a named buffer at an offset."""

    buffer: str
    offset: int


StateLayout = Mapping[str, Place]
"""For each variable the external buffer that the session keeps it in."""


@dataclass(frozen=True)
class _Storage:
    """What a tensor is stored as: a fixed place, or temporary block number ``block``."""

    size: int
    place: Place | None = None
    block: int = -1


@dataclass
class _Dispatch:
    call: KernelCall
    node: Node
    operands: list[tuple[_Storage, bool]]  # storage and whether it is written, by binding


def device_bytes(spec: TensorSpec) -> int:
    """Bytes that a tensor takes on a GPU."""
    return dtype(spec.dtype).device_bytes(spec.size)


class PlanBuilder:
    """Collects the dispatches of nodes, in order, and lays out their memory.

    Args:
        segments: the nodes on the device, in the order of execution, cut where other devices
            have to run in between.
        fetches: tensors to be read after the segment that makes them.
    """

    def __init__(
        self,
        segments: Sequence[Sequence[Node]],
        fetches: Sequence[Tensor],
        target: Target,
        state: StateLayout,
        reuse_memory: bool = True,
    ) -> None:
        self.target = target
        self.state = state
        self.fetches = fetches
        self.reuse_memory = reuse_memory
        self.storage: dict[Tensor, _Storage] = {}
        self.blocks: list[Block] = []
        self.dispatches: list[_Dispatch] = []
        self.constants = bytearray()
        self.feeds: dict[str, dict[str, Any]] = {}
        self.feed_bytes = 0
        self.cuts: list[tuple[int, int]] = []
        for segment in segments:
            first = len(self.dispatches)
            for node in segment:
                try:
                    self._node(node)
                except PlaygradError as error:
                    raise error.located(node.name, node.source) from None
            self.cuts.append((first, len(self.dispatches)))

    def _node(self, node: Node) -> None:
        if is_variable(node):
            self._keep(node.outputs[0], self.state[node.name])
        elif node.op.name == "constant":
            self._constant(node.outputs[0], node.attrs["value"])
        elif node.op.name in ("placeholder", "receive"):
            self._feed(node)
        elif node.op.alias:
            self.storage[node.outputs[0]] = self.storage[node.inputs[0]]
        elif node.op.name not in ("no_op", "send"):
            self._lower(node)

    def _keep(self, tensor: Tensor, place: Place) -> None:
        self.storage[tensor] = _Storage(device_bytes(tensor.spec), place)

    def _constant(self, tensor: Tensor, value: Any) -> None:
        data = to_device_bytes(value)
        self._keep(tensor, Place("constant", len(self.constants)))
        self.constants += data + bytes(aligned(len(data)) - len(data))

    def _feed(self, node: Node) -> None:
        tensor = node.outputs[0]
        key = node.attrs.get("channel", node.name)
        self.feeds[key] = {
            "buffer": "feed",
            "offset": self.feed_bytes,
            "shape": list(tensor.spec.static_shape),
            "dtype": tensor.dtype,
        }
        self._keep(tensor, Place("feed", self.feed_bytes))
        self.feed_bytes += aligned(device_bytes(tensor.spec))

    def _block(self, size: int, node: Node) -> _Storage:
        limit = self.target.limits.max_storage_buffer_binding_size
        if size > limit:
            raise OutOfMemoryError(
                f"'{node.name}' needs a buffer of {size / 2**20:.0f} MiB, but the adapter binds at "
                f"most {limit / 2**20:.0f} MiB.",
                hint="Use a smaller batch or a smaller layer, or device='cpu'.",
            )
        self.blocks.append(Block(size, len(self.dispatches), len(self.dispatches)))
        return _Storage(size, block=len(self.blocks) - 1)

    def _lower(self, node: Node) -> None:
        for index, tensor in enumerate(node.outputs):
            if node.op.writes:
                self._keep(tensor, self.state[node.attrs["variables"][index]])
            else:
                self.storage[tensor] = self._block(device_bytes(tensor.spec), node)
        if node.op.name == "read_variable":
            self._read_variable(node)
            return
        request = KernelRequest(
            inputs=tuple(tensor.spec for tensor in node.inputs),
            outputs=tuple(tensor.spec for tensor in node.outputs),
            attrs=node.attrs,
            target=self.target,
            aliases=self._aliases(node),
        )
        if node.op.lower is None:
            raise UnsupportedOpError(f"the operation {node.op.name!r} cannot run on a GPU.")
        lowering: Lowering = node.op.lower(request)
        scratch = [self._block(max(4, size), node) for size in lowering.scratch]
        filled: set[int] = set()
        for call in lowering.calls:
            self._dispatch(node, call, scratch, filled)

    def _read_variable(self, node: Node) -> None:
        size = device_bytes(node.outputs[0].spec)
        source = _Storage(size, self.state[node.attrs["variable"]])
        self._copy(node, source, self.storage[node.outputs[0]])

    def _copy(self, node: Node, source: _Storage, target: _Storage) -> None:
        words = (TensorSpec((source.size // 4,), "uint32"),)
        assert COPY.lower is not None
        call: KernelCall = COPY.lower(KernelRequest(words, words, {}, self.target)).calls[0]
        self._append(_Dispatch(call, node, [(source, False), (target, True)]))

    def _aliases(self, node: Node) -> dict[int, int]:
        if not node.op.writes:
            return {}
        outputs = [self.storage[tensor].place for tensor in node.outputs]
        return {
            i: outputs.index(self.storage[tensor].place)
            for i, tensor in enumerate(node.inputs)
            if self.storage[tensor].place in outputs
        }

    def _dispatch(
        self, node: Node, call: KernelCall, scratch: list[_Storage], filled: set[int]
    ) -> None:
        """Add one dispatch; a scratch buffer is written by the first that binds it, then read."""
        operands = []
        for binding in call.bindings:
            if binding.kind == "input":
                operands.append((self.storage[node.inputs[binding.index]], False))
            elif binding.kind == "output":
                operands.append((self.storage[node.outputs[binding.index]], True))
            else:
                operands.append((scratch[binding.index], binding.index not in filled))
        filled.update(b.index for b in call.bindings if b.kind == "scratch")
        self._append(_Dispatch(call, node, self._apart(node, operands)))

    def _apart(
        self, node: Node, operands: Sequence[tuple[_Storage, bool]]
    ) -> list[tuple[_Storage, bool]]:
        """``operands`` with no variable bound twice in a dispatch that writes its buffer.

        All bindings of that buffer are for writing, and such may not overlap: the second reads a
        copy.
        """
        bound = {storage.place for storage, written in operands if written}
        buffers = {place.buffer for place in bound if place is not None}
        result = []
        for storage, written in operands:
            if not written and storage.place is not None and storage.place.buffer in buffers:
                if storage.place in bound:
                    copy = self._block(storage.size, node)
                    self._copy(node, storage, copy)
                    storage = copy
                bound.add(storage.place)
            result.append((storage, written))
        return result

    def _append(self, dispatch: _Dispatch) -> None:
        now = len(self.dispatches)
        self.dispatches.append(dispatch)
        reads = {s.block for s, written in dispatch.operands if not written and s.block >= 0}
        writes = {s.block for s, written in dispatch.operands if written and s.block >= 0}
        for block in reads | writes:
            self.blocks[block].last = now
        for block in writes:
            self.blocks[block].apart |= reads
        for block in reads:
            self.blocks[block].apart |= writes

    def build(self) -> dict[str, Any]:
        """The Plan."""
        for tensor in self.fetches:
            storage = self.storage[tensor]
            if storage.block >= 0:
                # The segment that makes a fetch is followed by the read, so to its end is enough.
                block = self.blocks[storage.block]
                end = next(last for first, last in self.cuts if block.first < last)
                block.last = max(block.last, end - 1)
        limits = self.target.limits
        arenas = plan_memory(self.blocks, limits.max_buffer_size, self.reuse_memory)
        layout = _Buffers()
        for number, size in enumerate(arenas):
            layout.add(f"arena{number}", "arena", size)
        if self.constants:
            layout.add("constant", "constant", len(self.constants), data=self.constants)
        if self.feed_bytes:
            layout.add("feed", "feed", self.feed_bytes)
        kernels: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
        steps = [self._step(dispatch, layout, kernels) for dispatch in self.dispatches]
        for slot in self.feeds.values():
            slot["buffer"] = layout.number[slot["buffer"]]
        return {
            "version": VERSION,
            "buffers": layout.table,
            "kernels": list(kernels.values()),
            "steps": steps,
            "segments": [list(cut) for cut in self.cuts],
            "feeds": self.feeds,
            "fetches": {tensor.name: self._fetch(tensor, layout) for tensor in self.fetches},
        }

    def _where(self, storage: _Storage, layout: _Buffers) -> tuple[int, int]:
        if storage.place is not None:
            return layout.external(storage.place.buffer), storage.place.offset
        block = self.blocks[storage.block]
        return layout.number[f"arena{block.arena}"], block.offset

    def _fetch(self, tensor: Tensor, layout: _Buffers) -> dict[str, Any]:
        buffer, offset = self._where(self.storage[tensor], layout)
        shape = list(tensor.spec.static_shape)
        return {"buffer": buffer, "offset": offset, "shape": shape, "dtype": tensor.dtype}

    def _step(
        self,
        dispatch: _Dispatch,
        layout: _Buffers,
        kernels: dict[tuple[str, tuple[str, ...]], dict[str, Any]],
    ) -> dict[str, Any]:
        places = [(*self._where(storage, layout), storage.size) for storage, _ in dispatch.operands]
        written = {
            place[0]
            for place, (_, is_written) in zip(places, dispatch.operands, strict=True)
            if is_written
        }
        # Variables share buffers, so one that is read can lie beside one that is written.
        access = tuple("read_write" if place[0] in written else "read" for place in places)
        call = dispatch.call
        wgsl = _declarations(call, access) + call.code
        kernel = kernels.setdefault(
            (wgsl, access),
            {
                "id": len(kernels),
                "family": call.family,
                "params": encode(dict(call.params)),
                "wgsl": wgsl,
                "access": list(access),
            },
        )
        return {
            "kind": "dispatch",
            "kernel": kernel["id"],
            "bindings": [list(place) for place in places],
            "workgroups": list(call.workgroups),
            "node": dispatch.node.name,
        }


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


def _declarations(call: KernelCall, access: Sequence[str]) -> str:
    return "".join(
        f"@group(0) @binding({i}) var<storage, {mode}> {binding.name}: array<{binding.element}>;\n"
        for i, (binding, mode) in enumerate(zip(call.bindings, access, strict=True))
    )
