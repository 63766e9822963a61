"""Answers about one node of the graph that the page draws: its value and its gradient."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from playgrad.compiler.program import Program
from playgrad.data.excerpt import Excerpt
from playgrad.devices.kinds import HOST
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.find import find
from playgrad.inspection.node_kernel import NodeKernel, node_kernel
from playgrad.inspection.node_pictures import node_pictures
from playgrad.inspection.node_time import measure
from playgrad.inspection.node_values import Array, Holder, NodeValues
from playgrad.inspection.problem import Unavailable
from playgrad.inspection.query import parse
from playgrad.inspection.summary import summary
from playgrad.ops.state import holds_data, is_variable
from playgrad.page.graph_view import graph_scopes
from playgrad.page.restored_model import RestoredModel
from playgrad.page.session_runs import NOT_RUN, SessionRuns
from playgrad.runtime.hooks import Request
from playgrad.runtime.open_sessions import open_sessions
from playgrad.runtime.session import Session

View = dict[str, Any]
MOST = 500
"""The most matches of a query that are sent."""


class NodeViews:
    """Looks at the nodes of one graph at a time, from the first question until `clear`.

    Args:
        runs: the last runs of the program's own sessions.
    """

    def __init__(self, runs: SessionRuns | None = None) -> None:
        self._runs = SessionRuns() if runs is None else runs
        self._values: NodeValues | None = None
        self._of: tuple[Any, ...] = ()

    def clear(self) -> None:
        """Free what looking needed."""
        if self._values is not None:
            self._values.close()
        self._values, self._of = None, ()

    def view(self, model: Any, programs: Sequence[Program], request: Request) -> View:
        """Return the summary of a node's value or gradient, or why there is none.

        Args:
            model: that of the training; None if there is none.
            programs: what sessions have run, for a program that trains no model.
            request: with the ``name`` of the node as it is drawn, the number of its ``output``, the
                ``part``, "value" or "gradient", and the ``sample``: its number, a ``test`` number,
                None for the first batch, or "last" for the last one.
        """
        began = time.perf_counter()
        view: View = {
            "outputs": 0, "samples": None, "test_samples": None, "summary": None, "pictures": None,
            "problem": None,
        }  # fmt: skip
        name, output = str(request["name"]), int(request["output"])
        part, sample = request["part"], request["sample"]
        try:
            values, name = self.values_of(model, programs, name)
            tensor = values.tensor(name, output)
            view |= {"outputs": len(tensor.node.outputs), "samples": values.samples}
            test = None if values.samples is None else getattr(model, "test_excerpt", None)
            view["test_samples"] = None if test is None else test.count
            if isinstance(sample, dict):
                sample = _test_sample(test, int(sample["test"]))
            compute = values.gradients if part == "gradient" else values.values
            array = compute([tensor], sample)[0]
            alone = isinstance(sample, (int, tuple))
            view["summary"] = summary(array)
            is_weight = is_variable(tensor.node) and not holds_data(tensor.node)
            view["pictures"] = node_pictures(array, is_weight, alone)
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view | {"seconds": time.perf_counter() - began}

    def find(self, model: Any, programs: Sequence[Program], request: Request) -> View:
        """Return the nodes for which the ``query`` holds, or what is wrong with it."""
        began = time.perf_counter()
        view: View = {"matches": [], "total": 0, "checked": 0, "skipped": 0, "problem": None}
        try:
            query = parse(str(request["query"]))
            scopes = graph_scopes(len(programs) if model is None else 1)
            problems: list[Unavailable] = []
            for scope in scopes:
                values, _ = self.values_of(model, programs, scope)
                try:
                    found = find(values, query, scope, "last")
                except Unavailable as problem:
                    problems.append(problem)
                    continue
                view["matches"] += [[scope + name, number] for name, number in found.matches]
                view["checked"] += found.checked
                view["skipped"] += found.skipped
            if len(problems) == len(scopes):
                raise problems[0]
            view["total"] = len(view["matches"])
            del view["matches"][MOST:]
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view | {"seconds": time.perf_counter() - began}

    def kernel(self, model: Any, programs: Sequence[Program], request: Request) -> View:
        """Return the kernel of the node called ``name``, or why there is none."""
        view: View = {"kernel": None, "problem": None}
        try:
            values, name = self.values_of(model, programs, str(request["name"]))
            tensor = values.tensor(name)
            view["kernel"] = asdict(self._kernel_of(model, values, tensor.node))
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view

    def _kernel_of(self, model: Any, values: NodeValues, node: Node) -> NodeKernel:
        if model is not None:
            return node_kernel(model.session, values.targets, node)
        return self._runs.first_of(
            node, lambda session, run: node_kernel(session, run.fetches, node, run.feeds)
        )

    def time(self, model: Any, programs: Sequence[Program], request: Request) -> View:
        """Measure the node called ``name``, or return why that is not possible."""
        view: View = {"measured": None, "problem": None}
        try:
            values, name = self.values_of(model, programs, str(request["name"]))
            node = values.tensor(name).node
            session = model.session if model is not None else _session_of(node.graph)
            device = HOST if session is None else session.device
            view["measured"] = asdict(measure(values, node, device))
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view

    def values_of(
        self, model: Any, programs: Sequence[Program], name: str
    ) -> tuple[NodeValues, str]:
        """Return what computes the graph with the node called ``name``, and its name there.

        Raises:
            Unavailable: the nodes of this graph cannot be computed.
        """
        if isinstance(model, RestoredModel):
            raise Unavailable("restored")
        feeds: list[dict[Tensor, Array]] = []
        session: Holder | None
        if model is None:
            program, name = _program_of(programs, name)
            session = _session_of(program.graph) or self._runs.closed(program.graph)
            if session is None and not self._runs.has_run(program.graph):
                session = NOT_RUN
            roots, feeds = program.roots, self._runs.feeds(program.graph)
        else:
            if model.parameter_server is not None:
                raise Unavailable("asynchronous")
            session, roots = model.session, model.training_targets
        key = (session, *roots)
        if self._values is None or key != self._of:
            self.clear()
            self._values, self._of = NodeValues(session, roots), key
        self._values.feeds = feeds
        return self._values, name


def _test_sample(test: Excerpt | None, number: int) -> tuple[Array, Array]:
    """Return input and target of a sample of the test data.

    Raises:
        Unavailable: there is no such sample.
    """
    count = 0 if test is None else test.count
    if test is None or not 0 <= number < count:
        raise Unavailable("no_sample", sample=number, count=count)
    return test.sample(number)


def _program_of(programs: Sequence[Program], name: str) -> tuple[Program, str]:
    """Return the program with a node, and the node's name there, as in `programs_view`."""
    if not programs:
        raise Unavailable("no_program")
    for scope, program in zip(graph_scopes(len(programs)), programs, strict=True):
        if name.startswith(scope):
            return program, name.removeprefix(scope)
    raise Unavailable("unknown", name=name)


def _session_of(graph: Graph) -> Session | None:
    """Return the open session with the most variables of ``graph``."""
    sessions = [each for each in open_sessions if isinstance(each, Session)]
    sessions = [each for each in sessions if each.assigned_variables(graph)]
    return max(sessions, key=lambda each: len(each.assigned_variables(graph)), default=None)
