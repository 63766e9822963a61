"""Common subexpression elimination."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from playgrad.compiler.program import Program, Rewriter
from playgrad.graph.serialize import encode
from playgrad.graph.tensor import Node, Tensor


def share(program: Program) -> Program:
    """Merge nodes of equal operation, inputs, attributes, control inputs and device.

    Nodes with state and nodes that write variables are never merged. Random operations of equal
    seed and counter are merged, since they draw the same numbers.
    """
    rewriter = Rewriter(program)
    shared: dict[str, str] = {}
    seen: dict[Any, Node] = {}
    for node in program.order():
        inputs = tuple(rewriter[tensor] for tensor in node.inputs)
        if node.op.state or node.op.writes or not node.outputs:
            rewriter.copy(node)
            continue
        key = _key(node, inputs, rewriter.controls(node))
        if key in seen:
            rewriter.replace(node, seen[key].outputs, seen[key])
            shared[node.name] = seen[key].name
        else:
            seen[key] = rewriter.copy(node)
    return replace(rewriter.finish(), shared={**program.shared, **shared})


def _key(node: Node, inputs: tuple[Tensor, ...], controls: list[Node]) -> Any:
    if node.op.name == "constant":
        value = node.attrs["value"]
        attrs: Any = (value.dtype.name, value.shape, value.tobytes())
    else:
        plain = {key: encode(value) for key, value in node.attrs.items()}
        attrs = json.dumps(plain, sort_keys=True) if plain else ""
    return (node.op.name, inputs, attrs, tuple(sorted(c.id for c in controls)), node.device)
