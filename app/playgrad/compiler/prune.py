"""Removes nodes that no fetch or target needs, and cuts the graph at the feeds."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

from playgrad.compiler.program import Program, Rewriter
from playgrad.errors import FeedError
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP


def prune(program: Program) -> Program:
    """Keep the nodes that a fetch or target needs; fed tensors become placeholders.

    A run that draws random numbers also advances their counter.

    Raises:
        FeedError: a needed placeholder is not fed, or a variable is both fed and written.
    """
    fed = set(program.feeds.values())
    nodes, cut = _needed(program, fed)
    _refuse_writes(nodes, fed)
    advance = _random_advance(program, nodes)
    program = replace(
        program,
        targets=[node for node in program.targets if node in nodes] + advance,
        feeds={name: tensor for name, tensor in program.feeds.items() if tensor in cut},
    )
    nodes |= _needed(program, fed)[0]
    rewriter = Rewriter(program)
    placeholders = {tensor: _placeholder(rewriter, tensor) for tensor in program.feeds.values()}
    rewriter.tensors.update(placeholders)
    for node in sorted(nodes, key=attrgetter("id")):  # a topological order
        if node.op.name == "placeholder":
            raise FeedError(
                f"the placeholder '{node.name}' is needed, but no value was fed for it.",
                op=node.name,
                source=node.source,
                hint=f"Pass feed_dict={{{node.name}: value}} with {node.outputs[0].spec}.",
            )
        rewriter.copy(node)
        rewriter.tensors.update({t: placeholders[t] for t in node.outputs if t in placeholders})
    return rewriter.finish()


def _refuse_writes(nodes: set[Node], fed: set[Tensor]) -> None:
    """Raise FeedError if one of ``nodes`` writes a variable that is fed."""
    variables = {tensor.node.name for tensor in fed}
    for node in nodes:
        for name in node.attrs["variables"] if node.op.writes else ():
            if name in variables:
                raise FeedError(
                    f"the variable '{name}' cannot be fed in a run that also writes it.",
                    op=node.name,
                    source=node.source,
                    hint="Use two runs.",
                )


def _placeholder(rewriter: Rewriter, tensor: Tensor) -> Tensor:
    """Add the placeholder for a fed tensor."""
    node = tensor.node
    return rewriter.graph.copy(
        node,
        [],
        op=lookup("placeholder"),
        attrs={"shape": list(tensor.shape), "dtype": tensor.dtype},
        name=node.name if len(node.outputs) == 1 else f"{node.name}_fed",
    ).output


def _random_advance(program: Program, nodes: set[Node]) -> list[Node]:
    """Return the node that advances the counter of random draws, if ``nodes`` read it."""
    if RANDOM_STEP in program.graph and program.graph.node(RANDOM_STEP) in nodes:
        return [program.graph.node(RANDOM_ADVANCE)]
    return []


def _needed(program: Program, fed: set[Tensor]) -> tuple[set[Node], set[Tensor]]:
    """Return the nodes that have to run, and the ``fed`` tensors that they read."""
    nodes: set[Node] = set()
    cut: set[Tensor] = set()
    pending: list[Node | Tensor] = [*program.fetches, *program.targets]
    while pending:
        item = pending.pop()
        if isinstance(item, Tensor):
            if item in fed:
                cut.add(item)
                continue
            item = item.node
        if item in nodes or (item.outputs and fed.issuperset(item.outputs)):
            continue  # all its outputs are fed
        nodes.add(item)
        pending += [*item.inputs, *item.control_inputs]
    return nodes, cut
