"""The graphs that the sessions of a program run, for a page that has no model's graph to draw."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.graph.graph import Graph
from playgrad.page.graph_view import GraphForm, programs_view

MOST_GRAPHS = 8
"""A program may create graphs in a loop: the last ones are drawn."""
SECONDS_APART = 1.0


class SessionGraphs:
    """Collects the runs of sessions, graph by graph, and sends the drawing when it has changed.

    Args:
        send: receives the drawing.
        file: name of the user's program.
    """

    def __init__(self, send: Callable[[GraphForm], None], file: str) -> None:
        self._send = send
        self._file = file
        self._programs: dict[Graph, tuple[Program, Policy]] = {}
        self._changed = False
        self._sent = -SECONDS_APART

    def add(self, program: Program, policy: Policy) -> None:
        """Add the nodes of ``program``. The drawing is sent now, or later if one was just sent."""
        graph = program.graph
        known = self._programs.pop(graph, (Program(graph), policy))[0]
        # A fed node is drawn with the nodes that would compute it, as for runs that do not feed it.
        fetches = list(dict.fromkeys([*known.fetches, *program.fetches]))
        targets = list(dict.fromkeys([*known.targets, *program.targets]))
        self._programs[graph] = replace(known, fetches=fetches, targets=targets), policy
        if len(self._programs) > MOST_GRAPHS:
            del self._programs[next(iter(self._programs))]
        self._changed = True
        if time.monotonic() - self._sent >= SECONDS_APART:
            self.finish()

    def finish(self) -> None:
        """Send the drawing unless it has been sent."""
        if not self._changed:
            return
        self._changed = False
        self._send(programs_view(list(self._programs.values()), self._file))
        self._sent = time.monotonic()

    @property
    def programs(self) -> list[Program]:
        """The programs that sessions have run, one for each graph, in the order of the drawing."""
        return [program for program, _ in self._programs.values()]

    def clear(self) -> None:
        """Forget all graphs."""
        self._programs.clear()
        self._changed = False
        self._sent = -SECONDS_APART
