"""Builds the tasks of a compiled program: one for each node on the cpu, for each segment
elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad.compiler.compile import Compiled
from playgrad.compiler.lifetimes import last_uses
from playgrad.compiler.segments import Segment
from playgrad.compiler.task_table import TaskEntry, task_table
from playgrad.devices.device import Loaded
from playgrad.devices.kinds import HOST
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.runtime.compiled_segments import SegmentCompiler
from playgrad.runtime.interpreter import RunValues, is_heavy, node_work
from playgrad.runtime.segments import host_coroutine, plan_coroutine
from playgrad.runtime.tasks import Coroutine, SegmentTask, Task
from playgrad.runtime.transport import Transport

Array = np.ndarray[Any, Any]


class TaskBuilder:
    """Builds the tasks of one program for one set of values.

    Args:
        plans: the loaded Plan of each device that has one.
        values: the values that the tasks read and write.
        transport: carries tensors between devices.
        agree: is called before the first task that changes variables in place.
        compiler: keeps compiled segments, for the tasks that are built after an error.

    Attributes:
        tasks: in an order that respects all edges.
        constants: values that are set before the tasks run.
        read_at_start: variables whose values are read before the tasks run.
        dying: for each node of a segment, the tensors that are not needed after it.
    """

    def __init__(
        self,
        compiled: Compiled,
        plans: Mapping[str, Loaded],
        values: RunValues,
        transport: Transport,
        agree: Callable[[], None] | None,
        compiler: SegmentCompiler,
    ) -> None:
        self.tasks: list[Task] = []
        self.constants: dict[Tensor, Array] = {}
        self.read_at_start: list[Node] = []
        self.dying: dict[Node, tuple[Tensor, ...]] = {}
        self._compiled = compiled
        self._plans = plans
        self._values = values
        self._transport = transport
        self._agree = agree
        self._compiler = compiler
        for segments in compiled.segments.values():
            self.dying.update(last_uses(segments, compiled.program.fetches))
        self._build()

    def _build(self) -> None:
        segments = self._compiled.segments
        inside = {node for row in segments.values() for each in row for node in each.nodes}
        for node in self._compiled.order:
            if node in inside:
                continue
            if node.op.name == "constant":
                self.constants[node.outputs[0]] = node.attrs["value"]
            elif is_variable(node):
                self.read_at_start.append(node)
        self.tasks.extend(map(self._task, task_table(self._compiled.order, segments)))
        if self._agree is not None and any(task.final for task in self.tasks):
            self._add_agreement(self._agree)

    def _add_agreement(self, agree: Callable[[], None]) -> None:
        """Add a task that is done before all final ones and after all others."""
        late = {number for number, task in enumerate(self.tasks) if task.final}
        for number, task in enumerate(self.tasks):  # each after its predecessors
            if not late.isdisjoint(task.after):
                late.add(number)
        number = len(self.tasks)
        early = tuple(each for each in range(number) if each not in late)
        for each in late:
            self.tasks[each].after += (number,)
        self.tasks.append(Task("agree", HOST, agree, early, kind="receive"))

    def _task(self, entry: TaskEntry) -> Task:
        segment = entry.segment
        if segment is None:
            return self._node_task(entry)
        task = SegmentTask(
            segment.name,
            segment.device,
            after=entry.after,
            coroutine=self._coroutine(segment),
            segment=segment,
            previous=entry.previous,
            final=segment.final,
            here=segment.device not in self._plans,
        )
        if segment.device in self._plans:
            task.give_up = self._plans[segment.device].device.give_up
        return task

    def _coroutine(self, segment: Segment) -> Coroutine:
        if segment.device in self._plans:
            plan, fetches = self._plans[segment.device], self._compiled.program.fetches
            return plan_coroutine(segment, plan, fetches, self._values, self._transport)
        dying = {tensor for node in segment.nodes for tensor in self.dying.get(node, ())}
        return host_coroutine(segment, dying, self._values, self._transport, self._compiler)

    def _node_task(self, entry: TaskEntry) -> Task:
        node = entry.nodes[0]
        work = self._node_work(node)
        return Task(node.name, entry.device, work, entry.after, is_heavy(node), node.phase)

    def _node_work(self, node: Node) -> Callable[[], None]:
        tensors, transport = self._values.tensors, self._transport
        if node.op.name == "send":
            source, channel = node.inputs[0], node.attrs["channel"]
            return lambda: transport.put(channel, tensors[source])
        if node.op.name == "receive":
            target, channel = node.outputs[0], node.attrs["channel"]
            return lambda: tensors.__setitem__(target, transport.get(channel))
        return node_work(node, self._values)
