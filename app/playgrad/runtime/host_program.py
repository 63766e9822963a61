"""Programs of one processor: Python at first, compiled code where that is worth it.

Compiled code rounds otherwise than Python. So a program that writes variables, a training step, is
compiled at its first run: its digits are the same whenever a training begins, is interrupted or is
continued. So is what a session that trains runs, such as the gradients of a replica. Others wait
for a number of runs in Python that take about as long as the compilation, by an estimate that is
always the same: a program that runs once is not compiled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil
from operator import is_
from typing import Any

import numpy as np

from playgrad.compiler.work_estimates import operations
from playgrad.errors import OutOfMemoryError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.runtime.compile_steps import compile_step, order_to_compile
from playgrad.runtime.compiled_run import CompiledRun
from playgrad.runtime.desktop_host import compiles_for_sessions
from playgrad.runtime.host_copies import Key
from playgrad.runtime.python_program import PythonProgram
from playgrad.runtime.step_host import StepHost, step_host
from playgrad.runtime.step_order import StepOrder
from playgrad.runtime.variables import VariableStore

Array = np.ndarray[Any, Any]

SECONDS_OF_NODE = 1e-3
"""About how long the compilation of a node takes."""
_NODES_OF_HOST = 150
"""How many nodes take as long to compile as the compiler takes to start on the desktop."""
_OVERHEAD = 3e-5
"""Seconds, about, that Python takes for a node besides its arithmetic."""
_SPEED = 2e9
"""Multiplications and additions in a second of Python's kernels, about."""
LONGEST_CALL = 0.02
"""Seconds of a call of compiled code that computes several steps, between checks for a stop."""


