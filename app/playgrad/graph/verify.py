"""Checks that a graph is well formed, after every pass of the compiler."""

from __future__ import annotations

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, specs_of
from playgrad.graph.traversal import topological

Checked = dict[str, Node]
"""Nodes whose outputs agree with their op's rule, by name."""


def verify(graph: Graph, after: str = "", checked: Checked | None = None) -> None:
    """Check names, edges, specs and state of every node.

    Args:
        after: the pass that built the graph, for the message.
        checked: the nodes that earlier calls checked. Most nodes go through a pass unchanged, and
            need not be checked against their op's rule again. Updated by this call.

    Raises:
        GraphError: names the first invalid node.
    """
    names = {node.name for node in graph.nodes}
    if len(names) != len(graph.nodes):
        raise _broken("two nodes share a name", None, after)
    known = set(graph.nodes)
    variables = {node.name for node in graph.nodes if node.op.name == "variable"}
    checked = {} if checked is None else checked
    in_order = True
    for node in graph.nodes:
        before = node.predecessors
        if not known.issuperset(before):
            raise _broken("an edge comes from a node that is not in the graph", node, after)
        in_order = in_order and all(earlier.id < node.id for earlier in before)
        for tensor in node.inputs:
            if tensor.index >= len(tensor.node.outputs):
                raise _broken(f"input {tensor.name} does not exist", node, after)
        if not _infers(node, checked):
            raise _broken("its outputs do not agree with its op's rule", node, after)
        if node.op.writes:
            _verify_writes(node, variables, after)
    if not in_order:
        topological(graph.nodes)  # raises where there is a cycle


def _infers(node: Node, checked: Checked) -> bool:
    """Return whether the specs of the outputs agree with the op's rule."""
    inputs, outputs = specs_of(node.inputs), specs_of(node.outputs)
    known = checked.get(node.name)
    # Attributes by identity: arrays cannot be compared, and passes share unchanged attributes.
    if (
        known is not None
        and known.op is node.op
        and known.attrs is node.attrs
        and specs_of(known.inputs) == inputs
        and specs_of(known.outputs) == outputs
    ):
        return True
    checked[node.name] = node
    return list(node.op.infer(inputs, node.attrs)) == outputs


def _verify_writes(node: Node, variables: set[str], after: str) -> None:
    written = node.attrs.get("variables", ())
    if len(written) != len(node.outputs):
        raise _broken("it does not name one variable for each output", node, after)
    for name in written:
        if name not in variables:
            raise _broken(f"it writes {name!r}, which is not a variable of the graph", node, after)


def _broken(what: str, node: Node | None, after: str) -> GraphError:
    where = f" after {after}" if after else ""
    return GraphError(
        f"the graph is not well formed{where}: {what}.",
        op=node.name if node else None,
        source=node.source if node else None,
    )
