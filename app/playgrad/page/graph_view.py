"""The graph in the form that the page draws: nodes with device, phase, shape and source line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypedDict, cast

from playgrad.compiler.place import Policy, place
from playgrad.compiler.program import Program
from playgrad.compiler.prune import prune
from playgrad.graph.tensor import Node, Tensor
from playgrad.parallel.parameter_server import ParameterServer

MAX_TEXT = 80
Phase = Literal["forward", "gradient", "update", "input", "variable"]
GraphEdge = TypedDict("GraphEdge", {"from": str, "to": str, "output": int, "control": bool})


class GraphNode(TypedDict):
    name: str
    op: str
    scope: str
    phase: Annotated[Phase, "NodePhase"]
    device: str | None
    shape: list[int | None] | None
    dtype: str | None
    line: int | None
    attrs: dict[str, str]


class GraphForm(TypedDict):
    name: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]


def graph_view(targets: Sequence[Node], policy: Policy, file: str) -> GraphForm:
    """Return the nodes and edges that ``targets`` depend on.

    Args:
        policy: places nodes on devices.
        file: name of the user's program; nodes that it created have a source line.
    """
    order = _placed(Program(targets[0].graph, targets=list(targets)), policy)
    nodes, edges = _drawn(order, file)
    return {"name": "training step", "nodes": nodes, "edges": edges}


def programs_view(programs: Sequence[tuple[Program, Policy]], file: str) -> GraphForm:
    """Return the graphs of programs that sessions have run, each in a scope if there are several.

    Args:
        programs: one of each graph, with the policy that places its nodes.
    """
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    for scope, (program, policy) in zip(graph_scopes(len(programs)), programs, strict=True):
        placeholders = [n.outputs[0] for n in program.order() if n.op.name == "placeholder"]
        order = _placed(replace(program, feeds=_by_name(placeholders)), policy)
        drawn = _drawn(order, file, scope)
        nodes += drawn[0]
        edges += drawn[1]
    return {"name": "session", "nodes": nodes, "edges": edges}


def graph_scopes(count: int) -> list[str]:
    """Return the scopes of ``count`` graphs that are drawn together; "" for a single one."""
    return [f"graph_{number}/" for number in range(1, count + 1)] if count > 1 else [""]


def asynchronous_view(server: ParameterServer, policy: Policy, file: str) -> GraphForm:
    """Return the graph of the parameter server's update joined with each replica's gradient.

    Edges lead from the server's variables to the placeholders through which replicas receive them,
    and from the gradients of replicas to the server's placeholders.
    """
    step, sent, gradients = server.step, server.sent, server.gradients
    received = [mean.outputs[0] for mean in step.means]
    update = Program(step.graph, list(server.weights), [step.run], _by_name(received))
    update_nodes, edges = _drawn(_placed(update, policy), file)
    for node in update_nodes:
        if node["device"] == server.server.device:
            node["device"] = server.device
    # In the order of time: variables, gradients of the replicas, updates.
    nodes = [node for node in update_nodes if node["op"] == "variable"]
    after = [node for node in update_nodes if node["op"] != "variable"]
    replica = Program(step.graph, list(gradients), feeds=_by_name(sent))
    for number, device in enumerate(server.report.updates):
        scope = f"replica_{number}/"
        drawn = _drawn(_placed(replica, replace(policy, default=device)), file, scope)
        nodes += drawn[0]
        edges += drawn[1]
        edges += [_edge(t.node.name, scope + t.node.name, t.index) for t in sent]
        pairs = zip(gradients, received, strict=True)
        edges += [_edge(scope + a.node.name, b.node.name, a.index) for a, b in pairs]
    nodes += after
    names = {node["name"] for node in nodes}
    # A tensor may be unused at one end, such as the random counter of a replica.
    edges = [edge for edge in edges if edge["from"] in names and edge["to"] in names]
    return {"name": "asynchronous training step", "nodes": nodes, "edges": edges}


def _by_name(tensors: Sequence[Tensor]) -> dict[str, Tensor]:
    return {tensor.node.name: tensor for tensor in tensors}


def _placed(program: Program, policy: Policy) -> list[Node]:
    """Return the nodes of ``program`` in order, with their devices."""
    # Soft placement: operations without a kernel are folded before the program runs.
    return place(prune(program), replace(policy, soft=True)).order()


def _drawn(
    order: list[Node], file: str, scope: str = ""
) -> tuple[list[GraphNode], list[GraphEdge]]:
    """Return nodes and edges, with ``scope``, which ends with a slash, before their names."""
    nodes = [_node(node, file, scope + node.name) for node in order]
    return nodes, [edge for node in order for edge in _edges(node, scope)]


def _node(node: Node, file: str, name: str) -> GraphNode:
    spec = node.outputs[0].spec if node.outputs else None
    line = node.source[1] if node.source and node.source[0] == file else None
    return {
        "name": name,
        "op": node.op.name,
        "scope": name.rpartition("/")[0],
        "phase": cast(Phase, node.phase),
        "device": node.device,
        "shape": list(spec.shape) if spec else None,
        "dtype": spec.dtype if spec else None,
        "line": line,
        "attrs": {key: _text(value) for key, value in node.attrs.items()},
    }


def _edges(node: Node, scope: str) -> list[GraphEdge]:
    name = scope + node.name
    data = [_edge(scope + t.node.name, name, t.index) for t in node.inputs]
    return data + [_edge(scope + n.name, name, control=True) for n in node.control_inputs]


def _edge(start: str, end: str, output: int = 0, control: bool = False) -> GraphEdge:
    return {"from": start, "to": end, "output": output, "control": control}


def _text(value: Any) -> str:
    """Return an attribute as a short text."""
    if getattr(value, "size", 0) > 8:
        return f"{value.dtype} array of shape {value.shape}"
    text = " ".join(str(value).split())
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
