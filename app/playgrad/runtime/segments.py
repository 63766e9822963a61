"""The work of a device's segment: take received tensors, run, and send results on."""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.segments import Segment
from playgrad.devices.device import Loaded
from playgrad.devices.pending import Pending
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.compiled_segments import SegmentCompiler, SegmentProgram
from playgrad.runtime.interpreter import RunValues, is_heavy
from playgrad.runtime.tasks import Attend, Coroutine
from playgrad.runtime.trace import Event, Trace
from playgrad.runtime.transport import Transport

Array = np.ndarray[Any, Any]


def moved_bytes(segment: Segment) -> dict[str, int]:
    """Return the bytes that the segment's device receives for it ("receive") and sends
    ("send")."""
    moved = {"receive": 0, "send": 0}
    for node in segment.nodes:
        if node.op.name in moved:
            moved[node.op.name] += sum(_size(tensor) for tensor in (*node.inputs, *node.outputs))
    return moved


def sources_and_sends(segment: Segment) -> tuple[dict[str, Node], list[tuple[str, str]]]:
    """Return the nodes that a Plan is fed for, by the names of its feeds, and the tensors it sends:
    the names of tensors with their channels."""
    sources: dict[str, Node] = {}
    sends: list[tuple[str, str]] = []
    for node in segment.nodes:
        if node.op.name in ("placeholder", "receive"):
            sources[node.attrs.get("channel", node.name)] = node
        elif node.op.name == "send":
            sends.append((node.inputs[0].name, node.attrs["channel"]))
    return sources, sends


def host_coroutine(
    segment: Segment,
    dying: Collection[Tensor],
    values: RunValues,
    transport: Transport,
    compiler: SegmentCompiler,
) -> Coroutine:
    """Return the coroutine of a processor's segment, run in this process.

    Args:
        dying: tensors that are not needed after the segment.
        transport: carries the tensors that are sent and received.
        compiler: compiles the segment, if it is to be.
    """
    computed = [node for node in segment.nodes if node.op.name not in ("send", "receive")]
    received = [(n.outputs[0], n.attrs["channel"]) for n in segment.nodes if n.op.name == "receive"]
    sends = [(n.inputs[0], n.attrs["channel"]) for n in segment.nodes if n.op.name == "send"]
    used = [*(t for node in computed for t in node.inputs), *(sent for sent, _ in sends)]
    constants = dict.fromkeys(t.node for t in used if t.node.op.name == "constant")
    nodes = [*constants, *computed]
    results = dict.fromkeys(tensor for node in nodes for tensor in node.outputs)
    feeds = [(tensor, tensor in dying) for tensor in dict.fromkeys(used) if tensor not in results]
    lasting = [t for node in computed for t in node.outputs if t not in dying]
    moved = moved_bytes(segment)
    tensors = values.tensors
    program: SegmentProgram | None = None  # until the first run

    def coroutine(
        queued: float, trace: Trace | None, attend: Attend
    ) -> Generator[Pending, None, None]:
        nonlocal program
        start = time.perf_counter()
        for tensor, channel in received:
            tensors[tensor] = transport.get(channel)
        began = time.perf_counter()
        if program is None:
            names = {tensor.name: tensor for tensor, _ in feeds}
            heavy = [node for node in nodes if is_heavy(node)]
            wanted = [*lasting, *(sent for sent, _ in sends)]
            program = compiler.program(segment, nodes, wanted, names, heavy)
        fed = [tensors.pop(tensor) if last else tensors[tensor] for tensor, last in feeds]
        fetched, written = program.run_with(values.variable, fed, attend)
        values.written.update(written)
        tensors.update(zip(lasting, fetched, strict=False))
        for (_, channel), array in zip(sends, fetched[len(lasting) :], strict=True):
            transport.put(channel, array)
        if trace is not None:
            end = time.perf_counter()
            clock = {"receive": (start, began), segment.kind: (began, end), "send": (end, end)}
            _add_events(trace, segment, queued, clock, moved)
        yield from ()

    return coroutine


def plan_coroutine(
    segment: Segment,
    plan: Loaded,
    fetches: Sequence[Tensor],
    values: RunValues,
    transport: Transport,
) -> Coroutine:
    """Return the coroutine of a segment that a Plan on another device runs.

    Args:
        fetches: the fetches of the program.
        transport: carries the tensors that are sent and received.
    """
    sources, sends = sources_and_sends(segment)
    results = segment.results(fetches)
    names = [tensor.name for tensor in results]
    of_program = set(fetches)
    fetched = [tensor for tensor in results if tensor in of_program]
    tensors = values.tensors

    def coroutine(
        queued: float, trace: Trace | None, attend: Attend
    ) -> Generator[Pending, None, None]:
        feeds = {
            key: tensors[node.outputs[0]] if node.op.name == "placeholder" else transport.get(key)
            for key, node in sources.items()
        }
        if trace is None:
            begun = plan.begin(segment.index, feeds, names)
            yield begun
            arrays = begun.result()
        else:
            arrays = yield from _timed(segment, plan, feeds, names, queued, trace)
        for tensor in fetched:
            tensors[tensor] = arrays[tensor.name]
        for name, channel in sends:
            transport.put(channel, arrays[name])

    return coroutine


def _timed(
    segment: Segment,
    plan: Loaded,
    feeds: Mapping[str, Array],
    names: Sequence[str],
    queued: float,
    trace: Trace,
) -> Generator[Pending, None, dict[str, Array]]:
    """Run a segment in three parts, and wait for each, so that each has a time."""
    clock: dict[str, tuple[float, float]] = {}
    arrays: dict[str, Array] = {}
    parts: list[tuple[str, int | None, Mapping[str, Array], Sequence[str]]] = [
        ("receive", None, feeds, ()),
        (segment.kind, segment.index, {}, ()),
        ("send", None, {}, names),
    ]
    for kind, number, feed, fetch in parts:
        start = time.perf_counter()
        begun = plan.begin(number, feed, fetch)
        yield begun
        arrays = begun.result()
        clock[kind] = (start, time.perf_counter())
    moved = {
        "receive": sum(array.nbytes for array in feeds.values()),
        "send": sum(arrays[name].nbytes for name in names),
    }
    _add_events(trace, segment, queued, clock, moved)
    return arrays


def _add_events(
    trace: Trace,
    segment: Segment,
    queued: float,
    clock: Mapping[str, tuple[float, float]],
    moved: Mapping[str, int],
) -> None:
    for kind, (start, end) in clock.items():
        size = moved.get(kind, 0)
        if size or kind not in moved:
            trace.events.append(Event(segment.name, segment.device, queued, start, end, kind, size))


def _size(tensor: Tensor) -> int:
    return tensor.spec.size * np.dtype(tensor.dtype).itemsize
