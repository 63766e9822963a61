"""Sessions, which hold the values of variables and run graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from playgrad.compiler.compile import PassReport, pass_reports
from playgrad.compiler.place import Policy
from playgrad.compiler.planner import PlacementSummary
from playgrad.compiler.program import Program
from playgrad.devices import registry as devices
from playgrad.devices.device import Device
from playgrad.devices.kinds import HOST, kind_of
from playgrad.devices.pending import Result
from playgrad.errors import DeviceError, GraphError
from playgrad.graph.graph import FLOAT32, Graph, checked_precision, get_default_graph
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.runtime.default_device import AUTO, default_device
from playgrad.runtime.desktop_host import processor_name
from playgrad.runtime.executor import Executor
from playgrad.runtime.feeds import FeedDict, check_value
from playgrad.runtime.fetches import Fetches, RepeatedProgram, UnfedRun, requested_program
from playgrad.runtime.hooks import get_hooks
from playgrad.runtime.locking import exclusive
from playgrad.runtime.members import current_members
from playgrad.runtime.open_sessions import (
    abandoned_sessions,
    close_abandoned,
    open_sessions,
)
from playgrad.runtime.operation_times import TracedRun
from playgrad.runtime.options import get_options
from playgrad.runtime.programs import Programs
from playgrad.runtime.recovery import Recovery
from playgrad.runtime.runnable import RepeatResult, Runnable
from playgrad.runtime.session_placement import PlacementRequest, SessionPlacement
from playgrad.runtime.trace import Trace
from playgrad.runtime.transport import NewTransport

Array = np.ndarray[Any, Any]
R = TypeVar("R")


def _interrupts() -> bool:
    return get_hooks().interrupts()


class Session:
    """Runs graphs and holds the values of their variables.

    A graph can run in several sessions, each with its own values; a session can run several graphs.
    A variable gets its initial value when a run first needs it. Threads can share a session: their
    calls run one after the other.

    Args:
        graph: the graph in which tensors are looked up by name; by default the default graph.
        device: device of operations without a device scope: "cpu", "gpu", "gpu:1", "reference" for
            NumPy alone, by which every operation is specified, or "auto" for the one that the page
            or the command line chose or ``PLAYGRAD_DEVICE`` names, or else for ``cpu:0`` or
            ``gpu:0``, whichever is likely to be done first.
        threads: number of threads for independent cpu operations; by default one for each core.
        placement: a function that returns the device of an operation without a device scope, or
            None for ``device``. "auto" lets a planner decide by measured costs.
        soft_placement: place an operation on another device if it cannot run on the requested one,
            instead of raising an error.
        new_transport: returns what carries tensors between devices, for each program; by default
            this process's memory, or the network between the members of a run.
        seconds: about how long the work would take with NumPy, on which "auto" depends; None if
            that is unknown.
        step_seconds: the same for the products of one of its steps.
        precision: "float32", or "mixed" to round the operands of matrix products and convolutions
            to float16. Their sums and everything else stay float32. By default the one that the
            command line chose, or else "float32".
        trains: whether runs are parts of training steps even if they write no variable, as those
            that compute the gradients of a replica: they are compiled from the first one on.

    Attributes:
        precision: the argument; `in_precision` returns the session in another one.
        device: the name of the device.
        device_reason: why "auto" took it, in a sentence; empty if the user named it.
        members: the processes that run the programs.

    Raises:
        DeviceError: there is no such device, or it cannot be opened.
        GraphError: there is no such precision.
    """

    __slots__ = ("__dict__", "__weakref__", "precision")  # `in_precision` shares `__dict__`

    def __init__(
        self,
        graph: Graph | None = None,
        device: str = "auto",
        threads: int | None = None,
        placement: PlacementRequest = None,
        soft_placement: bool = False,
        new_transport: NewTransport | None = None,
        seconds: float | None = None,
        step_seconds: float | None = None,
        precision: str | None = None,
        trains: bool = False,
    ) -> None:
        self._closed = True  # until there is something to close
        close_abandoned()
        self.graph = graph or get_default_graph()
        options = get_options()
        self.precision = checked_precision(precision or options.precision or FLOAT32)
        self._in_precisions = {self.precision: self}
        if device == AUTO:
            device = options.device or AUTO
        self.device, self.device_reason = default_device(device, seconds, step_seconds)
        self._any_device = device == AUTO
        self.members = current_members()
        several = self.members.size > 1
        self._placement = SessionPlacement(self.device, placement, soft_placement, several)
        self.executor = Executor(threads)
        self.stop_check: Callable[[], bool] = _interrupts
        self._last_unfed: UnfedRun | None = None
        self._devices: dict[str, Device] = {}
        self._programs = Programs(
            self.opened, self._placement, self.executor, new_transport, self.members, trains
        )
        self._store = self._programs.store
        self._closed = False
        self.lock = threading.RLock()
        self._recovery = Recovery(self._programs, self._devices, self.reopen)
        open_sessions.add(self)
        if devices.runs_plans(self.device):
            self._open_device()

    def __del__(self) -> None:
        if not self._closed and self._original is self:
            abandoned_sessions.append(self)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @exclusive
    def close(self) -> None:
        """Free all buffers and threads. The session cannot be used afterwards."""
        if not self._closed:
            get_hooks().closing(self._original)
        self._check_devices()  # a lost device has no buffers to free
        self._programs.unload()
        self._store.close()
        self.executor.close()
        self._last_unfed = None
        self._closed = True
        open_sessions.discard(self._original)

    def in_precision(self, precision: str) -> Session:
        """Return this session with runs in another precision; all else is shared by both."""
        if precision not in self._in_precisions:
            other = Session.__new__(Session)
            other.__dict__ = self.__dict__
            other.precision = checked_precision(precision)
            self._in_precisions[precision] = other
        return self._in_precisions[precision]

    @property
    def _original(self) -> Session:
        """The session that owns the devices and variables."""
        return next(iter(self._in_precisions.values()))

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    # Devices

    @property
    def adapter(self) -> str:
        """The name of the adapter of ``device``; of a processor, whether it compiles."""
        kind = kind_of(self.device)
        if kind.adapter is None:
            return self.opened(self.device).adapter
        return processor_name() if kind.compiles else kind.adapter.name

    def opened(self, name: str) -> Device:
        """Return a device that runs Plans, the same object until the device is lost."""
        if name not in self._devices or self._devices[name].lost:
            self._devices[name] = devices.opened(name)
        return self._devices[name]

    @property
    def losses(self) -> list[str]:
        """Why devices were lost: devices that have not been opened again, or else the devices for
        which the variables went back last."""
        return self._recovery.losses or self._recovery.reasons

    def _open_device(self) -> None:
        try:
            self.opened(self.device)
        except DeviceError as error:
            if not self._any_device:
                raise
            problem = error.message.removeprefix(f"{self.device}: ")
            warn_user(
                f"{self.device} cannot be opened, so the CPU does the work: {problem} "
                "The next session tries the GPU again."
            )
            self.device, self.device_reason = HOST, ""
            self._programs.move(lambda: self._placement.move_to(HOST))

    @exclusive
    def reopen(self) -> None:
        """Open the device of the session again if it was lost; with "auto", continue on
        the processor if that fails.

        Raises:
            DeviceError: the device that was requested cannot be opened.
        """
        device = self._devices.get(self.device)
        if device is not None and device.lost:
            self._open_device()

    def _check_devices(self) -> None:
        for device in self._devices.values():
            device.check()

    @exclusive
    def add_memory(self, sizes: dict[str, int]) -> None:
        """Add the bytes that the session uses on each device; see `memory_in_use`."""
        for name, device in self._devices.items():
            sizes[name] = device.bytes_in_use()
        for (graph, name), array in self._store.arrays.items():
            try:
                home = self._programs.home(graph.node(name))
            except DeviceError:  # the device was lost, but the host still has a copy
                home = HOST
            sizes[home] = sizes.get(home, 0) + array.nbytes

    # Running

    @exclusive
    def run(self, fetches: Any, feed_dict: FeedDict = None, trace: Trace | None = None) -> Any:
        """Compute ``fetches``.

        Args:
            fetches: a tensor, a node, the name of either, or nested lists and dictionaries of them.
            feed_dict: values for placeholders, or in place of any other tensors.
            trace: collects the events of the run.

        Returns:
            NumPy arrays in the structure of ``fetches``; None for a node.

        Raises:
            FeedError: a feed is missing, unknown or does not fit.
            ShapeError: the shapes of the feeds do not fit together.
            KeyboardInterrupt: a stop was requested.
        """
        last = self._last_unfed
        if last is None or feed_dict or not last.is_requested_by(fetches, self.precision):
            requested = Fetches(fetches, self.graph)
            if not requested.leaves:
                return requested.results([])
            self._check_open()
            program, arrays = self._requested(requested.tensors, requested.nodes, feed_dict)
            if requested.is_flat_list and not feed_dict:
                self._last_unfed = UnfedRun(requested, program)
        else:
            self._check_open()
            requested, program, arrays = last.fetches, last.program, {}
        return requested.results(
            self._ran(
                program, arrays, lambda runnable, feeds: runnable.run(feeds, trace, self.stop_check)
            )
        )

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] = ()) -> Callable[..., Any]:
        """Return a function that computes ``fetches`` as `run` does, from values for ``feed_list``.

        For many small runs: a call looks up names and fetches no more.

        Args:
            fetches: as for `run`, but not empty.
            feed_list: placeholders or other tensors, or their names, in the order of the function's
                arguments.

        Raises:
            GraphError, FeedError: a fetch or feed is not in the graph.
        """
        repeated = RepeatedProgram(fetches, feed_list, self.graph, self.precision)

        def call(*values: Any) -> Any:
            with self.lock:
                self._check_open()
                arrays = repeated.arrays(values)
                results = self._ran(
                    repeated.program,
                    arrays,
                    lambda runnable, feeds: runnable.run(feeds, None, self.stop_check),
                )
                return repeated.fetches.results(results)

        return call

    @exclusive
    def trace(
        self,
        fetches: Any,
        feed_dict: FeedDict = None,
        undo: bool = False,
        apart: bool = False,
    ) -> TracedRun:
        """Compute ``fetches`` slowly, with a time for each operation or kernel.

        A run before it, to warm up, is undone. ``print(trace)`` shows the slowest operations;
        ``trace.clocks`` says how each device was timed.

        Args:
            fetches, feed_dict: as for `run`.
            undo: give all variables the values that they had before.
            apart: let GPUs compute each operation by a kernel of its own. Otherwise small ones
                share a kernel, as they do in `run`.

        Returns:
            ``values``, in the structure of ``fetches``, and ``trace``.
        """
        requested, trace = Fetches(fetches, self.graph), Trace()
        arrays = self._work(
            requested.tensors,
            requested.nodes,
            feed_dict,
            lambda runnable, feeds: self._programs.traced(runnable, feeds, trace, undo, apart),
        )
        return TracedRun(requested.results(arrays), trace)

    @exclusive
    def begin(self, fetches: Sequence[Tensor], feed_dict: FeedDict = None) -> Result[list[Array]]:
        """Begin to compute ``fetches``, without waiting if one device computes them all.

        Returns:
            The arrays in order, pending. A later call that uses the device waits for them.
        """
        self._recovery.recover()
        runnable, feeds = self._prepare(list(fetches), [], feed_dict)
        assert runnable is not None
        return runnable.begin(feeds)

    @exclusive
    def repeat(self, targets: Any, steps: int, feed_dict: FeedDict = None) -> RepeatResult:
        """Run ``targets`` ``steps`` times with the same feeds, and return no values.

        On a GPU all steps are a single call: no data is transferred between them.

        Raises:
            KeyboardInterrupt: a stop was requested. Steps that were done have taken effect.
        """
        leaves = Fetches(targets, self.graph).leaves
        nodes = [leaf.node if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        if not nodes or steps < 1:
            self._check_open()
            return RepeatResult(0, 0.0)

        def work(runnable: Runnable, feeds: dict[str, Array]) -> RepeatResult:
            result = runnable.repeat(feeds, steps, self.stop_check)
            # Training, which sets a check of its own, ends by itself after fewer steps.
            if self.stop_check is _interrupts and result.steps_done < steps and _interrupts():
                raise KeyboardInterrupt
            return result

        return self._work([], nodes, feed_dict, work)

    @exclusive
    def compiled(self, fetches: Any, feed_dict: FeedDict = None) -> Runnable | None:
        """Return what `run` would execute: the graph after all passes, its tasks and Plans."""
        requested = Fetches(fetches, self.graph)
        self._recovery.recover()
        return self._prepare(requested.tensors, requested.nodes, feed_dict)[0]

    @exclusive
    def passes(self, fetches: Any, feed_dict: FeedDict = None) -> list[PassReport]:
        """Return the passes that compile a run of ``fetches``, with the nodes before and after."""
        self._check_open()
        leaves = Fetches(fetches, self.graph)
        program, arrays = self._requested(leaves.tensors, leaves.nodes, feed_dict)
        shapes = {name: array.shape for name, array in arrays.items()}
        return pass_reports(program, shapes, self._programs.policy_for(program, shapes))

    def dispatches(self, targets: Any, feed_dict: FeedDict = None) -> int:
        """Return the number of kernel dispatches in one run of ``targets``, on all GPUs."""
        runnable = self.compiled(targets, feed_dict)
        return runnable.dispatches if runnable else 0

    def _work(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Node],
        feed_dict: FeedDict,
        work: Callable[[Runnable, dict[str, Array]], R],
    ) -> R:
        self._check_open()
        program, arrays = self._requested(fetches, targets, feed_dict)
        return self._ran(program, arrays, work)

    def _ran(
        self,
        program: Program,
        arrays: dict[str, Array],
        work: Callable[[Runnable, dict[str, Array]], R],
    ) -> R:
        try:
            result = self._recovery.run(
                lambda: self._programs.prepared(program, arrays),
                lambda runnable: work(runnable, arrays),
            )
        except KeyboardInterrupt:
            get_hooks().interrupted()
            raise
        get_hooks().ran(self._original, program, arrays)
        return result

    def _prepare(
        self, fetches: Sequence[Tensor], targets: Sequence[Node], feed_dict: FeedDict
    ) -> tuple[Runnable | None, dict[str, Array]]:
        self._check_open()
        if not fetches and not targets:
            return None, {}
        program, arrays = self._requested(fetches, targets, feed_dict)
        return self._programs.prepared(program, arrays), arrays

    def _requested(
        self, fetches: Sequence[Tensor], targets: Sequence[Node], feed_dict: FeedDict
    ) -> tuple[Program, dict[str, Array]]:
        return requested_program(fetches, targets, feed_dict, self.graph, self.precision)

    def _check_open(self) -> None:
        if self._closed:
            raise GraphError("this session is closed.", hint="Create a new one.")

    # Variables

    @exclusive
    def value(self, variable: Tensor | str) -> Array:
        """Return the current value of a variable, as a copy; see `values`."""
        return self.values([variable])[0]

    @exclusive
    def values(self, variables: Sequence[Tensor | str]) -> list[Array]:
        """Return the current values of variables, as copies, all from between the same two runs.

        Each device is read once. After a loss, these are the values that were copied last.
        """
        nodes = [self._variable(variable) for variable in variables]
        self._check_open()
        return self._recovery.values(nodes)

    @exclusive
    def surviving(self, variables: Sequence[Tensor]) -> list[Array] | None:
        """Return the values of ``variables`` after the loss of another device, unless some of them
        were lost as well, or the run in which that happened had changed only some of them."""
        return self._recovery.surviving([variable.node for variable in variables])

    @exclusive
    def roll_back(self) -> None:
        """Give all variables, except data sets, the values that were copied last."""
        self._check_open()
        self._recovery.roll_back()

    @contextmanager
    def work_in_progress(self) -> Iterator[None]:
        """Enclose work of several runs, which must not continue with variables that went back to
        earlier values: within the block, that is a `DeviceLostError` even where they are read."""
        before, self._recovery.in_progress = self._recovery.in_progress, True
        try:
            yield
        finally:
            self._recovery.in_progress = before

    @exclusive
    def needs_recovery(self) -> bool:
        """Return whether the loss of a device took variables, or interrupted their update."""
        self._check_devices()
        return self._recovery.is_needed

    @exclusive
    def keep_copy(self) -> None:
        """Copy all variables that are on devices to host memory, unless the last copy is current.

        Runs do that by themselves, every few seconds. Data sets are not copied.

        Raises:
            DeviceLostError: a device was lost. The last copy is kept.
        """
        self._recovery.roll_back_if_needed()
        self._store.copies.take()

    @property
    def undone_seconds(self) -> float:
        """The seconds of work that the last loss of a device undid."""
        return self._store.copies.undone

    @exclusive
    def assigned_variables(self, graph: Graph) -> list[Tensor]:
        """Return the variables of ``graph`` that have a value, in creation order."""
        names = {name for owner, name in self._store.variables() if owner is graph}
        return [node.outputs[0] for node in graph.nodes if node.name in names]

    @exclusive
    def assign(self, values: Mapping[Any, Any]) -> None:
        """Assign ``values`` to variables. On an error no variable changes.

        Raises:
            ShapeError, DTypeError: a value does not fit its variable.
            GraphError: there is no such variable.
        """
        checked = self._checked(values)
        self._recovery.put(checked)

    @exclusive
    def assign_data(self, values: Mapping[Any, Any], soon: Node | None = None) -> None:
        """Assign data sets to variables, which may use a device's data cache.

        Args:
            soon: a node that will be run next. It is compiled first, so that devices compile its
                kernels while the data is uploaded.
        """
        checked = self._checked(values)
        self._check_devices()
        self._recovery.recover()
        self._programs.allocate([node for node, _ in checked], data=True)
        if soon is not None and devices.runs_plans(self.device):
            self._programs.expect(soon, self.precision)
        self._programs.set(checked)

    def _checked(self, values: Mapping[Any, Any]) -> list[tuple[Node, Array]]:
        self._check_open()
        checked = []
        for variable, value in values.items():
            node = self._variable(variable)
            checked.append((node, check_value(value, node.outputs[0], f"variable '{node.name}'")))
        return checked

    @exclusive
    def lost_variables(self) -> list[Tensor]:
        """Return the variables whose values were lost with their device.

        All but data sets have copies in host memory, to which `roll_back` and the next use of any
        variable return. Data sets must be assigned or forgotten before they are used again.
        """
        self._check_devices()
        keys = [key for key in self._store.variables() if self._store.is_lost(key)]
        return [graph.node(name).outputs[0] for graph, name in keys]

    @exclusive
    def forget(self, variables: Sequence[Tensor]) -> None:
        """Free the values of ``variables`` and the programs that use them.

        A forgotten variable that is used again gets its initial value.
        """
        self._check_open()
        self._programs.forget([variable.node for variable in variables])

    @exclusive
    def initialize(self, graph: Graph | None = None) -> None:
        """Assign initial values to the variables of ``graph`` that have no value yet."""
        self._check_open()
        graph = graph or self.graph
        self._programs.initialize(graph, [node for node in graph.nodes if is_variable(node)])

    def _variable(self, item: Tensor | str) -> Node:
        node = self.graph.node(item) if isinstance(item, str) else item.node
        if not is_variable(node):
            raise GraphError(f"'{node.name}' is not a variable.", op=node.name, source=node.source)
        return node

    # Placement

    @property
    def policy(self) -> Policy:
        """The placement of operations."""
        return self._placement.policy()

    @exclusive
    def set_placement(self, placement: PlacementRequest) -> None:
        """Change the placement of operations, and move variables accordingly.

        Args:
            placement: as for `Session`.
        """
        self._check_open()
        self._programs.move(lambda: self._placement.change(placement))

    @exclusive
    def placement_summary(self, fetches: Any, feed_dict: FeedDict = None) -> PlacementSummary:
        """Return the device of each operation of a run and the reason, with predicted times.

        The first prediction measures kernels, which takes up to two seconds.
        """
        self._check_open()
        leaves = Fetches(fetches, self.graph)
        program, arrays = self._requested(leaves.tensors, leaves.nodes, feed_dict)
        shapes = {name: array.shape for name, array in arrays.items()}
        self._programs.policy_for(program, shapes)
        return self._placement.summary(program, shapes)
