"""A compiled program with its tasks: what a session runs, again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad.compiler.compile import Compiled
from playgrad.compiler.lifetimes import last_uses
from playgrad.compiler.segments import Segment
from playgrad.compiler.task_table import TaskEntry, task_table
from playgrad.devices.device import Loaded
from playgrad.devices.pending import Done, Result, Then
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.runtime.executor import Executor
from playgrad.runtime.interpreter import node_work
from playgrad.runtime.python_program import StraightProgram
from playgrad.runtime.segments import Steps, host_steps, plan_steps
from playgrad.runtime.tasks import SegmentTask, Task
from playgrad.runtime.trace import Trace
from playgrad.runtime.transport import LocalTransport, Transport
from playgrad.runtime.variables import VariableStore

Array = np.ndarray[Any, Any]

HEAVY_BYTES = 1 << 18
"""Host operations that touch more bytes than this are worth another thread."""


class Runnable:
    """The tasks of a compiled program over one session's variables.

    On the cpu a task is one node, on other devices one segment. Values are kept by tensor; what is
    written to variables of the cpu takes effect when all tasks have ended, so a failing run changes
    none.

    Args:
        graph: the user's graph, which names the variables.
    """

    def __init__(
        self,
        compiled: Compiled,
        graph: Graph,
        store: VariableStore,
        plans: Mapping[str, Loaded],
        executor: Executor,
        new_transport: Callable[[], Transport] = LocalTransport,
    ) -> None:
        self.compiled = compiled
        self.graph = graph
        self.store = store
        self.plans = plans
        self.executor = executor
        self.new_transport = new_transport
        self._start_over()

    def _start_over(self) -> None:
        """Make the tasks, and room of their own for what they compute."""
        self.constants: dict[Tensor, Array] = {}
        self.read_at_start: list[Node] = []
        self.values: dict[Tensor, Array] = {}
        self.transport = self.new_transport()
        self.written: dict[str, Array] = {}
        self.tasks: list[Task] = []
        self.dying: dict[Node, tuple[Tensor, ...]] = {}
        for own in self.compiled.segments.values():
            self.dying.update(last_uses(own, self.compiled.program.fetches))
        self._build()
        self.straight = self._straight()

    def _straight(self) -> StraightProgram | None:
        """The program as one function, where none of its tasks could run beside another."""
        heavy = {task.name for task in self.tasks if task.heavy}
        if any(isinstance(task, SegmentTask) for task in self.tasks):
            return None
        if self.executor.choose is not None or (heavy and self.executor.threads > 1):
            return None
        program, order = self.compiled.program, self.compiled.order
        nodes = [node for node in order if node.name in heavy]
        return StraightProgram(order, program.fetches, program.feeds, nodes)

    def _build(self) -> None:
        inside = {
            node
            for segments in self.compiled.segments.values()
            for segment in segments
            for node in segment.nodes
        }
        for node in self.compiled.order:
            if node in inside:
                continue
            if node.op.name == "constant":
                self.constants[node.outputs[0]] = node.attrs["value"]
            elif is_variable(node):
                self.read_at_start.append(node)
        table = task_table(self.compiled.order, self.compiled.segments)
        self.tasks.extend(map(self._task, table))

    def _task(self, entry: TaskEntry) -> Task:
        segment = entry.segment
        if segment is not None:
            task = SegmentTask(
                segment.name,
                segment.device,
                after=entry.after,
                steps=self._segment_steps(segment),
                segment=segment,
                behind=entry.behind,
            )
            if segment.device in self.plans:
                task.give_up = self.plans[segment.device].device.give_up
            return task
        node = entry.nodes[0]
        touched = sum(t.spec.size for t in (*node.inputs, *node.outputs))
        heavy = touched * 4 > HEAVY_BYTES
        work = self._node_work(node)
        return Task(node.name, entry.device, work, entry.after, heavy, node.phase)

    def _segment_steps(self, segment: Segment) -> Steps:
        if segment.device in self.plans:
            plan, fetches = self.plans[segment.device], self.compiled.program.fetches
            return plan_steps(segment, plan, fetches, self.values, self.transport)
        dying = {tensor for node in segment.nodes for tensor in self.dying.get(node, ())}
        return host_steps(segment, dying, self.values, self.written, self._stored, self.transport)

    def _node_work(self, node: Node) -> Callable[[], None]:
        values, transport = self.values, self.transport
        name = node.op.name
        if name == "send":
            source, channel = node.inputs[0], node.attrs["channel"]
            return lambda: transport.put(channel, values[source])
        if name == "receive":
            target, channel = node.outputs[0], node.attrs["channel"]
            return lambda: values.__setitem__(target, transport.get(channel))
        return node_work(node, values, self.written, self._stored)

    def _stored(self, name: str) -> Array:
        return self.store.arrays[self.graph, name]

    def run(
        self,
        feeds: Mapping[str, Array],
        trace: Trace | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> list[Array]:
        """One run; returns the fetched arrays in order.

        Args:
            feeds: arrays by the name under which the program is fed.
        """
        if self.straight is not None and trace is None:
            return self._run_straight(self.straight, feeds, stop or (lambda: False))
        self._begin(feeds)
        try:
            self.executor.run(self.tasks, trace, stop)
            for plan in self.plans.values():
                plan.commit()
            self._keep(self.written, feeds)
            # Copies: what is fetched may be the value of a variable, and the caller may change it.
            arrays = [self.values[tensor].copy() for tensor in self.compiled.program.fetches]
        except BaseException:
            self._forget_values()
            self._start_over()  # a device that hangs may write to the old ones when it wakes up
            raise
        self._forget_values()
        return arrays

    def _run_straight(
        self,
        program: StraightProgram,
        feeds: Mapping[str, Array],
        stop: Callable[[], bool],
    ) -> list[Array]:
        arrays, written = program.run(self._value, feeds, stop)
        self._keep(written, feeds)
        return [np.array(array) for array in arrays]

    def _value(self, name: str) -> Array:
        """What a variable of the processor holds when a run begins."""
        array = self.store.arrays.get((self.graph, name))
        # An initial value may be made of another variable's, and that be on a GPU.
        return self.store.get((self.graph, name), self.graph.node(name)) if array is None else array

    def _keep(self, written: Mapping[str, Array], feeds: Mapping[str, Array]) -> None:
        for name, array in written.items():
            self.store.arrays[self.graph, name] = _own(array, feeds)

    def _forget_values(self) -> None:
        self.values.clear()
        self.transport.clear()
        self.written.clear()

    def begin(self, feeds: Mapping[str, Array]) -> Result[list[Array]]:
        """As ``run``, without waiting where all of it is one segment of another device."""
        only = self._only_segment()
        if only is None:
            return Done(self.run(feeds))
        given = {t.node.name: feeds[name] for name, t in self.compiled.program.feeds.items()}
        names = [tensor.name for tensor in self.compiled.program.fetches]
        plan = self.plans[only.device]
        plan.start()
        begun = plan.begin(only.index, given, list(dict.fromkeys(names)), last=True)
        return Then(begun, lambda arrays: [arrays[name] for name in names])

    def _begin(self, feeds: Mapping[str, Array]) -> None:
        for plan in self.plans.values():
            plan.start()
        self.values.update(self.constants)
        for node in self.read_at_start:
            self.values[node.outputs[0]] = self._value(node.name)
        for name, tensor in self.compiled.program.feeds.items():
            self.values[tensor] = feeds[name]

    def repeat(
        self, feeds: Mapping[str, Array], steps: int, stop: Callable[[], bool]
    ) -> tuple[int, float]:
        """``steps`` runs with the same feeds and nothing fetched.

        If all of it is one segment of another device, that is told once and left to it.

        Returns:
            The steps done (fewer after a stop) and the seconds they took.
        """
        only = self._only_segment()
        start = time.perf_counter()
        if only is not None:
            program = self.compiled.program
            given = {t.node.name: feeds[name] for name, t in program.feeds.items()}
            plan = self.plans[only.device]
            _, done, seconds = plan.run(only.index, given, [], steps, stop)
            return done, seconds
        for done in range(steps):
            if done and stop():
                return done, time.perf_counter() - start
            self.run(feeds)
        return steps, time.perf_counter() - start

    def _only_segment(self) -> Segment | None:
        segments = [segment for own in self.compiled.segments.values() for segment in own]
        only = segments[0] if len(segments) == 1 and len(self.tasks) == 1 else None
        return only if only is not None and only.device in self.plans else None

    @property
    def variables(self) -> set[str]:
        """The names of the variables that it reads or writes."""
        return {node.name for node in self.compiled.order if is_variable(node)}

    @property
    def is_lost(self) -> bool:
        """Whether a device that it was loaded on went away."""
        return any(plan.device.lost for plan in self.plans.values())

    @property
    def dispatches(self) -> int:
        """Kernel dispatches in one run, on all GPUs."""
        return sum(len(plan.plan.get("commands", ())) for plan in self.plans.values())

    def unload(self) -> None:
        for plan in self.plans.values():
            plan.unload()


def _own(array: Array, feeds: Mapping[str, Array]) -> Array:
    """``array``, copied if it is (part of) one that the caller fed and may change."""
    fed = any(np.may_share_memory(array, other) for other in feeds.values())
    return array.copy() if fed else array
