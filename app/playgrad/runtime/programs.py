"""What a session has compiled and loaded, and the variables that it works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from playgrad.compiler.compile import Compiled, compile_program
from playgrad.compiler.place import HOST, Policy
from playgrad.compiler.planner import Shapes
from playgrad.compiler.program import Key, Program
from playgrad.devices import registry as devices
from playgrad.devices.base import Plan
from playgrad.devices.device import Device, Loaded
from playgrad.devices.remote_cpu import RemoteCpu
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.ops.state import RANDOM_STEP, is_variable
from playgrad.runtime.executor import Executor
from playgrad.runtime.feeds import FeedChecks
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.session_placement import SessionPlacement
from playgrad.runtime.transport import Transport
from playgrad.runtime.tuner import ensure_tuned
from playgrad.runtime.variables import VariableStore

Array = np.ndarray[Any, Any]
R = TypeVar("R")

MOST_RUNNABLES = 32
"""Compiled programs that a session keeps, each with its buffers: those used last."""


class Programs:
    """Compiles and loads programs, each once, and sees that their variables have values.

    Args:
        opened: gives the device of a name; another one after it was lost.
        placing: where operations and variables go.

    Attributes:
        store: the values of the variables.
    """

    def __init__(
        self,
        opened: Callable[[str], Device],
        placing: SessionPlacement,
        executor: Executor,
        new_transport: Callable[[], Transport],
    ) -> None:
        self.store = VariableStore(opened)
        self._opened = opened
        self._placing = placing
        self._executor = executor
        self._new_transport = new_transport
        self._runnables: dict[Key, tuple[Runnable, FeedChecks]] = {}
        self._expected: dict[Key, Compiled] = {}

    def __len__(self) -> int:
        return len(self._runnables)

    # Programs

    def prepared(self, program: Program, feeds: Mapping[str, Array]) -> Runnable:
        """``program``, ready to be run with ``feeds``, which have been checked."""
        shapes = {name: array.shape for name, array in feeds.items()}
        key = program.key(shapes)
        if key in self._runnables and self._runnables[key][0].is_lost:
            self._runnables.pop(key)[0].unload()
        if key not in self._runnables:
            compiled = self._expected.pop(key, None)
            if compiled is None:
                compiled = compile_program(program, shapes, self.policy_for(program, shapes))
            runnable = self._load(compiled, program.graph)
            self._runnables[key] = (runnable, FeedChecks(program.graph, program.feeds))
        runnable, checks = self._runnables[key] = self._runnables.pop(key)
        if len(self._runnables) > MOST_RUNNABLES:
            oldest, _ = self._runnables.pop(next(iter(self._runnables)))
            oldest.unload()
        checks.check(feeds)
        return runnable

    def expect(self, target: Node) -> None:
        """Compile what will be run, and have devices begin with it."""
        program = Program(target.graph, targets=[target])
        key = program.key({})
        if key in self._runnables:
            return
        compiled = compile_program(program, {}, self.policy_for(program, {}))
        for name, plan in self._plans(compiled, target.graph).items():
            self._opened(name).expect(plan)
        self._expected = {key: compiled}

    def forget(self, variables: Sequence[Node]) -> None:
        """Free the values of ``variables`` and the programs that use them."""
        gone = {(node.graph, node.name) for node in variables}
        for key, (runnable, _) in list(self._runnables.items()):
            if any((runnable.graph, name) in gone for name in runnable.variables):
                del self._runnables[key]
                runnable.unload()
        for variable in gone:
            if variable in self.store:
                self.store.drop(variable)

    def unload(self) -> None:
        """Free all programs."""
        self._expected.clear()
        for runnable, _ in self._runnables.values():
            runnable.unload()
        self._runnables.clear()

    def _load(self, compiled: Compiled, graph: Graph) -> Runnable:
        plans: dict[str, Loaded] = {}
        try:
            for name, made in self._plans(compiled, graph).items():
                plans[name] = self._opened(name).load(made, self.store.external(name))
        except BaseException:
            for plan in plans.values():
                plan.unload()
            raise
        return Runnable(compiled, graph, self.store, plans, self._executor, self._new_transport)

    def _plans(self, compiled: Compiled, graph: Graph) -> dict[str, Plan]:
        """The Plan for each device apart; all variables have values then."""
        apart = [name for name in compiled.segments if devices.runs_plans(name)]
        devices.start(apart)
        self.make_ready(graph, [graph.node(n.name) for n in compiled.order if is_variable(n)])
        plans: dict[str, Plan] = {}
        for name in apart:
            device = self._opened(name)
            layout = self.store.places_on(graph, name)
            if isinstance(device, RemoteCpu):
                plans[name] = compiled.processor_plan(name, layout)
            else:
                ensure_tuned(device)
                plans[name] = compiled.plan(name, device.target, layout)
        return plans

    # Placement

    def policy_for(self, program: Program, shapes: Shapes) -> Policy:
        """Where the operations of ``program`` go; variables are moved to where it wants them."""
        return self.move(lambda: self._placing.policy_for(program, shapes))

    def move(self, change: Callable[[], R]) -> R:
        """Do ``change``, which says anew where variables live, and bring them there."""
        before = {key: self.home(key[0].node(key[1])) for key in self.store.variables()}
        placement = self._placing.request
        result = change()
        moved = [
            key
            for key, home in before.items()
            if self.home(key[0].node(key[1])) != home and not self.store.is_lost(key)
        ]
        if moved or placement is not self._placing.request:
            self.unload()
        values = [(g.node(name), self.store.get((g, name), g.node(name))) for g, name in moved]
        for key in moved:
            self.store.drop(key)
        self.put(values)
        return result

    def home(self, node: Node) -> str:
        """The device on which a variable lives."""
        return self._placing.home(node)

    # Values of variables

    def put(self, values: Sequence[tuple[Node, Array]]) -> None:
        """Give variables their values, and those that have none room first."""
        self.make_room([node for node, _ in values])
        self.set(values)

    def make_room(self, variables: Sequence[Node], data: bool = False) -> None:
        """Places for those that have none: a buffer in common, or where ``data`` may stay on the
        device one for each."""
        homes: dict[tuple[Graph, str], list[Node]] = {}
        for node in variables:
            home = self.home(node)
            if self.store.is_lost((node.graph, node.name)):
                self.store.drop((node.graph, node.name))
            if (node.graph, node.name) not in self.store and devices.runs_plans(home):
                homes.setdefault((node.graph, home), []).append(node)
        for (graph, home), nodes in homes.items():
            if data:
                nodes = [node for node in nodes if not self.store.allocate_data(graph, node, home)]
            self.store.allocate(graph, nodes, home)

    def set(self, values: Sequence[tuple[Node, Array]]) -> None:
        """Give variables that have room their values."""
        for node, array in values:
            self.store.set((node.graph, node.name), array)

    def make_ready(self, graph: Graph, nodes: Sequence[Node]) -> None:
        """Give those of ``nodes`` (variables of ``graph``) that have none their initial value.

        Random ones are drawn with the counter at 0, whenever that happens.
        """
        for node in nodes:
            self.store.check_there((graph, node.name))
        fresh = [node for node in nodes if (graph, node.name) not in self.store]
        if not fresh:
            return
        homes: dict[str, list[Node]] = {}
        for node in fresh:
            homes.setdefault(self.home(node), []).append(node)
        homes = {home: own for home, own in homes.items() if devices.runs_plans(home)}
        for home, own in homes.items():
            self.store.check_size(own, home)  # before much time goes into their values
        arrays = self._initial(graph, fresh)
        for home, own in homes.items():
            self.store.allocate(graph, own, home)
        for node, array in zip(fresh, arrays, strict=True):
            self.store.set((graph, node.name), array)

    def _initial(self, graph: Graph, variables: Sequence[Node]) -> list[Array]:
        initial = [graph.tensor(node.attrs["initializer"]) for node in variables]
        counter = [graph.tensor(RANDOM_STEP)] if RANDOM_STEP in graph else []
        feeds = {tensor.name: np.zeros((), np.uint32) for tensor in counter}
        program = Program(graph, list(initial), feeds={tensor.name: tensor for tensor in counter})
        shapes = {name: array.shape for name, array in feeds.items()}
        compiled = compile_program(program, shapes, SessionPlacement(HOST, None, False).policy())
        runnable = self._load(compiled, graph)
        try:
            return runnable.run(feeds)
        finally:
            runnable.unload()