class HostProgram:
    """A program that no device but this process's processor runs.

    Args:
        order: all nodes, each after the nodes that it depends on.
        fetches: the tensors that a run returns.
        feeds: the tensors that are fed, by the name under which they are.
        heavy: nodes that are preceded by a check for a stop.
        store: the values of the variables of ``graph``.
        initial: returns the value of a variable by its name.
        parallel: whether the caller runs it in several threads until it is compiled.
        compiles: whether it is ever compiled, where the host can.
        trains: whether it is part of a training step, even if it writes no variable.

    Attributes:
        compiled: the compiled program, once it is.
        compile_seconds: how long that took.
    """

    def __init__(
        self,
        order: Sequence[Node],
        fetches: Sequence[Tensor],
        feeds: Mapping[str, Tensor],
        heavy: Collection[Node],
        graph: Graph,
        store: VariableStore,
        initial: Callable[[str], Array],
        parallel: bool = False,
        compiles: bool = True,
        trains: bool = False,
    ) -> None:
        self._order, self._fetches, self._heavy = order, fetches, heavy
        self._feeds = feeds
        self._graph, self._store, self._initial = graph, store, initial
        self._used = [(graph, node.name) for node in order if is_variable(node)]
        self._python: PythonProgram | None = None
        self._parallel = parallel
        self._host: StepHost | None = step_host() if compiles else None
        self._of_session = compiles and compiles_for_sessions()
        trains = trains or any(node.op.writes for node in order)
        more_nodes = _NODES_OF_HOST if self._of_session else 0
        self._runs_left = 0 if trains else _runs_in_python(order, more_nodes)
        self._step_seconds = LONGEST_CALL
        self.compiled: CompiledRun | None = None
        self.compile_seconds = 0.0
        self._variables: list[Array] = []  # of compiled code; the keys are in the same order
        self._keys: list[Key] = []
        self._lendings = -1  # of the store, when the variables were looked up

    def run(
        self, feeds: Mapping[str, Array], stop: Callable[[], bool]
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run once.

        Returns:
            The fetched arrays in order, and new values of variables by name, which take effect when
            the caller stores them. Compiled code has stored them itself.

        Raises:
            KeyboardInterrupt: ``stop`` returned true between two operations.
        """
        if self._is_compiled():
            try:
                return self._run_compiled(feeds, stop, 1), {}
            except OutOfMemoryError:  # addresses of 32 bits
                if not self._of_session:
                    raise
                self._compile_never()
        if self._python is None:
            self._python = PythonProgram(self._order, self._fetches, self._feeds, self._heavy)
        arrays, written = self._python.run(self._initial, feeds, stop)
        self._runs_left -= 1
        return [np.array(array) for array in arrays], written

    def is_next(self) -> bool:
        """Return whether the next run is this program's; if not, the caller runs its tasks."""
        if not self._parallel or self._is_compiled():
            return True
        self._runs_left -= 1
        return False

    @property
    def can_compile(self) -> bool:
        """True if the program is compiled, or may be once it has run often enough: not while one of
        its variables is on a device with a memory of its own."""
        if self._host is None and not self._of_session:
            return False
        places = self._store.places
        return not places or not any(key in places for key in self._used)

    def step_order(self) -> StepOrder | None:
        """Return which nodes are compiled; None if none are, or not before some more runs."""
        if self.compiled is not None and self.can_compile:
            return self.compiled.step.order
        if self._runs_left > 0 or not self.can_compile:
            return None
        self._host = self._host or self._store.desktop_host()
        feeds = list(self._feeds.values())
        return order_to_compile(self._order, self._fetches, feeds, True, self._host.multiplies)

    def repeat(self, feeds: Mapping[str, Array], steps: int) -> int:
        """Run up to ``steps`` times in one call of compiled code; return how many runs were done.

        0 if there is no such code: `run` once instead.
        """
        if not self._is_compiled() or self.compiled is None or not self.compiled.repeats:
            return 0
        count = max(1, min(steps, int(LONGEST_CALL / self._step_seconds)))
        started = time.perf_counter()
        try:
            self._run_compiled(feeds, lambda: False, count)
        except OutOfMemoryError:
            if not self._of_session:
                raise
            self._compile_never()
            return 0
        self._step_seconds = max((time.perf_counter() - started) / count, 1e-7)
        return count

    def _is_compiled(self) -> bool:
        """Return whether to run compiled code, and compile it if its time has come."""
        if not self.can_compile:
            return False
        if self.compiled is None:
            if self._runs_left > 0:
                return False
            started = time.perf_counter()
            try:
                self._host = self._host or self._store.desktop_host()
                self.compiled = self._compile(self._host)
            except (MemoryError, OutOfMemoryError):
                if not self._of_session:
                    raise
            self.compile_seconds = time.perf_counter() - started
            self._python = None
            if self.compiled is None:
                self._compile_never()
        return self.compiled is not None

    def _compile_never(self) -> None:
        """Have Python compute all further runs."""
        self.compiled = self._host = None
        self._of_session = False
        self._variables = []

    def _compile(self, host: StepHost) -> CompiledRun | None:
        feeds = list(self._feeds.values())
        step = compile_step(
            self._order,
            self._fetches,
            feeds,
            True,
            host.relaxed,
            host.multiplies,
            host.threads,
        )
        if step is None:
            return None
        block = self._store.block_of(host)
        return CompiledRun(step, host, block, self._fetches, self._heavy)

    def _run_compiled(
        self, feeds: Mapping[str, Array], stop: Callable[[], bool], steps: int
    ) -> list[Array]:
        compiled, host = self.compiled, self._host
        assert compiled is not None and host is not None
        store, outer = self._store, self._store.in_code
        if outer:  # an operation of the user's runs this: the other run keeps the values it has
            store.lend_all()
        current = map(store.arrays.get, self._keys)
        if self._lendings != store.lendings or not all(map(is_, current, self._variables)):
            self._variables = self._bound(compiled, host)
            self._lendings = store.lendings
        variables, lendings = self._variables, store.lendings
        fed = [feeds[name] for name in self._feeds]
        store.in_code = True
        try:
            fetched = compiled.run(variables, fed, stop, steps)[0]
        finally:
            store.in_code = outer
        if store.lendings != lendings:  # other runs within this one have replaced arrays
            for key, array in zip(self._keys, variables, strict=True):
                if key[1] in compiled.overwritten:
                    store.arrays[key] = array
        return fetched

    def _bound(self, compiled: CompiledRun, host: StepHost) -> list[Array]:
        """Return the values of the variables, where compiled code can work on them."""
        store = self._store
        self._keys = [(self._graph, name) for name in compiled.variables]
        return [
            (store.overwritable if name in compiled.overwritten else store.readable)(key, host)
            for name, key in zip(compiled.variables, self._keys, strict=True)
        ]


def _runs_in_python(order: Sequence[Node], more_nodes: int) -> int:
    """Return the number of runs after which a program is compiled.

    Args:
        more_nodes: the time that the compilation takes beside that of its nodes, in nodes.
    """
    if not order:
        return 0
    seconds = sum(_OVERHEAD + operations(node) / _SPEED for node in order)
    return ceil(SECONDS_OF_NODE * (len(order) + more_nodes) / seconds)
