"""Answers about one node of the graph that the page draws: its value and its gradient."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypedDict

from playgrad.compiler.program import Program
from playgrad.data.excerpt import Excerpt
from playgrad.devices.kinds import HOST
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.computed_nodes import Reason, Whole, computed_nodes
from playgrad.inspection.find import find
from playgrad.inspection.node_kernel import NodeKernel, node_kernel
from playgrad.inspection.node_pictures import NodePictures, node_pictures
from playgrad.inspection.node_time import NodeTime, measure
from playgrad.inspection.node_values import Array, Holder, NodeValues
from playgrad.inspection.problem import Unavailable, UnavailableForm
from playgrad.inspection.query import parse
from playgrad.inspection.summary import Summary, summary
from playgrad.ops.state import holds_data, is_variable
from playgrad.page.graph_view import graph_scopes
from playgrad.page.restored_model import RestoredModel
from playgrad.page.session_runs import NOT_RUN, SessionRuns
from playgrad.page.shown_model import LiveModel
from playgrad.runtime.feeds import FeedDict
from playgrad.runtime.open_sessions import open_sessions
from playgrad.runtime.session import Session

MOST = 500
"""The most matches of a query that are sent."""
ModelOfGraph = LiveModel | RestoredModel | None
"""The model of the training whose step is drawn; None if graphs of sessions are."""


class TestSample(TypedDict):
    test: int


BatchChoice = Annotated[int | TestSample | Literal["last"] | None, "BatchChoice"]
"""A training or test sample in all places of a batch, the last batch, or the first one."""


class NodeQuestion(TypedDict):
    """`name`: of the node as it is drawn; `output`: the number of one of its outputs."""

    name: str
    output: int
    part: Literal["value", "gradient"]
    sample: BatchChoice


class NodeView(TypedDict):
    """`outputs`: of the node; `samples`, `test_samples`: of the data sets, one of which can be
    chosen; `pictures`: null for values of another kind; `problem`: why there is no summary."""

    outputs: int
    samples: int | None
    test_samples: int | None
    summary: Summary | None
    pictures: NodePictures | None
    problem: UnavailableForm | None
    seconds: float


class NodeMatches(TypedDict):
    """`matches`: the first ones, with the number that the query compares; `skipped`: nodes whose
    values cannot be computed."""

    matches: list[tuple[str, float]]
    total: int
    checked: int
    skipped: int
    problem: UnavailableForm | None
    seconds: float


class NodeKernelView(TypedDict):
    kernel: NodeKernel | None
    problem: UnavailableForm | None


class NodeTimeView(TypedDict):
    measured: NodeTime | None
    problem: UnavailableForm | None


class ComputedNodesForm(TypedDict):
    """As `playgrad.inspection.computed_nodes.ComputedNodes`, of all graphs that are drawn."""

    operations: int
    compiled_operations: int
    compiled: list[str]
    python: dict[str, Annotated[Reason, "PythonReason"]]
    problem: Annotated[Whole, "UncompiledReason"] | None


class NodeViews:
    """Computes the nodes of one graph at a time, from the first question until `clear`.

    Args:
        runs: the last runs of the program's own sessions.
    """

    def __init__(self, runs: SessionRuns | None = None) -> None:
        self._runs = SessionRuns() if runs is None else runs
        self._values: NodeValues | None = None
        self._of: tuple[Any, ...] = ()

    def clear(self) -> None:
        """Free the memory of the computed nodes."""
        if self._values is not None:
            self._values.close()
        self._values, self._of = None, ()

    def view(
        self, model: ModelOfGraph, programs: Sequence[Program], request: NodeQuestion
    ) -> NodeView:
        """Return the summary of a node's value or gradient, or why there is none.

        Args:
            model: the model of the training; None if there is none.
            programs: the programs that sessions have run, if the user's program trains no model.
        """
        began = time.perf_counter()
        view: NodeView = {
            "outputs": 0, "samples": None, "test_samples": None, "summary": None, "pictures": None,
            "problem": None, "seconds": 0.0,
        }  # fmt: skip
        name, output, part = request["name"], request["output"], request["part"]
        try:
            values, name = self.values_of(model, programs, name)
            tensor = values.tensor(name, output)
            view["outputs"], view["samples"] = len(tensor.node.outputs), values.samples
            test = None if values.samples is None else getattr(model, "test_excerpt", None)
            view["test_samples"] = None if test is None else test.count
            sample: int | tuple[Array, Array] | Literal["last"] | None
            if isinstance(request["sample"], dict):
                sample = _test_sample(test, request["sample"]["test"])
            else:
                sample = request["sample"]
            compute = values.gradients if part == "gradient" else values.values
            array = compute([tensor], sample)[0]
            alone = isinstance(sample, (int, tuple))
            view["summary"] = summary(array)
            is_weight = is_variable(tensor.node) and not holds_data(tensor.node)
            view["pictures"] = node_pictures(array, is_weight, alone)
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        view["seconds"] = time.perf_counter() - began
        return view

    def find(self, model: ModelOfGraph, programs: Sequence[Program], text: str) -> NodeMatches:
        """Return the nodes for which a query holds, or the problem with the query."""
        began = time.perf_counter()
        view: NodeMatches = {
            "matches": [], "total": 0, "checked": 0, "skipped": 0, "problem": None, "seconds": 0.0,
        }  # fmt: skip
        try:
            query = parse(text)
            scopes = graph_scopes(len(programs) if model is None else 1)
            problems: list[Unavailable] = []
            for scope in scopes:
                values, _ = self.values_of(model, programs, scope)
                try:
                    found = find(values, query, scope, "last")
                except Unavailable as problem:
                    problems.append(problem)
                    continue
                view["matches"] += [(scope + name, number) for name, number in found.matches]
                view["checked"] += found.checked
                view["skipped"] += found.skipped
            if len(problems) == len(scopes):
                raise problems[0]
            view["total"] = len(view["matches"])
            del view["matches"][MOST:]
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        view["seconds"] = time.perf_counter() - began
        return view

    def kernel(self, model: ModelOfGraph, programs: Sequence[Program], name: str) -> NodeKernelView:
        """Return the kernel of the node called ``name``, or why there is none."""
        view: NodeKernelView = {"kernel": None, "problem": None}
        try:
            values, name = self.values_of(model, programs, name)
            tensor = values.tensor(name)
            view["kernel"] = self._kernel_of(model, values, tensor.node)
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view

    def _kernel_of(self, model: ModelOfGraph, values: NodeValues, node: Node) -> NodeKernel:
        if (session := session_of(model)) is not None:
            return node_kernel(session, values.targets, node)
        return self._runs.first_of(
            node, lambda session, run: node_kernel(session, run.fetches, node, run.feeds)
        )

    def computed(self, model: ModelOfGraph, programs: Sequence[Program]) -> ComputedNodesForm:
        """Return which nodes are compiled, and which Python computes."""
        form: ComputedNodesForm = {
            "operations": 0, "compiled_operations": 0, "compiled": [], "python": {},
            "problem": None,
        }  # fmt: skip
        problems: list[Whole] = []
        for scope, session, fetches, feeds in self._programs_run(model, programs):
            found = computed_nodes(session, fetches, feeds)
            if found is None:
                continue
            if found.problem is not None:
                problems.append(found.problem)
                continue
            form["operations"] += found.operations
            form["compiled_operations"] += found.compiled_operations
            form["compiled"] += [scope + name for name in found.compiled]
            form["python"] |= {scope + name: reason for name, reason in found.python.items()}
        if problems and not form["operations"]:
            form["problem"] = problems[0]
        return form

    def _programs_run(
        self, model: ModelOfGraph, programs: Sequence[Program]
    ) -> Iterator[tuple[str, Session, Sequence[Node | Tensor], FeedDict]]:
        """Yield what runs of the drawn graphs there are: the training step of ``model``, or the
        largest kept run of each graph, with the scope of the graph."""
        if isinstance(model, RestoredModel):
            return
        if model is not None:
            if model.parameter_server is None:
                yield "", model.session, model.training_targets, None
        else:
            for scope, program in zip(graph_scopes(len(programs)), programs, strict=True):
                run = self._runs.largest_of(program.graph)
                if run is not None:
                    yield scope, run[0], run[1].fetches, run[1].feeds

    def time(self, model: ModelOfGraph, programs: Sequence[Program], name: str) -> NodeTimeView:
        """Measure the node called ``name``, or return why that is not possible."""
        view: NodeTimeView = {"measured": None, "problem": None}
        try:
            values, name = self.values_of(model, programs, name)
            node = values.tensor(name).node
            session = session_of(model) or _session_of(node.graph)
            device = HOST if session is None else session.device
            view["measured"] = measure(values, node, device)
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view

    def values_of(
        self, model: ModelOfGraph, programs: Sequence[Program], name: str
    ) -> tuple[NodeValues, str]:
        """Return the `NodeValues` that computes the node called ``name``, and its name there.

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


def session_of(model: ModelOfGraph) -> Session | None:
    """Return the session of a model; None if there is no model, or one without its program."""
    return None if model is None or isinstance(model, RestoredModel) else model.session


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
