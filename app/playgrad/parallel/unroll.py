"""Several steps unrolled into one run, so that a device can begin a step before the last has ended.

A step reads the values that the last one wrote as tensors. Selecting its batch waits for the loss
of the last step (a step whose loss is not finite does not count), but overlaps with its backward
pass. The first layer's forward pass begins as soon as that layer's weights are updated. The results
are the same as of consecutive steps.
"""

from __future__ import annotations

import numpy as np

from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors, topological
from playgrad.ops.core.build import add_node, constant
from playgrad.ops.state import (
    RANDOM_ADVANCE,
    RANDOM_STEP,
    group,
    is_variable,
)


def unroll(run: Node, steps: int, name: str = "unrolled") -> Node:
    """Return a node that does the work of ``steps`` runs of ``run``.

    Args:
        run: a training step.
        name: name scope of the new nodes.
    """
    graph = run.graph
    order = topological(ancestors([run]))
    current = {node.outputs[0]: node.outputs[0] for node in order if _is_shared(node)}
    random = graph.node(RANDOM_STEP).outputs[0] if RANDOM_STEP in graph else None
    ends: list[Node] = []
    with at_top(graph), graph.name_scope(name) as scope:
        for number in range(steps):
            tensors = dict(current)
            if random is not None and random in tensors:
                # Each run advances this counter by 1, however many steps it has.
                tensors[random] = random + number if number else random
            with graph.reenter_scope(f"{scope}step_{number}/"):
                ends.append(_copy_step(order, tensors, current))
        if random is not None and random in current and steps > 1:
            advanced = graph.node(RANDOM_ADVANCE).outputs[0]
            ends.append(
                add_node(
                    "assign_add",
                    [advanced, constant(np.uint32(steps - 1))],
                    {"variables": [RANDOM_STEP]},
                ).output.node
            )
        with graph.phase("update"):
            return group(*ends, name="steps")


def _is_shared(node: Node) -> bool:
    """Return whether all steps share ``node``: a variable or a placeholder."""
    return is_variable(node) or node.op.name == "placeholder"


def _copy_step(
    order: list[Node], tensors: dict[Tensor, Tensor], current: dict[Tensor, Tensor]
) -> Node:
    """Copy a step and return the copy of its last node.

    Args:
        order: the nodes of the step.
        tensors: the values of the variables that the step reads.
        current: receives the values that it leaves.
    """
    graph = order[0].graph
    copies = CopyMap(graph)
    copies.tensors = tensors
    copy = order[-1]
    for node in order:
        if _is_shared(node):
            copies.nodes[node] = node
            continue
        copy = copies.copy(node)
        if node.op.writes:
            for variable, output in zip(node.attrs["variables"], copy.outputs, strict=True):
                current[graph.node(variable).outputs[0]] = output
    return copy
