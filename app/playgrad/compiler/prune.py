"""Keeps what the fetches need, and cuts the graph where it is fed."""

from __future__ import annotations

from dataclasses import replace

from playgrad.compiler.program import Program, Rewriter
from playgrad.errors import FeedError
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import topological
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP


def prune(program: Program) -> Program:
    """Only nodes that a fetch or target needs; a fed tensor becomes a placeholder.

    A run that draws random numbers also advances their counter.

    Raises:
        FeedError: a placeholder that is needed is not fed.
    """
    fed = {tensor: name for name, tensor in program.feeds.items()}
    program = replace(program, targets=list(program.targets))
    needed = _needed(program, fed)
    if RANDOM_STEP in program.graph and program.graph.node(RANDOM_STEP) in needed:
        program.targets.append(program.graph.node(RANDOM_ADVANCE))
        needed = _needed(program, fed)
    rewriter = Rewriter(program)
    for tensor in fed:
        if tensor.node in needed:
            attrs = {"shape": list(tensor.shape), "dtype": tensor.dtype}
            name = tensor.node.name if len(tensor.node.outputs) == 1 else f"{tensor.node.name}_fed"
            fed_node = rewriter.add(
                lookup("placeholder"), [], attrs, like=tensor.node, name=name
            )
            rewriter.tensors[tensor] = fed_node.output
    for node in topological(needed, lambda node: _before(node, fed)):
        if node.outputs and all(tensor in fed for tensor in node.outputs):
            rewriter.nodes[node] = None
            continue
        if node.op.name == "placeholder":
            raise FeedError(
                f"the placeholder '{node.name}' is needed, but no value was fed for it.",
                op=node.name,
                source=node.source,
                hint=f"Pass feed_dict={{{node.name}: value}} with {node.outputs[0].spec}.",
            )
        fed_outputs = {t: rewriter.tensors[t] for t in node.outputs if t in fed}
        rewriter.copy(node)
        rewriter.tensors.update(fed_outputs)
    return rewriter.finish()


def _before(node: Node, fed: dict[Tensor, str]) -> list[Node]:
    if node.outputs and all(tensor in fed for tensor in node.outputs):
        return []
    return [t.node for t in node.inputs if t not in fed] + list(node.control_inputs)


def _needed(program: Program, fed: dict[Tensor, str]) -> set[Node]:
    seen: set[Node] = set()
    pending = program.roots
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending.extend(_before(node, fed))
            pending.extend(tensor.node for tensor in node.inputs if tensor in fed)
    return seen
