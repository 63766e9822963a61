"""A training step, operation by operation: a dry run of the executor, which changes no variable.

NumPy computes the compiled operations, fused ones as well, on copies of the variables. The executor
takes them from its ready queue, as it does in the step itself; where a device works segment by
segment, in the order of its segments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.compiler.compile import PassReport
from playgrad.compiler.task_table import TaskEntry, task_table
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.summary import statistics
from playgrad.ops.state import holds_data, is_variable
from playgrad.runtime.executor import Executor
from playgrad.runtime.interpreter import RunValues, node_work
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.session import Session
from playgrad.runtime.tasks import Task
from playgrad.runtime.transport import LocalTransport

Array = np.ndarray[Any, Any]
NO_FEEDS: Mapping[Tensor, Array] = {}


@dataclass(frozen=True)
class TensorSight:
    """An input or output of an operation: its name and shape, and numbers about its values.

    Attributes:
        statistics: as `inspection.summary.statistics` returns them.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    statistics: dict[str, float | None]


@dataclass(frozen=True)
class Operation:
    """An operation that the executor has run.

    Attributes:
        op: its type, such as "matmul".
        members: the nodes that were fused into it, in order.
        waits_for: the places, in the order of execution, of the operations that it waited for.
        ready: the places of the operations in the ready queue when it was taken, itself among
            them, in the order of the queue.
        released: the counts of the operations that waited for it, as (place, before, after).
        dispatch: the number of the kernel call that computes it in the step; None on processors.
        kernel: the family of that kernel, "group" where several were merged; "" on processors.
    """

    name: str
    op: str
    device: str
    phase: str
    members: tuple[str, ...]
    waits_for: tuple[int, ...]
    ready: tuple[int, ...]
    released: tuple[tuple[int, int, int], ...]
    inputs: tuple[TensorSight, ...]
    outputs: tuple[TensorSight, ...]
    dispatch: int | None
    kernel: str


@dataclass(frozen=True)
class StepSight:
    """A step: its operations in the order of execution, and the passes that compiled it."""

    operations: tuple[Operation, ...]
    passes: tuple[PassReport, ...]


def step_operations(
    session: Session, fetches: Sequence[Node | Tensor], feed_dict: Mapping[Tensor, Array] = NO_FEEDS
) -> StepSight:
    """Run ``fetches`` once on copies of the variables of ``session``, and describe the operations.

    The next run of ``fetches`` computes the same numbers, up to rounding on a GPU.

    Raises:
        FeedError: a placeholder is not fed.
    """
    with session.lock:
        runnable = session.compiled(list(fetches), feed_dict)
        assert runnable is not None
        fed = {tensor.name: array for tensor, array in feed_dict.items()}
        operations = _DryRun(session, runnable, fed).run()
        return StepSight(tuple(operations), tuple(session.passes(list(fetches), feed_dict)))


@dataclass
class _Taken:
    """A task when the executor took it, and the results of its operation."""

    number: int
    ready: tuple[int, ...]
    inputs: tuple[TensorSight, ...] = ()
    outputs: tuple[TensorSight, ...] = ()
    released: list[tuple[int, int, int]] = field(default_factory=list)


