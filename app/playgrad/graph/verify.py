"""Checks that a graph is well formed. Run after every pass of the compiler."""

from __future__ import annotations

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import topological


def verify(graph: Graph, after: str = "") -> None:
    """Check names, edges, specs and state of every node.

    Args:
        after: the pass that made the graph, for the message.

    Raises:
        GraphError: naming the first node that is not as it must be.
    """
    names = {node.name for node in graph.nodes}
    if len(names) != len(graph.nodes):
        raise _broken("two nodes share a name", None, after)
    known = set(graph.nodes)
    variables = {node.name for node in graph.nodes if node.op.name == "variable"}
    for node in graph.nodes:
        if any(before not in known for before in node.predecessors):
            raise _broken("an edge comes from a node that is not in the graph", node, after)
        for tensor in node.inputs:
            if tensor.index >= len(tensor.node.outputs):
                raise _broken(f"input {tensor.name} does not exist", node, after)
        inferred = tuple(node.op.infer([tensor.spec for tensor in node.inputs], node.attrs))
        if inferred != tuple(tensor.spec for tensor in node.outputs):
            raise _broken("its outputs are not what its op's rule gives", node, after)
        if node.op.writes:
            _verify_writes(node, variables, after)
    topological(graph.nodes)


def _verify_writes(node: Node, variables: set[str], after: str) -> None:
    written = node.attrs.get("variables", ())
    if len(written) != len(node.outputs):
        raise _broken("it does not name one variable for each output", node, after)
    for name in written:
        if name not in variables:
            raise _broken(f"it writes {name!r}, which is no variable of the graph", node, after)


def _broken(what: str, node: Node | None, after: str) -> GraphError:
    where = f" after {after}" if after else ""
    return GraphError(
        f"the graph is not well formed{where}: {what}.",
        op=node.name if node else None,
        source=node.source if node else None,
    )
