"""What devices do for their segments: take what was received, run, and hand on what is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.segments import Segment
from playgrad.devices.device import Loaded
from playgrad.devices.pending import Pending
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.python_program import StraightProgram
from playgrad.runtime.trace import Event, Trace
from playgrad.runtime.transport import Transport

Array = np.ndarray[Any, Any]
Steps = Callable[[float, "Trace | None"], Generator[Pending, None, None]]


def moved_bytes(segment: Segment) -> dict[str, int]:
    """How much the segment's device receives for it and sends of it."""
    moved = {"receive": 0, "send": 0}
    for node in segment.nodes:
        if node.op.name in moved:
            moved[node.op.name] += sum(_size(tensor) for tensor in (*node.inputs, *node.outputs))
    return moved


def host_steps(
    segment: Segment,
    dying: Collection[Tensor],
    values: dict[Tensor, Array],
    written: dict[str, Array],
    stored: Callable[[str], Array],
    transport: Transport,
) -> Steps:
    """A segment of a processor, run in this process.

    Args:
        dying: tensors that are not needed any more after the segment.
        values: the run's feeds and results by tensor.
        written: takes new values of variables by name; they count once the run has ended.
        stored: gives the value that a variable had when the run began.
        transport: carries what is sent and received.
    """
    nodes = [node for node in segment.nodes if node.op.name not in ("send", "receive")]
    received = [(n.outputs[0], n.attrs["channel"]) for n in segment.nodes if n.op.name == "receive"]
    sends = [(n.inputs[0], n.attrs["channel"]) for n in segment.nodes if n.op.name == "send"]
    made = dict.fromkeys(tensor for node in nodes for tensor in node.outputs)
    used = (*(tensor for node in nodes for tensor in node.inputs), *(sent for sent, _ in sends))
    given = [(tensor, tensor in dying) for tensor in dict.fromkeys(used) if tensor not in made]
    kept = [tensor for tensor in made if tensor not in dying]
    moved = moved_bytes(segment)
    program: StraightProgram | None = None  # until the first run

    def value(name: str) -> Array:
        return written[name] if name in written else stored(name)

    def steps(queued: float, trace: Trace | None) -> Generator[Pending, None, None]:
        nonlocal program
        start = time.perf_counter()
        for tensor, channel in received:
            values[tensor] = transport.get(channel)
        if program is None:
            feeds = {tensor.name: tensor for tensor, _ in given}
            program = StraightProgram(nodes, [*kept, *(sent for sent, _ in sends)], feeds, ())
        fed = [values.pop(tensor) if last else values[tensor] for tensor, last in given]
        results, new = program.run_with(value, fed, _never)
        written.update(new)
        values.update(zip(kept, results, strict=False))
        for (_, channel), array in zip(sends, results[len(kept) :], strict=True):
            transport.put(channel, array)
        if trace is not None:
            end = time.perf_counter()
            clock = {"receive": (start, start), segment.kind: (start, end), "send": (end, end)}
            _note(trace, segment, queued, clock, moved)
        yield from ()

    return steps


def _never() -> bool:
    return False


def plan_steps(
    segment: Segment,
    plan: Loaded,
    fetches: Sequence[Tensor],
    values: dict[Tensor, Array],
    transport: Transport,
) -> Steps:
    """A segment that a Plan on another device carries out.

    Args:
        fetches: what the program's caller wants.
        values: the run's feeds and results by tensor.
        transport: carries what is sent and received.
    """
    feeds: dict[str, Node] = {}
    sends: list[tuple[str, str]] = []
    for node in segment.nodes:
        if node.op.name in ("placeholder", "receive"):
            feeds[node.attrs.get("channel", node.name)] = node
        elif node.op.name == "send":
            sends.append((node.inputs[0].name, node.attrs["channel"]))
    results = segment.results(fetches)
    names = [tensor.name for tensor in results]
    fetched = [tensor for tensor in results if tensor in fetches]

    def steps(queued: float, trace: Trace | None) -> Generator[Pending, None, None]:
        given = {
            key: values[node.outputs[0]] if node.op.name == "placeholder" else transport.get(key)
            for key, node in feeds.items()
        }
        if trace is None:
            begun = plan.begin(segment.index, given, names)
            yield begun
            arrays = begun.result()
        else:
            arrays = yield from _timed(segment, plan, given, names, queued, trace)
        for tensor in fetched:
            values[tensor] = arrays[tensor.name]
        for name, channel in sends:
            transport.put(channel, arrays[name])

    return steps


def _timed(
    segment: Segment,
    plan: Loaded,
    given: Mapping[str, Array],
    names: Sequence[str],
    queued: float,
    trace: Trace,
) -> Generator[Pending, None, dict[str, Array]]:
    """As ``plan.begin``, in three parts, each waited for, so that each has a time."""
    clock: dict[str, tuple[float, float]] = {}
    arrays: dict[str, Array] = {}
    parts: list[tuple[str, int | None, Mapping[str, Array], Sequence[str]]] = [
        ("receive", None, given, ()),
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
        "receive": sum(array.nbytes for array in given.values()),
        "send": sum(arrays[name].nbytes for name in names),
    }
    _note(trace, segment, queued, clock, moved)
    return arrays


def _note(
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
