"""Runs a program once, slowly, so that each operation or kernel has a time of its own.

An ordinary run replays a whole segment in one call. Here each command of a GPU's Plan gets a time:
from timestamps if the GPU writes them, otherwise because it is submitted and waited for alone. The
operations of processors run one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

import numpy as np

from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.segments import Segment
from playgrad.devices.device import Loaded
from playgrad.devices.pending import Pending
from playgrad.devices.webgpu import LoadedPlan
from playgrad.graph.tensor import Node
from playgrad.runtime.build_tasks import TaskBuilder
from playgrad.runtime.executor import Executor
from playgrad.runtime.interpreter import node_work
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.segments import moved_bytes, sources_and_sends
from playgrad.runtime.tasks import Attend, Coroutine
from playgrad.runtime.trace import Event, Trace

Array = np.ndarray[Any, Any]
_ROUND_TRIPS = 5
_MOVES = {"send", "receive"}


class TracedRun(NamedTuple):
    """Result of `Session.trace`: the fetched values, and the trace of the run that computed
    them."""

    values: Any
    trace: Trace


class _TimedTasks(TaskBuilder):
    """Builds tasks that time each operation of their segments."""

    def _coroutine(self, segment: Segment) -> Coroutine:
        plan = self._plans.get(segment.device)
        if plan is None:
            return self._operations(segment)
        if isinstance(plan, LoadedPlan):
            return self._kernels(segment, plan)
        return _whole(segment, super()._coroutine(segment))

    def _operations(self, segment: Segment) -> Coroutine:
        """Return the coroutine of a segment that this process computes."""
        tensors, transport = self._values.tensors, self._transport
        received = [(n.outputs[0], n.attrs["channel"]) for n in segment.nodes if _is(n, "receive")]
        sends = [(n.inputs[0], n.attrs["channel"]) for n in segment.nodes if _is(n, "send")]
        works = [(n, node_work(n, self._values)) for n in segment.nodes if n.op.name not in _MOVES]

        def coroutine(
            queued: float, trace: Trace | None, attend: Attend
        ) -> Generator[Pending, None, None]:
            assert trace is not None
            for tensor, channel in received:
                tensors[tensor] = transport.get(channel)
            for node, work in works:
                start = time.perf_counter()
                work()
                times = (queued, start, time.perf_counter())
                trace.events.append(
                    Event(node.name, segment.device, *times, node.phase, nodes=(node.name,))
                )
            for tensor, channel in sends:
                transport.put(channel, tensors[tensor])
            yield from ()

        return coroutine

    def _kernels(self, segment: Segment, plan: LoadedPlan) -> Coroutine:
        """Return the coroutine of a GPU's segment."""
        sources, sends = sources_and_sends(segment)
        fetches = self._compiled.program.fetches
        results = segment.results(fetches)
        fetched = [tensor for tensor in results if tensor in set(fetches)]
        tensors, transport = self._values.tensors, self._transport
        phases = {node.name: node.phase for node in segment.nodes}
        moved = moved_bytes(segment)

        def coroutine(
            queued: float, trace: Trace | None, attend: Attend
        ) -> Generator[Pending, None, None]:
            assert trace is not None

            def add(name: str, times: tuple[float, float], **facts: Any) -> None:
                trace.events.append(Event(name, segment.device, queued, *times, **facts))

            feeds = {
                key: tensors[n.outputs[0]] if n.op.name == "placeholder" else transport.get(key)
                for key, n in sources.items()
            }
            start = time.perf_counter()
            begun = plan.begin(None, feeds, ())
            yield begun
            begun.result()
            if feeds:
                size = sum(array.nbytes for array in feeds.values())
                add(segment.name, (start, time.perf_counter()), kind="receive", bytes=size)
            times = yield from _command_times(plan, segment.index, trace)
            first, _ = plan.plan["segments"][segment.index]
            for number, each in enumerate(times, start=first):
                command = plan.plan["commands"][number]
                family = _family(plan.plan, command["kernel"])
                facts = {"kind": phases.get(command["node"], segment.kind), "kernel": family}
                add(_title(command), each, nodes=tuple(command["nodes"]), **facts)
            start = time.perf_counter()
            begun = plan.begin(None, {}, [tensor.name for tensor in results])
            yield begun
            arrays = begun.result()
            if results:
                size = sum(array.nbytes for array in arrays.values()) or moved["send"]
                add(segment.name, (start, time.perf_counter()), kind="send", bytes=size)
            for tensor in fetched:
                tensors[tensor] = arrays[tensor.name]
            for name, channel in sends:
                transport.put(channel, arrays[name])

        return coroutine


