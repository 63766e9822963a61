"""Steps as plain data: the work of one device for backends other than WebGPU.

Steps are a JSON-serializable dictionary::

    version     1
    buffers     [{id, size, role: arena|feed|constant|state, data?: base64, external?: key}]
    steps       [{op, attrs, inputs: [slot, ...], outputs: [slot, ...], nodes: [name, ...]}]
    segments    [[first step, last step + 1], ...]
    feeds       {channel: slot}
    fetches     {tensor name: slot}
    writes      [[slot of a variable, slot of its new value], ...]

A slot is ``[buffer, offset in bytes, shape, dtype]``. ``attrs`` are encoded as in a graph
(graph/serialize.py). ``nodes`` are the nodes that a step computes, the last of them by itself.
``external`` buffers belong to the session and hold variables. ``writes`` take effect at the end of
a run; it is empty where operations overwrite variables.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from playgrad.compiler.memory import Block, plan_memory
from playgrad.compiler.plan_tables import Buffers
from playgrad.compiler.segments import Segment
from playgrad.compiler.steps import (
    FEED,
    Place,
    Step,
    StepList,
    Storage,
    VariablePlaces,
    place_feeds,
)
from playgrad.devices.kinds import Kind
from playgrad.errors import PlaygradError
from playgrad.graph.serialize import encode
from playgrad.graph.tensor import Tensor

VERSION = 1


def steps_of(
    segments: Sequence[Segment],
    fetches: Sequence[Tensor],
    variables: VariablePlaces,
    kind: Kind,
    largest: int = sys.maxsize,
) -> dict[str, Any]:
    """Return the work of a device as plain data.

    Args:
        segments: the segments of the device, in the order of execution.
        fetches: the fetches of the program.
        largest: the most bytes of a buffer.

    Raises:
        OutOfMemoryError: a result is larger.
    """
    return _StepWriter(segments, fetches, variables, kind, largest).write()


class _StepWriter:
    """Places the tensors of a `StepList`, and writes it."""

    def __init__(
        self,
        segments: Sequence[Segment],
        fetches: Sequence[Tensor],
        variables: VariablePlaces,
        kind: Kind,
        largest: int,
    ) -> None:
        self.steps = steps = StepList(kind, variables, largest)
        self.read = [segment.results(fetches) for segment in segments]
        self.cuts: list[tuple[int, int]] = []
        self.feeds: dict[Place, Block] = {}
        self.variables = variables
        for segment in segments:
            begin, fed = len(steps.items), len(steps.feeds)
            for node in segment.nodes:
                try:
                    steps.add(node)
                except PlaygradError as error:
                    raise error.located(node.name, node.source) from None
            self.cuts.append((begin, len(steps.items)))
            for tensor, place in list(steps.feeds.values())[fed:]:
                self.feeds[place] = Block(kind.bytes_of(tensor.spec), begin, len(steps.items))
        self.buffers = Buffers()
        self._place(largest)

    def _place(self, largest: int) -> None:
        """Add all buffers, and set the place of each block in them."""
        steps, end = self.steps, len(self.steps.items)
        for block in steps.blocks:
            block.first, block.last = end, -1
        for now, step in enumerate(steps.items):
            for storage in (*step.inputs, *step.outputs):
                if storage.block >= 0:
                    block = steps.blocks[storage.block]
                    block.first, block.last = min(block.first, now), max(block.last, now)
        # What is read after a segment lives until then; new values of variables, until the end.
        for (_, after), tensors in zip(self.cuts, self.read, strict=True):
            for tensor in tensors:
                storage = steps.storage[tensor]
                if storage.block >= 0:
                    block = steps.blocks[storage.block]
                    block.last = max(block.last, after)
        for tensor in steps.written.values():
            steps.blocks[steps.storage[tensor].block].last = end
        for number, size in enumerate(plan_memory(steps.blocks, largest, min_arenas=1)):
            self.buffers.add(f"arena{number}", "arena", size)
        if steps.constants:
            self.buffers.add("constant", "constant", len(steps.constants), data=steps.constants)
        uses = ((*step.inputs, *step.outputs) for step in steps.items)
        for number, size in enumerate(place_feeds(self.feeds, uses, largest)):
            self.buffers.add(f"{FEED}{number}", "feed", size)

    def write(self) -> dict[str, Any]:
        steps = self.steps
        return {
            "version": VERSION,
            "steps": [self._step(step) for step in steps.items],
            "segments": [list(cut) for cut in self.cuts],
            "feeds": {key: self._slot(tensor) for key, (tensor, _) in steps.feeds.items()},
            "fetches": {t.name: self._slot(t) for tensors in self.read for t in tensors},
            "writes": [self._write(name, tensor) for name, tensor in steps.written.items()],
            "buffers": self.buffers.table,
        }

    def _step(self, step: Step) -> dict[str, Any]:
        node = step.node
        return {
            "op": node.op.name,
            "attrs": encode(dict(node.attrs)),
            "inputs": [
                self._placed(storage, tensor)
                for storage, tensor in zip(step.inputs, node.inputs, strict=True)
            ],
            "outputs": [
                self._placed(storage, tensor)
                for storage, tensor in zip(step.outputs, node.outputs, strict=True)
            ],
            "nodes": [node.name],
        }

    def _slot(self, tensor: Tensor) -> list[Any]:
        return self._placed(self.steps.storage[tensor], tensor)

    def _write(self, name: str, value: Tensor) -> list[Any]:
        variable = Storage(self.steps.storage[value].size, self.variables[name])
        return [self._placed(variable, value), self._slot(value)]

    def _placed(self, storage: Storage, tensor: Tensor) -> list[Any]:
        buffer, offset = self.buffers.where(storage, self.steps.blocks, self.feeds)
        return [buffer, offset, list(tensor.spec.static_shape), tensor.dtype]
