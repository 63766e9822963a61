"""The compiled and loaded programs of a session, and the values of their variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from playgrad.compiler.compile import Compiled, compile_program
from playgrad.compiler.place import Policy
from playgrad.compiler.planner import Shapes
from playgrad.compiler.program import Key, Program
from playgrad.devices import registry as devices
from playgrad.devices.base import Plan
from playgrad.devices.device import Device, Loaded
from playgrad.devices.kinds import CPU, HOST
from playgrad.devices.remote_cpu import RemoteCpu
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors, topological
from playgrad.ops.state import RANDOM_STEP, is_variable
from playgrad.runtime.estimates import check_memory, size_text
from playgrad.runtime.executor import Executor
from playgrad.runtime.gradual_tuning import note_use
from playgrad.runtime.hooks import get_hooks
from playgrad.runtime.members import ALONE, Members
from playgrad.runtime.operation_times import TimedRunnable
from playgrad.runtime.program_kernels import attributed_to_program
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.session_placement import SessionPlacement
from playgrad.runtime.shared_variables import SharedVariables
from playgrad.runtime.trace import Trace
from playgrad.runtime.transport import NewTransport
from playgrad.runtime.variables import VariableStore

Array = np.ndarray[Any, Any]
R = TypeVar("R")

MOST_RUNNABLES = 32
"""Maximum number of compiled programs, each with its buffers, that a session keeps loaded."""
INITIAL_BYTES = 1 << 28
"""Maximum number of bytes of initial values that are computed together."""


class Programs:
    """Compiles and loads programs, each once, and initializes their variables.

    Args:
        opened: returns a device by its name; a new one after it was lost.
        placement: decides where operations and variables go.
        new_transport: creates what carries tensors between the devices of a program, in place of
            what ``members`` use.
        members: the processes that run the programs.
        trains: whether all programs are parts of training steps.

    Attributes:
        store: the values of the variables.
    """

    def __init__(
        self,
        opened: Callable[[str], Device],
        placement: SessionPlacement,
        executor: Executor,
        new_transport: NewTransport | None = None,
        members: Members = ALONE,
        trains: bool = False,
    ) -> None:
        self.store = (
            VariableStore(opened) if members.size == 1 else SharedVariables(opened, members)
        )
        self._members = members
        self._opened = opened
        self._placement = placement
        self._executor = executor
        self._new_transport = new_transport
        self._trains = trains
        self._runnables: dict[Key, Runnable] = {}
        self._expected: dict[Key, Compiled] = {}

    def __len__(self) -> int:
        return len(self._runnables)

    # Programs

    def prepared(self, program: Program, feeds: Mapping[str, Array]) -> Runnable:
        """Return ``program`` ready to run, and check ``feeds`` as its operations require.

        Raises:
            FeedError: an operation cannot take a value that is fed.
            DataError: one cannot take a value that is computed from feeds.
        """
        shapes = {name: array.shape for name, array in feeds.items()}
        key = program.key(shapes)
        if key in self._runnables and self._runnables[key].is_lost:
            self._runnables.pop(key).unload()
        if key not in self._runnables:
            compiled = self._expected.pop(key, None)
            if compiled is None:
                policy = self.policy_for(program, shapes)
                get_hooks().preparing(program, policy)
                compiled = compile_program(program, shapes, policy)
            _check(compiled, feeds)  # before devices compile kernels
            self._runnables[key] = self._load(compiled, program.graph, self._members)
        runnable = self._runnables[key] = self._runnables.pop(key)
        if len(self._runnables) > MOST_RUNNABLES:
            self._runnables.pop(next(iter(self._runnables))).unload()
        _check(runnable.compiled, feeds)
        return runnable

    def traced(
        self,
        runnable: Runnable,
        feeds: Mapping[str, Array],
        trace: Trace,
        undo: bool,
        apart: bool,
    ) -> list[Array]:
        """Run a program, and add the times of its operations to ``trace``.

        A first run, which prepares operations and warms up devices, is undone.

        Args:
            undo: give the variables that the program writes the values that they had before.
            apart: do not merge the kernels of small operations.

        Returns:
            The fetched arrays in order.
        """
        before = self.store.get([(runnable.graph, name) for name in runnable.written])
        timed = TimedRunnable(runnable, apart)
        changed = True
        try:
            timed.traced(feeds, Trace())
            self.store.set(before)
            arrays = timed.traced(feeds, trace)
            changed = undo
        finally:
            timed.unload()
            if changed and not runnable.is_lost:
                self.store.set(before)
        return arrays

    def expect(self, target: Node, precision: str) -> None:
        """Compile ``target``, which will be run soon, and let devices begin to compile kernels."""
        program = Program(target.graph, targets=[target], precision=precision)
        key = program.key({})
        if key in self._runnables:
            return
        compiled = compile_program(program, {}, self.policy_for(program, {}))
        part = self._part(compiled, target.graph, self._members)
        for name, plan in self._plans(part, target.graph).items():
            self._opened(name).expect(plan)
        self._expected = {key: compiled}

    def forget(self, variables: Sequence[Node]) -> None:
        """Free the values of ``variables`` and the programs that use them."""
        forgotten = {(node.graph, node.name) for node in variables}
        for key, runnable in list(self._runnables.items()):
            if any((runnable.graph, name) in forgotten for name in runnable.variables):
                del self._runnables[key]
                runnable.unload()
        for variable in forgotten:
            if variable in self.store:
                self.store.drop(variable)

    def unload(self) -> None:
        """Free all programs."""
        self._expected.clear()
        for runnable in self._runnables.values():
            runnable.unload()
        self._runnables.clear()

    def _load(self, compiled: Compiled, graph: Graph, members: Members) -> Runnable:
        """Load the part of a program that this process runs.

        Args:
            members: the processes that run it.
        """
        compiled = self._part(compiled, graph, members)
        plans: dict[str, Loaded] = {}
        try:
            for name, plan in self._plans(compiled, graph).items():
                device, external = self._opened(name), self.store.external(name)
                self._check_variables(compiled, graph)
                with attributed_to_program(compiled.order, plan):
                    plans[name] = device.load(plan, external)
        except BaseException:
            for loaded in plans.values():
                loaded.unload()
            raise
        return Runnable(
            compiled,
            graph,
            self.store,
            plans,
            self._executor,
            self._new_transport,
            members,
            self._trains,
        )

    def _part(self, compiled: Compiled, graph: Graph, members: Members) -> Compiled:
        """Initialize the variables of a program; return the part of it that this process runs."""
        self.initialize(graph, [graph.node(n.name) for n in compiled.order if is_variable(n)])
        return compiled.part(lambda device: members.owner(device) == members.rank)

    def _plans(self, compiled: Compiled, graph: Graph) -> dict[str, Plan]:
        """Return the Plan of each device that runs one.

        Raises:
            DeviceLostError: the device of a variable was lost.
        """
        names = [name for name in compiled.segments if devices.runs_plans(name)]
        devices.start(names)
        plans: dict[str, Plan] = {}
        for name in names:
            device = self._opened(name)
            places = self.store.places_on(graph, name)
            self._check_variables(compiled, graph)
            if isinstance(device, RemoteCpu):
                plans[name] = compiled.steps(name, places)
            else:
                note_use(device)
                plans[name] = compiled.plan(name, device.target, places)
        return plans

    def _check_variables(self, compiled: Compiled, graph: Graph) -> None:
        """Check that no variable was lost since it was looked up, by another thread for example.

        Raises:
            DeviceLostError: the device of a variable was lost.
        """
        for node in filter(is_variable, compiled.order):
            self.store.check_not_lost((graph, node.name))

    # Placement

    def roll_back(self) -> None:
        """Give all variables the values of their copies in host memory; unload all programs."""
        self.unload()
        self.store.roll_back()

    def policy_for(self, program: Program, shapes: Shapes) -> Policy:
        """Return where the operations of ``program`` go, and move its variables accordingly."""
        return self.move(lambda: self._placement.policy_for(program, shapes))

    def move(self, change: Callable[[], R]) -> R:
        """Call ``change``, which changes where variables live, and move them there.

        Returns:
            The result of ``change``.
        """
        before = {key: self.home(key[0].node(key[1])) for key in self.store.variables()}
        placement = self._placement.request
        result = change()
        moved = [
            key
            for key, home in before.items()
            if self.home(key[0].node(key[1])) != home
            and not self.store.is_lost(key)
            and key not in self.store.rescued
        ]
        if moved or placement is not self._placement.request:
            self.unload()
        arrays = self.store.get(moved)
        for key in moved:
            self.store.release(key)
        self.put([(graph.node(name), array) for (graph, name), array in arrays.items()])
        return result

    def home(self, node: Node) -> str:
        """Return the device on which a variable lives."""
        return self._placement.home(node)

    # Values of variables

    def put(self, values: Sequence[tuple[Node, Array]]) -> None:
        """Assign values to variables; allocate memory where there is none."""
        self.allocate([node for node, _ in values])
        self.set(values)

    def allocate(self, variables: Sequence[Node], data: bool = False) -> None:
        """Allocate memory for the variables that have none.

        Args:
            data: whether they are data sets, which each get a buffer in the data cache if there is
                one. Other variables share buffers.
        """
        homes: dict[tuple[Graph, str], list[Node]] = {}
        for node in variables:
            if self.store.is_lost((node.graph, node.name)):
                self.store.drop((node.graph, node.name))
        fresh = [node for node in variables if (node.graph, node.name) not in self.store]
        for node in self.store.kept_here(fresh, self.home):
            home = self.home(node)
            if devices.runs_plans(home):
                homes.setdefault((node.graph, home), []).append(node)
        for (graph, home), nodes in homes.items():
            if data:
                nodes = [node for node in nodes if not self.store.allocate_data(graph, node, home)]
            self.store.allocate(graph, nodes, home)

    def set(self, values: Sequence[tuple[Node, Array]]) -> None:
        """Assign values to variables that have memory."""
        self.store.set({(node.graph, node.name): array for node, array in values})

    def initialize(self, graph: Graph, nodes: Sequence[Node]) -> None:
        """Initialize the variables ``nodes`` of ``graph`` that have no value.

        Random initial values are drawn with the counter at 0, whenever that happens.
        """
        for node in nodes:
            self.store.check_not_lost((graph, node.name))
        self._settle(graph, [node for node in nodes if (graph, node.name) in self.store.rescued])
        fresh = [node for node in nodes if (graph, node.name) not in self.store]
        if not fresh:
            return
        needed = _used_by_initializers(graph, fresh) if self.store.is_shared else []
        self.initialize(graph, needed)
        with self.store.lending(graph, needed):
            self._initialize(graph, self.store.kept_here(fresh, self.home))

    def _initialize(self, graph: Graph, fresh: Sequence[Node]) -> None:
        """Initialize the variables ``fresh``, which this process keeps."""
        if not fresh:
            return
        homes = self._homes(fresh)
        for home, there in homes.items():
            self.store.check_size(there, home)  # before their values are computed
        _check_memory(fresh, [node for nodes in homes.values() for node in nodes])
        for group in _groups(fresh):
            arrays = self._initial(graph, group)
            for home, there in self._homes(group).items():
                self.store.allocate(graph, there, home)
            keys = [(graph, node.name) for node in group]
            self.store.set(dict(zip(keys, arrays, strict=True)))

    def _settle(self, graph: Graph, rescued: Sequence[Node]) -> None:
        """Bring the values of variables that were on a lost device to where they live now."""
        for home, there in self._homes(rescued).items():
            for node in there:
                self.store.unplace((graph, node.name))
            self.store.allocate(graph, there, home)
        for node in rescued:
            self.store.settle((graph, node.name))

    def _homes(self, variables: Sequence[Node]) -> dict[str, list[Node]]:
        """Return the variables on each device with its own memory."""
        homes: dict[str, list[Node]] = {}
        for node in variables:
            homes.setdefault(self.home(node), []).append(node)
        return {home: there for home, there in homes.items() if devices.runs_plans(home)}

    def _initial(self, graph: Graph, variables: Sequence[Node]) -> list[Array]:
        """Compute the initial values of ``variables`` on the processor."""
        initial = [graph.tensor(node.attrs["initializer"]) for node in variables]
        counter = [graph.tensor(RANDOM_STEP)] if RANDOM_STEP in graph else []
        feeds = {tensor.name: np.zeros((), np.uint32) for tensor in counter}
        program = Program(graph, list(initial), feeds={tensor.name: tensor for tensor in counter})
        shapes = {name: array.shape for name, array in feeds.items()}
        compiled = compile_program(program, shapes, SessionPlacement(HOST, None, False).policy())
        runnable = self._load(compiled, graph, ALONE)
        try:
            return runnable.run(feeds)
        finally:
            runnable.unload()


def _check(compiled: Compiled, feeds: Mapping[str, Array]) -> None:
    """Check feeds as the operations of a program require.

    Raises:
        FeedError, DataError: an operation cannot take a value.
    """
    for check in compiled.program.checks:
        check.run(feeds)


def _used_by_initializers(graph: Graph, variables: Sequence[Node]) -> list[Node]:
    """Return the variables on which the initial values of others depend."""
    initializers = [graph.tensor(node.attrs["initializer"]).node for node in variables]
    return [node for node in topological(ancestors(initializers)) if is_variable(node)]


def _groups(variables: Sequence[Node]) -> Iterator[list[Node]]:
    """Divide ``variables`` into groups of limited size: their values are computed together."""
    group: list[Node] = []
    size = 0
    for node in variables:
        bytes_of_node = CPU.bytes_of(node.outputs[0].spec)
        if group and size + bytes_of_node > INITIAL_BYTES:
            yield group
            group, size = [], 0
        group.append(node)
        size += bytes_of_node
    yield group


def _check_memory(variables: Sequence[Node], elsewhere: Sequence[Node]) -> None:
    """Check that ``variables`` fit in the host's memory, except variables on other devices.

    Raises:
        OutOfMemoryError: they do not.
    """
    sizes = {node: CPU.bytes_of(node.outputs[0].spec) for node in variables}
    here = sum(sizes.values()) - sum(sizes[node] for node in elsewhere)
    group = max(sum(sizes[node] for node in group) for group in _groups(variables))
    largest = max(variables, key=sizes.__getitem__)
    check_memory(
        here + 2 * group,  # of the group, random numbers and the result
        f"initializing {len(sizes)} variables, the largest '{largest.name}' with "
        f"{size_text(sizes[largest])},",
        "Use fewer or smaller layers.",
    )