class TimedRunnable(Runnable):
    """A compiled program whose runs give each operation a time.

    Args:
        runnable: the program as sessions run it.
        apart: whether GPUs compute each operation by a kernel of its own, rather than merged with
            others as in an ordinary run.
    """

    builder = _TimedTasks

    def __init__(self, runnable: Runnable, apart: bool = False) -> None:
        self._apart = apart
        self._opened: list[Loaded] = []
        try:
            plans = {name: self._finer(plan, runnable) for name, plan in runnable.plans.items()}
            compiled, graph, store = runnable.compiled, runnable.graph, runnable.store
            self._executor = Executor(threads=1)
            super().__init__(
                compiled, graph, store, plans, self._executor, runnable.new_transport,
                runnable.members,
            )  # fmt: skip
        except BaseException:
            self.unload()
            raise

    def _finer(self, loaded: Loaded, runnable: Runnable) -> Loaded:
        """Return ``loaded`` as another program of its device, in which each command is a segment,
        too: the operations after the segments of the Plan."""
        if not isinstance(loaded, LoadedPlan):
            return loaded
        name, store = loaded.device.name, runnable.store
        plan = loaded.plan
        if self._apart:
            plan = PlanBuilder(
                runnable.compiled.segments[name],
                runnable.compiled.program.fetches,
                loaded.device.target,
                store.places_on(runnable.graph, name),
                merge_dispatches=False,
            ).build()
        commands = [[number, number + 1] for number in range(len(plan["commands"]))]
        finer = {**plan, "segments": [*plan["segments"], *commands]}
        opened = loaded.device.load(finer, store.external(name))
        self._opened.append(opened)
        return opened

    def traced(self, feeds: Mapping[str, Array], trace: Trace) -> list[Array]:
        """Run once, add the events to ``trace``, and return the fetched arrays in order."""
        for task in self.tasks:
            trace.clocks.setdefault(task.device, "operations")
        return self.run(feeds, trace)

    def unload(self) -> None:
        for plan in self._opened:
            plan.unload()
        if hasattr(self, "_executor"):
            self._executor.close()


def _is(node: Node, op: str) -> bool:
    return node.op.name == op


def _whole(segment: Segment, coroutine: Coroutine) -> Coroutine:
    """Return ``coroutine``, of a processor elsewhere, which runs its segments as a whole."""

    def timed(queued: float, trace: Trace | None, attend: Attend) -> Generator[Pending, None, None]:
        assert trace is not None
        trace.clocks[segment.device] = "segments"
        yield from coroutine(queued, trace, attend)

    return timed


def _command_times(
    plan: LoadedPlan, segment: int, trace: Trace
) -> Generator[Pending, None, list[tuple[float, float]]]:
    """Run the commands of a segment; return when each began and ended, none before the last had."""
    device = plan.device.name
    start = time.perf_counter()
    stamped = plan.time_kernels(segment)
    if stamped is not None:
        trace.clocks[device] = "timestamps"
        return _in_order(stamped, start, time.perf_counter())
    trace.clocks[device] = "waits"
    if device not in trace.round_trips:
        trace.round_trips[device] = yield from _round_trip(plan)
    first, last = plan.plan["segments"][segment]
    offset = len(plan.plan["segments"]) - len(plan.plan["commands"])
    times = []
    for number in range(first, last):
        start = time.perf_counter()
        begun = plan.begin(offset + number, {}, ())
        yield begun
        begun.result()
        times.append((start, time.perf_counter()))
    plan.begun.add(segment)
    return times


def _round_trip(plan: LoadedPlan) -> Generator[Pending, None, float]:
    """Return the least seconds of a call that does nothing."""
    seconds = []
    for _ in range(_ROUND_TRIPS):
        start = time.perf_counter()
        begun = plan.begin(None, {}, ())
        yield begun
        begun.result()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _in_order(
    stamped: list[tuple[float, float]], start: float, end: float
) -> list[tuple[float, float]]:
    """Return times of a device's clock on that of this process, between ``start`` and ``end``.

    The work ended just before ``end``. Kernels that do not depend on each other may overlap; the
    overlap counts for the first.
    """
    if not stamped:
        return []
    shift = max(end - max(last for _, last in stamped), start - stamped[0][0])
    times, before = [], start
    for first, last in stamped:
        begin = min(max(first + shift, before), end)
        before = min(max(last + shift, begin), end)
        times.append((begin, before))
    return times


def _family(plan: Mapping[str, Any], kernel: int) -> str:
    return next(str(each["family"]) for each in plan["kernels"] if each["id"] == kernel)


def _title(command: Mapping[str, Any]) -> str:
    more = len(command["nodes"]) - 1
    return f"{command['node']} and {more} more" if more else str(command["node"])