class _DryRun:
    """The operations of a program as tasks of their own, and their events."""

    def __init__(self, session: Session, runnable: Runnable, fed: Mapping[str, Array]) -> None:
        self._session = session
        self._fed = fed
        self._runnable = runnable
        compiled = runnable.compiled
        self._table = task_table(compiled.order, {})
        self._rank = _ranks(runnable)
        self._counts = [len(entry.after) for entry in self._table]
        self._followers: list[list[int]] = [[] for _ in self._table]
        self._left: dict[Tensor, int] = {}  # inputs that have not been read yet
        for number, entry in enumerate(self._table):
            for before in entry.after:
                self._followers[before].append(number)
            for tensor in entry.nodes[0].inputs:
                self._left[tensor] = self._left.get(tensor, 0) + 1
        self._stored = self._variables(compiled.order)
        self._values = RunValues(self._stored.__getitem__)
        self._transport = LocalTransport()
        self._sights: dict[Tensor, TensorSight] = {}
        self._taken: list[_Taken] = []
        self._ready: tuple[int, ...] = ()

    def run(self) -> list[Operation]:
        tensors = self._values.tensors
        for name, tensor in self._runnable.compiled.program.feeds.items():
            tensors[tensor] = self._fed[name]
        for node in self._runnable.compiled.order:
            if node.op.name == "constant":
                tensors[node.outputs[0]] = node.attrs["value"]
            elif is_variable(node) and node.name in self._stored:
                tensors[node.outputs[0]] = self._stored[node.name]
        tasks = [self._task(number, entry) for number, entry in enumerate(self._table)]
        executor = Executor(threads=1, choose=self._choose)
        try:
            executor.run(tasks)
        finally:
            executor.close()
        return self._described()

    def _variables(self, order: Sequence[Node]) -> dict[str, Array]:
        """Return copies of variables, without data sets that can be read by rows."""
        read_whole = {
            tensor.node for user in order for tensor in user.inputs if not self._reads_rows(user)
        }
        whole = [
            node
            for node in order
            if is_variable(node) and (not holds_data(node) or node in read_whole)
        ]
        arrays = self._session.values([self._original(n).outputs[0] for n in whole])
        return {node.name: array for node, array in zip(whole, arrays, strict=True)}

    def _original(self, node: Node) -> Node:
        return self._runnable.graph.node(node.name)

    def _reads_rows(self, node: Node) -> bool:
        """Return whether the session can compute a node that reads a data set, by itself."""
        graph = self._runnable.graph
        return (
            node.name in graph
            and graph.node(node.name).op is node.op
            and bool(node.outputs)
            and not node.op.writes
            and len(graph.node(node.name).inputs) == len(node.inputs)
        )

    def _choose(self, ready: Sequence[int]) -> int:
        """Take the first of the queue, or that which a device's segments have first."""
        self._ready = tuple(ready)
        return min(ready, key=self._rank.__getitem__) if self._rank else ready[0]

    def _task(self, number: int, entry: TaskEntry) -> Task:
        node = entry.nodes[0]
        compute = self._work(node)

        def work() -> None:
            inputs = tuple(map(self._sight, node.inputs))
            taken = _Taken(number, self._ready or (number,), inputs)
            compute()
            taken.outputs = tuple(map(self._sight, node.outputs))
            for follower in self._followers[number]:
                before = self._counts[follower]
                self._counts[follower] = before - 1
                taken.released.append((follower, before, before - 1))
            self._forget(node)
            self._taken.append(taken)

        return Task(node.name, entry.device, work, entry.after, kind=node.phase)

    def _work(self, node: Node) -> Callable[[], None]:
        tensors, transport = self._values.tensors, self._transport
        if node.op.name == "send":
            return lambda: transport.put(node.attrs["channel"], tensors[node.inputs[0]])
        if node.op.name == "receive":
            target = node.outputs[0]
            return lambda: tensors.__setitem__(target, transport.get(node.attrs["channel"]))
        if any(is_variable(t.node) and t.node.name not in self._stored for t in node.inputs):
            return lambda: self._read_rows(node)
        return node_work(node, self._values)

    def _read_rows(self, node: Node) -> None:
        """Let the session take samples from a data set, which need not be copied for that."""
        original = self._original(node)
        feeds: dict[Any, Any] = {
            there: self._values.tensors[here]
            for there, here in zip(original.inputs, node.inputs, strict=True)
            if not is_variable(here.node)
        }
        arrays = self._session.run(list(original.outputs), feeds)
        self._values.tensors.update(zip(node.outputs, arrays, strict=True))

    def _sight(self, tensor: Tensor) -> TensorSight:
        if tensor not in self._sights:
            array = self._values.tensors.get(tensor)  # of a data set there is none
            shape = tensor.spec.static_shape if array is None else array.shape
            numbers = {} if array is None else statistics(np.asarray(array))
            self._sights[tensor] = TensorSight(tensor.name, tuple(shape), tensor.dtype, numbers)
        return self._sights[tensor]

    def _forget(self, node: Node) -> None:
        """Free the values that nothing needs any more."""
        for tensor in node.inputs:
            self._left[tensor] -= 1
        for tensor in (*node.inputs, *node.outputs):
            if not self._left.get(tensor):
                self._values.tensors.pop(tensor, None)

    def _described(self) -> list[Operation]:
        place = {taken.number: at for at, taken in enumerate(self._taken)}
        fused = self._runnable.compiled.program.fused
        dispatches = _dispatches(self._runnable)
        operations = []
        for taken in self._taken:
            entry = self._table[taken.number]
            node = entry.nodes[0]
            dispatch, kernel = dispatches.get((entry.device, node.name), (None, ""))
            operations.append(
                Operation(
                    node.name,
                    str(node.attrs.get("base", node.op.name)),
                    entry.device,
                    node.phase,
                    fused.get(node.name, ()),
                    tuple(sorted(place[before] for before in entry.after)),
                    tuple(place[number] for number in taken.ready),
                    tuple((place[n], before, after) for n, before, after in taken.released),
                    taken.inputs,
                    taken.outputs,
                    dispatch,
                    kernel,
                )
            )
        return operations


def _ranks(runnable: Runnable) -> dict[int, int]:
    """Return the place of each operation in the order of segments; nothing if there are none."""
    compiled = runnable.compiled
    if not compiled.segments:
        return {}
    entries = task_table(compiled.order, compiled.segments)
    place = {node: at for at, node in enumerate(n for entry in entries for n in entry.nodes)}
    table = task_table(compiled.order, {})
    return {number: place[entry.nodes[0]] for number, entry in enumerate(table)}


def _dispatches(runnable: Runnable) -> dict[tuple[str, str], tuple[int, str]]:
    """Return number and family of the kernel call of each node, by device and name."""
    calls: dict[tuple[str, str], tuple[int, str]] = {}
    for device, loaded in runnable.plans.items():
        families = {kernel["id"]: kernel["family"] for kernel in loaded.plan.get("kernels", ())}
        for number, command in enumerate(loaded.plan.get("commands", ())):
            for name in command["nodes"]:
                calls.setdefault((device, name), (number, families[command["kernel"]]))
    return calls
