"""Questions about a training step: its graph, and how devices execute it."""

from __future__ import annotations

from typing import TypedDict

from playgrad.page.execution import ExecutionForm, measured_run, measured_step
from playgrad.page.faults import FILE
from playgrad.page.graph_view import GraphForm, asynchronous_view, graph_scopes, graph_view
from playgrad.page.operations_view import StepOperations, operations_view, run_operations_view
from playgrad.page.question import question
from playgrad.page.session_runs import SessionRun
from playgrad.page.shown_model import LiveModel
from playgrad.page.workspace import Workspace
from playgrad.runtime.session import Session


class ExecutionQuestion(TypedDict):
    """`apart`: with a kernel for each operation, where small ones share kernels otherwise."""

    apart: bool


class PlacementRow(TypedDict):
    scope: str
    nodes: list[str]
    device: str
    reason: str


class Placement(TypedDict):
    headline: str
    seconds: float
    seconds_alone: float
    bytes_moved: float
    rows: list[PlacementRow]


@question("graph", "program")
def graph(model: LiveModel) -> GraphForm:
    """Return the graph of a training step, as the page draws it."""
    if model.parameter_server is not None:
        return asynchronous_view(model.parameter_server, model.session.policy, FILE)
    return graph_view(model.training_targets, model.session.policy, FILE)


@question("placement", "program")
def placement(model: LiveModel) -> Placement:
    """Return the device of each operation of a training step, and the reason."""
    told = model.session.placement_summary(model.training_targets).as_dict()
    return {
        "headline": told["headline"],
        "seconds": told["seconds"],
        "seconds_alone": told["seconds_alone"],
        "bytes_moved": told["bytes_moved"],
        "rows": told["rows"],
    }


@question("execution", "workspace")
def execution(workspace: Workspace, request: ExecutionQuestion) -> ExecutionForm:
    """Return when each operation of a training step ran, or of the largest run of a session; the
    step is undone."""
    if workspace.drawn is None and workspace.graphs.programs:
        return measured_run(*_largest(workspace), request["apart"])
    return measured_step(workspace.trained_here(), request["apart"])


@question("operations", "workspace")
def operations(workspace: Workspace) -> StepOperations:
    """Return a training step operation by operation, or the largest run of a session; it is run on
    copies of the variables."""
    if workspace.drawn is None and workspace.graphs.programs:
        return run_operations_view(*_largest(workspace))
    return operations_view(workspace.trained_here())


def _largest(workspace: Workspace) -> tuple[Session, SessionRun, str]:
    """Return the largest run of the program's sessions, and the scope of its graph."""
    session, run = workspace.runs.largest()
    graphs = [program.graph for program in workspace.graphs.programs]
    scope = graph_scopes(len(graphs))[graphs.index(run.program.graph)]
    return session, run, scope
