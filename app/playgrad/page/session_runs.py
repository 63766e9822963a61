"""The last runs of a program's own sessions: their feeds, and the variables of closed sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar
from weakref import WeakSet, ref

import numpy as np

from playgrad.compiler.program import Program
from playgrad.dtypes import dtype
from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.graph import FLOAT32, Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.problem import Unavailable
from playgrad.page.session_graphs import MOST_GRAPHS
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]
Seen = TypeVar("Seen")
MOST_RUNS = 8
"""The runs kept of a graph, with different fetches or shapes of feeds."""
MOST_BYTES = 64 << 20
"""The limit of a run's feeds, and of a closed session's variables: larger ones are not kept."""


@dataclass(frozen=True)
class SessionRun:
    """A run of a session, with its feeds. The arrays are the program's own, not copies."""

    session: ref[Session]
    program: Program
    arrays: Mapping[str, Array]

    @property
    def feeds(self) -> dict[Tensor, Array]:
        return {tensor: self.arrays[name] for name, tensor in self.program.feeds.items()}

    @property
    def fetches(self) -> list[Tensor | Node]:
        return [*self.program.fetches, *self.program.targets]


class ClosedSession:
    """The variables of a session as they were when it was closed."""

    def __init__(
        self, graph: Graph, device: str, values: dict[Tensor, Array], precision: str
    ) -> None:
        self._graph, self._device, self.precision = graph, device, precision
        self._values = values
        self._again: Session | None = None

    def values(self, variables: Sequence[Tensor]) -> list[Array]:
        """Return the last values of variables.

        Raises:
            Unavailable: the session had no value for one of them.
        """
        if any(variable not in self._values for variable in variables):
            raise Unavailable("no_session")
        return [self._values[variable] for variable in variables]

    def run(self, fetches: Any, feeds: Any) -> Any:
        """Return the values of ``fetches``, as the session would have."""
        return self.again().run(fetches, feeds)

    def again(self) -> Session:
        """Return a session with these variables on the same device, to repeat runs."""
        if self._again is None or self._again.closed:
            self._again = Session(self._graph, self._device, precision=self.precision)
            self._again.assign(self._values)
        return self._again

    def close(self) -> None:
        """Close the session of `again`."""
        if self._again is not None and not self._again.closed:
            self._again.close()


class NoSession:
    """Stands in for the session of a graph that the program has built, but not run."""

    precision = FLOAT32

    def values(self, variables: Sequence[Tensor]) -> list[Array]:
        """Raise Unavailable: variables have no values yet."""
        raise Unavailable("not_run")

    def run(self, fetches: Any, feeds: Any) -> Any:
        """Raise Unavailable: nothing has run."""
        raise Unavailable("not_run")


NOT_RUN = NoSession()


class SessionRuns:
    """Keeps the last runs of each graph."""

    def __init__(self) -> None:
        self._runs: dict[Graph, dict[Any, SessionRun]] = {}
        self._last: SessionRun | None = None
        self._closed: dict[Graph, ClosedSession] = {}
        self._seen: WeakSet[Graph] = WeakSet()

    def __len__(self) -> int:
        """Return the number of graphs with runs that are kept."""
        return len(self._runs)

    def add(self, session: Session, program: Program, arrays: Mapping[str, Array]) -> None:
        """Keep a run, in place of the last one of the same program with feeds of these shapes."""
        last = None if arrays else self._last
        if last is not None and last.program is program and last.session() is session:
            return  # a loop runs the same again and again
        self._last = None
        self._seen.add(program.graph)
        if sum(array.nbytes for array in arrays.values()) > MOST_BYTES:
            return
        runs = self._runs[program.graph] = self._runs.pop(program.graph, {})
        if len(self._runs) > MOST_GRAPHS:
            oldest = next(iter(self._runs))
            del self._runs[oldest]
            self._closed.pop(oldest, None)
        key = program.key({name: array.shape for name, array in arrays.items()})
        runs.pop(key, None)
        self._last = runs[key] = SessionRun(ref(session), program, arrays)
        if len(runs) > MOST_RUNS:
            del runs[next(iter(runs))]

    def keep_variables(self, session: Session) -> None:
        """Keep the variables of a session that will be closed."""
        for graph, runs in self._runs.items():
            if all(run.session() is not session for run in runs.values()):
                continue
            try:
                variables = session.assigned_variables(graph)
                size = sum(_bytes_of(variable) for variable in variables)
                if size <= MOST_BYTES:
                    values = dict(zip(variables, session.values(variables), strict=True))
                    self._closed[graph] = ClosedSession(
                        graph, session.device, values, session.precision
                    )
            except PlaygradError:
                return  # its device was lost, or it is closed because of an error

    def closed(self, graph: Graph) -> ClosedSession | None:
        """Return the variables of the last session of ``graph`` that was closed."""
        return self._closed.get(graph)

    def has_run(self, graph: Graph) -> bool:
        """Return whether a session has run ``graph``, be it a run that is not kept."""
        return graph in self._seen

    def feeds(self, graph: Graph) -> list[dict[Tensor, Array]]:
        """Return the feeds of the runs of ``graph``, the last run first."""
        return [run.feeds for run in reversed(self._runs.get(graph, {}).values())]

    def runs_of(self, node: Node) -> Iterator[tuple[Session, SessionRun]]:
        """Yield the runs that need ``node``, the last one first, with sessions to repeat them."""
        for run in reversed(self._runs.get(node.graph, {}).values()):
            if node in run.program.order() and (session := self._session_of(run)) is not None:
                yield session, run

    def first_of(self, node: Node, look: Callable[[Session, SessionRun], Seen]) -> Seen:
        """Return the result of ``look`` for the last run of ``node`` in which it finds something.

        Raises:
            Unavailable: there is none.
        """
        problem = Unavailable("no_run")
        for session, run in self.runs_of(node):
            try:
                return look(session, run)
            except Unavailable as resolved:  # perhaps an earlier run computed it
                problem = resolved
        raise problem

    def largest(self) -> tuple[Session, SessionRun]:
        """Return the run with the most operations, and a session that can repeat it.

        Raises:
            GraphError: there is none.
        """
        found = self._largest(
            run for runs in self._runs.values() for run in reversed(runs.values())
        )
        if found is not None:
            return found
        raise GraphError(
            "no run of this program can be repeated: its feeds or variables are too large to be "
            "kept.",
            hint="Leave the session open.",
        )

    def largest_of(self, graph: Graph) -> tuple[Session, SessionRun] | None:
        """Return the run of ``graph`` with the most operations, and a session that can repeat it;
        None if there is none."""
        return self._largest(reversed(self._runs.get(graph, {}).values()))

    def _largest(self, runs: Iterable[SessionRun]) -> tuple[Session, SessionRun] | None:
        for run in sorted(runs, key=lambda run: -len(run.program.order())):
            if (session := self._session_of(run)) is not None:
                return session, run
        return None

    def _session_of(self, run: SessionRun) -> Session | None:
        session = run.session()
        if session is None or session.closed:
            closed = self._closed.get(run.program.graph)
            session = None if closed is None else closed.again()
        return None if session is None else session.in_precision(run.program.precision)

    def clear(self) -> None:
        """Forget all runs."""
        for closed in self._closed.values():
            closed.close()
        self._runs.clear()
        self._last = None
        self._seen.clear()
        self._closed.clear()


def _bytes_of(variable: Tensor) -> int:
    return prod(size or 1 for size in variable.shape) * dtype(variable.dtype).numpy.itemsize
