"""Sessions: they hold the values of variables and run graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

import numpy as np

from playgrad.compiler.place import Policy
from playgrad.compiler.planner import PlacementSummary
from playgrad.compiler.program import Program
from playgrad.devices import registry as devices
from playgrad.devices.device import Device
from playgrad.devices.pending import Result
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.runtime.executor import Executor
from playgrad.runtime.feeds import check_value, resolve_feeds
from playgrad.runtime.fetches import Fetches
from playgrad.runtime.programs import Programs
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.session_placement import (
    PlacementRequest,
    SessionPlacement,
    default_device,
)
from playgrad.runtime.trace import Trace
from playgrad.runtime.transport import LocalTransport, Transport

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class RepeatResult:
    """What ``Session.repeat`` did: steps finished, and the seconds they took."""

    steps_done: int
    seconds: float


P = ParamSpec("P")
R = TypeVar("R")


def _alone(
    method: Callable[Concatenate[Session, P], R],
) -> Callable[Concatenate[Session, P], R]:
    """``method``, for which other threads that use the session wait."""

    @wraps(method)
    def locked(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session.lock:
            return method(session, *args, **kwargs)

    return locked


_open_sessions: WeakSet[Session] = WeakSet()


def close_sessions() -> None:
    """Close every session that is still open."""
    for session in list(_open_sessions):
        session.close()


def memory_in_use() -> dict[str, int]:
    """Bytes that all sessions hold on each device: a GPU's buffers, a processor's variables."""
    sizes: dict[str, int] = {}
    for session in list(_open_sessions):
        session._add_memory(sizes)
    return sizes


class Session:
    """Runs graphs and keeps the values of their variables.

    A graph can run in several sessions, each with its own state; a session can run several graphs.
    Variables get their initial value when a run first needs them. Threads may share a session:
    they run one after the other.

    Args:
        graph: the graph whose tensors may be named by strings; the default graph if None.
        device: where operations without a device scope go: "cpu", "gpu", "gpu:1", or "auto" for
            a GPU if there is one.
        threads: threads for independent operations on the cpu; one a core if None.
        placement: asked for the device of each operation without a device scope; it gives a name,
            or None for ``device``. "auto" lets a planner decide by measured costs.
        soft_placement: operations that cannot go where they are wanted go elsewhere, instead of
            raising an error.
        new_transport: makes what carries tensors between devices, for each program that is run.
    """

    def __init__(
        self,
        graph: Graph | None = None,
        device: str = "auto",
        threads: int | None = None,
        placement: PlacementRequest = None,
        soft_placement: bool = False,
        new_transport: Callable[[], Transport] = LocalTransport,
    ) -> None:
        self.graph = graph or get_default_graph()
        self.device = default_device(device)
        self._placing = SessionPlacement(self.device, placement, soft_placement)
        self.executor = Executor(threads)
        self.stop_check: Callable[[], bool] = lambda: False
        self._devices: dict[str, Device] = {}
        self._programs = Programs(self.opened, self._placing, self.executor, new_transport)
        self._store = self._programs.store
        self._closed = False
        self.lock = threading.RLock()
        _open_sessions.add(self)
        if devices.runs_plans(self.device):
            self.opened(self.device)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @_alone
    def close(self) -> None:
        """Free all buffers and threads. The session cannot be used afterwards."""
        for device in self._devices.values():
            device.check()  # one that is gone has no buffers left to free
        self._programs.unload()
        self._store.close()
        self.executor.close()
        self._closed = True
        _open_sessions.discard(self)

    @property
    def adapter(self) -> str:
        """Name of the processor behind ``device``."""
        return "NumPy" if self.device.startswith("cpu") else self.opened(self.device).adapter

    def opened(self, name: str) -> Device:
        """A device with a memory of its own; the same one for as long as the session lives, unless
        it is lost: then the one opened in its place."""
        if name not in self._devices or self._devices[name].lost:
            self._devices[name] = devices.opened(name)
        return self._devices[name]

    @_alone
    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        trace: Trace | None = None,
    ) -> Any:
        """Compute ``fetches``.

        Args:
            fetches: a tensor, a node, the name of either, or lists and dictionaries of them.
            feed_dict: values for placeholders, or in the place of any other tensor.
            trace: collects when each task ran.

        Returns:
            NumPy arrays in the structure of ``fetches``; None for a node.

        Raises:
            FeedError: a feed is missing, unknown or does not fit.
            ShapeError: the shapes fed do not fit together.
        """
        wanted = Fetches(fetches, self.graph)
        runnable, feeds = self._prepare(wanted.tensors, wanted.nodes, feed_dict)
        return wanted.results(runnable.run(feeds, trace, self.stop_check) if runnable else [])

    @_alone
    def begin(
        self, fetches: Sequence[Tensor], feed_dict: Mapping[Any, Any] | None = None
    ) -> Result[list[Array]]:
        """As ``run``, without waiting for the values where one device computes them all.

        What is not done by then is done when the next call uses the device.
        """
        runnable, feeds = self._prepare(list(fetches), [], feed_dict)
        assert runnable is not None
        return runnable.begin(feeds)

    @_alone
    def repeat(
        self, targets: Any, steps: int, feed_dict: Mapping[Any, Any] | None = None
    ) -> RepeatResult:
        """Run ``targets`` ``steps`` times, with the same feeds, returning no values.

        On a GPU all steps are one call: nothing goes to and fro between them.
        """
        leaves = Fetches(targets, self.graph).leaves
        nodes = [leaf.node if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        runnable, feeds = self._prepare([], nodes, feed_dict)
        if runnable is None or steps < 1:
            return RepeatResult(0, 0.0)
        return RepeatResult(*runnable.repeat(feeds, steps, self.stop_check))

    @_alone
    def compiled(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Runnable | None:
        """What ``run`` would execute: the graph after all passes, its tasks and Plans."""
        wanted = Fetches(fetches, self.graph)
        return self._prepare(wanted.tensors, wanted.nodes, feed_dict)[0]

    def dispatches(self, targets: Any, feed_dict: Mapping[Any, Any] | None = None) -> int:
        """Kernel dispatches in one run of ``targets`` on GPUs."""
        runnable = self.compiled(targets, feed_dict)
        return runnable.dispatches if runnable else 0

    @_alone
    def _add_memory(self, sizes: dict[str, int]) -> None:
        for name, device in self._devices.items():
            sizes[name] = device.bytes_in_use()
        for (graph, name), array in self._store.arrays.items():
            home = self._programs.home(graph.node(name))
            sizes[home] = sizes.get(home, 0) + array.nbytes

    @_alone
    def value(self, variable: Tensor | str) -> Array:
        """The value of a variable now."""
        node = self._variable(variable)
        self._check_open()
        self._programs.make_ready(node.graph, [node])
        return self._store.get((node.graph, node.name), node)

    @_alone
    def assign(self, values: Mapping[Any, Any]) -> None:
        """Replace the values of variables: all of them, or on any error none.

        Raises:
            ShapeError, DTypeError: a value does not fit its variable.
            GraphError: there is no such variable.
        """
        self._programs.put(self._checked(values))

    @_alone
    def assign_data(self, values: Mapping[Any, Any], soon: Node | None = None) -> None:
        """``assign`` for data sets, which may stay on a device for the next session.

        Args:
            soon: what will be run then, if that is known. It is compiled first, so that devices
                compile its kernels while data is on its way to them.
        """
        checked = self._checked(values)
        self._programs.make_room([node for node, _ in checked], data=True)
        if soon is not None and devices.runs_plans(self.device):
            self._programs.expect(soon)
        self._programs.set(checked)

    def _checked(self, values: Mapping[Any, Any]) -> list[tuple[Node, Array]]:
        self._check_open()
        checked = []
        for variable, value in values.items():
            node = self._variable(variable)
            checked.append((node, check_value(value, node.outputs[0], f"variable '{node.name}'")))
        return checked

    @_alone
    def lost_variables(self) -> list[Tensor]:
        """Those whose values are gone with their device. They can be assigned, or forgotten: then
        they are on the device that is opened in its place."""
        for device in self._devices.values():
            device.check()
        keys = [key for key in self._store.variables() if self._store.is_lost(key)]
        return [graph.node(name).outputs[0] for graph, name in keys]

    @_alone
    def forget(self, variables: Sequence[Tensor]) -> None:
        """Free the values of ``variables`` and what was compiled to run with them.

        Used again, they begin with their initial value.
        """
        self._check_open()
        self._programs.forget([variable.node for variable in variables])

    @_alone
    def initialize(self, graph: Graph | None = None) -> None:
        """Give all variables of ``graph`` that have no value yet their initial one."""
        self._check_open()
        graph = graph or self.graph
        self._programs.make_ready(graph, [node for node in graph.nodes if is_variable(node)])

    def _variable(self, item: Tensor | str) -> Node:
        node = self.graph.node(item) if isinstance(item, str) else item.node
        if not is_variable(node):
            raise GraphError(f"'{node.name}' is not a variable.", op=node.name, source=node.source)
        return node

    @property
    def policy(self) -> Policy:
        """How operations are placed."""
        return self._placing.policy()

    @_alone
    def set_placement(self, placement: PlacementRequest) -> None:
        """Place operations anew, None for nowhere in particular; variables that are to live
        elsewhere are moved, value and all."""
        self._check_open()
        self._programs.move(lambda: self._placing.change(placement))

    @_alone
    def placement_summary(
        self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None
    ) -> PlacementSummary:
        """Where each operation of a run goes and why, and what the run should take, by measured
        times. Measuring takes up to two seconds for what was never measured before."""
        self._check_open()
        wanted = Fetches(fetches, self.graph)
        program, arrays = self._program(wanted.tensors, wanted.nodes, feed_dict)
        shapes = {name: array.shape for name, array in arrays.items()}
        self._programs.policy_for(program, shapes)
        return self._placing.summary(program, shapes)

    def _program(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Node],
        feed_dict: Mapping[Any, Any] | None,
    ) -> tuple[Program, dict[str, Array]]:
        graphs = [tensor.graph for tensor in fetches] + [node.graph for node in targets]
        graph = graphs[0] if graphs else self.graph
        for other in graphs:
            if other is not graph:
                raise GraphError("one run cannot fetch from two graphs.", hint="Run them apart.")
        tensors, arrays = resolve_feeds(graph, feed_dict or {})
        return Program(graph, list(fetches), list(targets), tensors), arrays

    def _prepare(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Node],
        feed_dict: Mapping[Any, Any] | None,
    ) -> tuple[Runnable | None, dict[str, Array]]:
        self._check_open()
        if not fetches and not targets:
            return None, {}
        program, arrays = self._program(fetches, targets, feed_dict)
        return self._programs.prepared(program, arrays), arrays

    def _check_open(self) -> None:
        if self._closed:
            raise GraphError("this session is closed.", hint="Make a new one.")
