"""The graph as the page draws it: every node with its device, phase, shape and source line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from playgrad.compiler.place import Policy, place
from playgrad.compiler.program import Program
from playgrad.compiler.prune import prune
from playgrad.graph.tensor import Node

MAX_TEXT = 80


def graph_view(targets: Sequence[Node], policy: Policy, file: str) -> dict[str, Any]:
    """Nodes and edges that ``targets`` need.

    Args:
        policy: where the session places them.
        file: name of the user's program; lines are given for nodes made in it.
    """
    program = prune(Program(targets[0].graph, targets=list(targets)))
    # Softly: what no device has a kernel for is folded away before it is run.
    program = place(program, replace(policy, soft=True))
    order = program.order()
    return {
        "name": "training step",
        "nodes": [_node(node, file) for node in order],
        "edges": [edge for node in order for edge in _edges(node)],
    }


def _node(node: Node, file: str) -> dict[str, Any]:
    spec = node.outputs[0].spec if node.outputs else None
    line = node.source[1] if node.source and node.source[0] == file else None
    return {
        "name": node.name,
        "op": node.op.name,
        "scope": node.name.rpartition("/")[0],
        "phase": node.phase,
        "device": node.device,
        "shape": list(spec.shape) if spec else None,
        "dtype": spec.dtype if spec else None,
        "line": line,
        "attrs": {key: _text(value) for key, value in node.attrs.items()},
    }


def _edges(node: Node) -> list[dict[str, Any]]:
    data = [
        {"from": tensor.node.name, "to": node.name, "output": tensor.index, "control": False}
        for tensor in node.inputs
    ]
    return data + [
        {"from": before.name, "to": node.name, "output": 0, "control": True}
        for before in node.control_inputs
    ]


def _text(value: Any) -> str:
    """An attribute in a few words."""
    if getattr(value, "size", 0) > 8:
        return f"{value.dtype} array of shape {value.shape}"
    text = " ".join(str(value).split())
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
