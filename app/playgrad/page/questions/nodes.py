"""Questions about one node of the graph that is drawn, and about all nodes."""

from __future__ import annotations

from typing import TypedDict

from playgrad.page.bench_view import BenchQuestion, KernelBenchForm
from playgrad.page.node_view import (
    ComputedNodesForm,
    NodeKernelView,
    NodeMatches,
    NodeQuestion,
    NodeTimeView,
    NodeView,
)
from playgrad.page.question import question
from playgrad.page.workspace import Workspace


class NamedNode(TypedDict):
    name: str


class NodeQuery(TypedDict):
    """See `app/playgrad/inspection/query.py`."""

    query: str


@question("node_view", "workspace")
def node_view(workspace: Workspace, request: NodeQuestion) -> NodeView:
    """Return the value of a node, or the gradient of the loss with respect to it."""
    return workspace.nodes.view(workspace.drawn, workspace.graphs.programs, request)


@question("node_find", "workspace")
def node_find(workspace: Workspace, request: NodeQuery) -> NodeMatches:
    """Return the nodes for which a query holds."""
    return workspace.nodes.find(workspace.drawn, workspace.graphs.programs, request["query"])


@question("node_kernel", "workspace")
def node_kernel(workspace: Workspace, request: NamedNode) -> NodeKernelView:
    """Return the kernel that computes a node."""
    return workspace.nodes.kernel(workspace.drawn, workspace.graphs.programs, request["name"])


@question("computed_nodes", "workspace")
def computed_nodes(workspace: Workspace) -> ComputedNodesForm:
    """Return how the processor computes the nodes of the graph."""
    return workspace.nodes.computed(workspace.drawn, workspace.graphs.programs)


@question("node_time", "workspace")
def node_time(workspace: Workspace, request: NamedNode) -> NodeTimeView:
    """Measure a node by itself."""
    return workspace.nodes.time(workspace.drawn, workspace.graphs.programs, request["name"])


@question("kernel_bench", "workspace")
def kernel_bench(workspace: Workspace, request: BenchQuestion) -> KernelBenchForm:
    """Open the bench of a node's kernels, or try another text on it."""
    return workspace.bench.answer(workspace.drawn, workspace.graphs.programs, request)
