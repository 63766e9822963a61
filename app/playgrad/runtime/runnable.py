"""Compiled programs ready to run: a session runs each one again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from playgrad.compiler.compile import Compiled
from playgrad.compiler.segments import Segment
from playgrad.devices.device import Loaded
from playgrad.devices.kinds import HOST, kind_of
from playgrad.devices.pending import Done, Result, Then
from playgrad.graph.graph import Graph
from playgrad.ops.state import is_variable
from playgrad.runtime.blas import limited_to, worthwhile_threads
from playgrad.runtime.build_tasks import TaskBuilder
from playgrad.runtime.compiled_segments import SegmentCompiler
from playgrad.runtime.desktop_host import compiles_for_sessions
from playgrad.runtime.executor import Executor
from playgrad.runtime.host_copies import is_copied
from playgrad.runtime.host_program import HostProgram
from playgrad.runtime.interpreter import RunValues
from playgrad.runtime.members import ALONE, Held, Members, check_same, gather_events
from playgrad.runtime.run_digest import program_digest
from playgrad.runtime.tasks import SegmentTask, Task
from playgrad.runtime.trace import Trace
from playgrad.runtime.transport import NewTransport
from playgrad.runtime.variables import VariableStore

Array = np.ndarray[Any, Any]
_OPEN, _PASSED, _FAILED = "open", "passed", "failed"
"""Of a run: members compute; they have agreed to change variables; one has failed."""


class RepeatResult(NamedTuple):
    """Result of `Session.repeat`: the number of finished steps, and the seconds they took."""

    steps_done: int
    seconds: float


class Runnable:
    """A compiled program, with tasks that work on the variables of one session.

    New values of variables on the cpu take effect when all tasks have ended, and kernels of GPUs
    write to variables when all other work is done: a run that fails changes no variable, or, if a
    device is lost while they write, the variables of all other devices.

    Args:
        graph: the user's graph, by which the session identifies variables.
        plans: the loaded Plan of each device that has one.
        new_transport: creates what carries tensors between devices, in place of what ``members``
            use.
        members: the processes that run the program.
        trains: whether it is part of a training step, even if it writes no variable.

    Attributes:
        builder: the class that builds its tasks.
        blas_threads: the number of BLAS threads that its products on the processor are worth.
    """

    builder: ClassVar[type[TaskBuilder]] = TaskBuilder

    def __init__(
        self,
        compiled: Compiled,
        graph: Graph,
        store: VariableStore,
        plans: Mapping[str, Loaded],
        executor: Executor,
        new_transport: NewTransport | None = None,
        members: Members = ALONE,
        trains: bool = False,
    ) -> None:
        self.compiled = compiled
        self.graph = graph
        self.store = store
        self.plans = plans
        self.executor = executor
        self.members = members
        self._trains = trains
        self.blas_threads = worthwhile_threads(
            node for node in compiled.order if node.device and kind_of(node.device).on_cores
        )
        self._segment_compiler = SegmentCompiler(
            compiled.segments,
            compiled.program.fetches,
            store.desktop_host,
            store.block_of,
            members.size == 1,
        )
        self.new_transport = new_transport or partial(
            members.new_transport, new_array=self._segment_compiler.new_array
        )
        self._stop = _never
        self._vote = _OPEN
        self._stops = False
        self._digest = program_digest(compiled.program) if members.size > 1 else None
        if self._digest is not None:
            check_same(members, "the graph", self._digest.program)
        self._rebuild()

    def _rebuild(self) -> None:
        """Build the tasks, with new storage for their values."""
        self.transport = self.new_transport(self.compiled.channels)
        self.values = RunValues(self._stored)
        built = self.new_builder()
        self.tasks = built.tasks
        self.dying = built.dying
        self._constants = built.constants
        self._read_at_start = built.read_at_start
        self.host_program = self._host_program(self.tasks)

    def new_builder(self) -> TaskBuilder:
        """Return a builder of tasks for the current storage of values."""
        return self.builder(
            self.compiled,
            self.plans,
            self.values,
            self.transport,
            self._agree if self.members.size > 1 else None,
            self._segment_compiler,
        )

    def _host_program(self, tasks: Sequence[Task]) -> HostProgram | None:
        """Return the program as one function if it can be compiled, or if none of its tasks can
        run in parallel."""
        heavy = {task.name for task in tasks if task.heavy}
        if self.members.size > 1 or any(isinstance(task, SegmentTask) for task in tasks):
            return None
        program, order = self.compiled.program, self.compiled.order
        compiles = all(kind_of(node.device or HOST).compiles for node in order)
        parallel = bool(heavy) and self.executor.threads > 1
        will_compile = compiles and compiles_for_sessions()
        if self.executor.choose is not None or (parallel and not will_compile):
            return None
        nodes = [node for node in order if node.name in heavy]
        return HostProgram(
            order,
            program.fetches,
            program.feeds,
            nodes,
            self.graph,
            self.store,
            self._initial_value,
            parallel,
            compiles,
            self._trains,
        )

    # Running

    def run(
        self,
        feeds: Mapping[str, Array],
        trace: Trace | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> list[Array]:
        """Run once and return the fetched arrays in order.

        Args:
            feeds: arrays by the name under which the program is fed.
        """
        segment = self._only_segment
        if segment is not None and trace is None and not self.executor.delays:
            return self._run_segment(segment, feeds, stop)
        with limited_to(self.blas_threads):
            return self._run(feeds, trace, stop)

    def _run(
        self,
        feeds: Mapping[str, Array],
        trace: Trace | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> list[Array]:
        if trace is None and self.host_program is not None and self.host_program.is_next():
            arrays, written = self.host_program.run(feeds, stop or _never)
            self._write_variables(written, feeds)
            return arrays
        self._begin_run(feeds)
        self._vote = _OPEN
        recorded = 0 if trace is None else len(trace.events)
        try:
            self._compute(feeds, trace, stop)
            arrays = self._fetched()
            if trace is not None:
                trace.events.extend(self.transport.events())
                gather_events(self.members, trace, recorded)
        except BaseException:
            self._clear_values()
            self._rebuild()  # a device that hangs may write to the old values when it wakes up
            raise
        self._clear_values()
        return arrays

    def _run_segment(
        self, segment: Segment, feeds: Mapping[str, Array], stop: Callable[[], bool] | None
    ) -> list[Array]:
        """Run a program that is one segment of another device, with no table of tasks or values."""
        if stop is not None and stop():
            raise KeyboardInterrupt
        plan = self.plans[segment.device]
        plan.start()
        begun = plan.begin(segment.index, self._by_node(feeds), self._fetched_names)
        arrays = self._in_order(begun.result())
        plan.commit()
        return arrays

    def _compute(
        self,
        feeds: Mapping[str, Array],
        trace: Trace | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        """Run the tasks, and let what they write take effect once all members have agreed."""
        try:
            if self._digest is not None:
                self.members.begin_run(self._digest.fed(feeds))
            self.executor.run(self.tasks, trace, stop, lambda: self._commit(feeds))
        except BaseException as error:
            if self.members.size > 1 and self._vote == _OPEN:
                self._agree(error)
            elif self.members.size > 1 and self._vote == _PASSED:
                self.members.give_up(error)
            raise

    def _agree(self, error: BaseException | None = None) -> None:
        """Wait until all members have computed their parts, before any changes a variable.

        Raises:
            BaseException: the error of a part.
        """
        self._vote = _FAILED
        self._stops = self.members.agree(error, self._stop())
        self._vote = _PASSED

    def _fetched(self) -> list[Array]:
        """Return the fetched arrays: copies, as one may be the value of a variable."""
        members, tensors = self.members, self.values.tensors
        held = []
        for tensor in self.compiled.program.fetches:
            holder = members.owner(tensor.device or HOST)
            array = tensors[tensor] if holder == members.rank else None
            held.append(Held(holder, tensor.spec, array))
        return members.share(held)

    def _commit(self, feeds: Mapping[str, Array]) -> None:
        """Let what was written to variables take effect, on all devices that are left."""
        if self._vote == _OPEN:
            self._agree()
        errors: list[BaseException] = []
        for plan in self.plans.values():
            try:
                plan.commit()
            except BaseException as error:
                errors.append(error)
        self._write_variables(self.values.written, feeds)
        if errors:
            raise errors[0]

    def _begin_run(self, feeds: Mapping[str, Array]) -> None:
        for plan in self.plans.values():
            plan.start()
        tensors = self.values.tensors
        tensors.update(self._constants)
        for node in self._read_at_start:
            value = self._initial_value(node.name)
            host = self._segment_compiler.host(node.device or HOST)
            if host is not None and (key := (self.graph, node.name)) in self.store.arrays:
                value = self.store.readable(key, host)
            tensors[node.outputs[0]] = value
        for name, tensor in self.compiled.program.feeds.items():
            tensors[tensor] = feeds[name]

    def _clear_values(self) -> None:
        self.values.clear()
        self.transport.clear()

    def begin(self, feeds: Mapping[str, Array]) -> Result[list[Array]]:
        """Begin a run. Only a program that is one segment of another device is not waited for."""
        segment = self._only_segment
        if segment is None:
            return Done(self.run(feeds))
        plan = self.plans[segment.device]
        plan.start()
        fed, names = self._by_node(feeds), self._fetched_names
        return Then(plan.begin(segment.index, fed, names, last=True), self._in_order)

    def repeat(
        self, feeds: Mapping[str, Array], steps: int, stop: Callable[[], bool]
    ) -> RepeatResult:
        """Run ``steps`` times with the same feeds, and fetch nothing.

        If the program is one segment of another device, this is a single call to the device. A stop
        ends it after fewer steps.
        """
        segment = self._only_segment
        if segment is not None:
            plan = self.plans[segment.device]
            result = plan.run(segment.index, self._by_node(feeds), [], steps, stop)
            return RepeatResult(result.steps_done, result.seconds)
        start, is_shared = time.perf_counter(), self.members.size > 1
        done = 0
        with limited_to(self.blas_threads):
            while done < steps:
                if done and (self._stops if is_shared else stop()):
                    break
                self._stop = stop if is_shared and done + 1 < steps else _never
                if self.host_program is not None:
                    several = self.host_program.repeat(feeds, steps - done)
                    done += several
                    if several:
                        continue
                self._run(feeds)
                done += 1
        return RepeatResult(done, time.perf_counter() - start)

    @cached_property
    def _only_segment(self) -> Segment | None:
        """The segment that is the whole program, if it runs on another device."""
        if self.members.size > 1 or len(self.tasks) != 1:
            return None
        task, fetches = self.tasks[0], self.compiled.program.fetches
        if not isinstance(task, SegmentTask) or task.device not in self.plans:
            return None
        # A constant is in no segment.
        segment = task.segment
        return segment if segment is not None and segment.fetches_all(fetches) else None

    @cached_property
    def _fetched_names(self) -> list[str]:
        return list(dict.fromkeys(tensor.name for tensor in self.compiled.program.fetches))

    def _in_order(self, fetched: Mapping[str, Array]) -> list[Array]:
        """Return what was fetched by name in the order of the fetches."""
        fetches = self.compiled.program.fetches
        if len(fetches) == len(fetched):
            return list(fetched.values())
        return [fetched[tensor.name].copy() for tensor in fetches]  # one is fetched twice

    def _by_node(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Return ``feeds`` by the names of the nodes that are fed, as Plans name them."""
        return {t.node.name: feeds[name] for name, t in self.compiled.program.feeds.items()}

    # Variables

    def _stored(self, name: str) -> Array:
        array = self.store.lend((self.graph, name))
        assert array is not None
        return array

    def _initial_value(self, name: str) -> Array:
        """Return the value of a variable at the beginning of a run on the processor."""
        array = self.store.lend((self.graph, name))
        # An initializer may depend on another variable, which may be on a GPU.
        return self._stored_elsewhere(name) if array is None else array

    def _stored_elsewhere(self, name: str) -> Array:
        key = (self.graph, name)
        return self.store.read([key])[key]

    def _write_variables(self, written: Mapping[str, Array], feeds: Mapping[str, Array]) -> None:
        for name, array in written.items():
            self.store.arrays[self.graph, name] = _unshared(array, feeds)

    @cached_property
    def writes(self) -> bool:
        """True if the program changes variables whose values are to be kept."""
        return any(is_copied((self.graph, name)) for name in self.written)

    @cached_property
    def written(self) -> list[str]:
        """The names of the variables that the program writes, the same at all members."""
        nodes = [node for node in self.compiled.program.order() if node.op.writes]
        return list(dict.fromkeys(name for node in nodes for name in node.attrs["variables"]))

    def usable(self, devices: Collection[str] | None = None) -> bool:
        """Return whether, after a run that failed, the variables on ``devices``, or on all that are
        left, belong to one moment: before the run or after it.

        Kernels change variables in place. If a device was lost while the others were at that, some
        variables on these may have their new values, and others not.
        """
        begun = [
            segment.index in self.plans[name].begun
            for name in self.plans
            if (not self.plans[name].device.lost if devices is None else name in devices)
            for segment in self.compiled.segments[name]
            if any(node.op.writes for node in segment.nodes)
        ]
        return all(begun) or not any(begun)

    @property
    def variables(self) -> set[str]:
        """The names of the variables that the program reads or writes, the same at all members."""
        return {node.name for node in self.compiled.program.order() if is_variable(node)}

    # Devices

    @property
    def is_lost(self) -> bool:
        """True if a device that the program is loaded on was lost."""
        return any(plan.device.lost for plan in self.plans.values())

    @property
    def dispatches(self) -> int:
        """Number of kernel dispatches in one run, on all GPUs."""
        return sum(len(plan.plan.get("commands", ())) for plan in self.plans.values())

    def unload(self) -> None:
        """Free the program on all devices."""
        for plan in self.plans.values():
            plan.unload()


def _never() -> bool:
    return False


def _unshared(array: Array, feeds: Mapping[str, Array]) -> Array:
    """Return ``array``, copied if it shares memory with a feed, which the caller may modify."""
    shared = any(np.may_share_memory(array, feed) for feed in feeds.values())
    return array.copy() if shared else array
