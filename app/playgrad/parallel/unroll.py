"""Several steps as one run, so that a device can begin one before the last has ended.

What a step writes, the next one reads as a tensor. The input of the next batch waits for the loss
of the last (a step whose loss is not finite does not count), but may be made while the backward
pass goes on; the first layer's forward pass may begin as soon as its own weights are updated. The
numbers are those of steps one after another.
"""

from __future__ import annotations

import numpy as np

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
    """A node that does the work of running ``run`` so many times.

    Args:
        run: a training step.
        name: name scope of the new nodes.
    """
    graph = run.graph
    order = topological(ancestors([run]))
    current = {node.outputs[0]: node.outputs[0] for node in order if _is_given(node)}
    random = graph.node(RANDOM_STEP).outputs[0] if RANDOM_STEP in graph else None
    ends: list[Node] = []
    with (
        graph.as_default(),
        graph.reenter_scope(""),
        graph.control_dependencies(None),
        graph.name_scope(name) as scope,
    ):
        for number in range(steps):
            tensors = dict(current)
            if random is not None and random in tensors:
                # Each run adds 1 to this counter, whatever the steps in it.
                tensors[random] = random + number if number else random
            ends.append(_copy(order, tensors, current, f"{scope}step_{number}/"))
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


def _is_given(node: Node) -> bool:
    """Whether all steps have ``node`` in common: variables, and what is fed once for all."""
    return is_variable(node) or node.op.name == "placeholder"


def _copy(
    order: list[Node], tensors: dict[Tensor, Tensor], current: dict[Tensor, Tensor], scope: str
) -> Node:
    """Copy a step that reads the variables as ``tensors`` has them, and note in ``current`` what it
    leaves them as; the copy of its last node."""
    nodes: dict[Node, Node] = {}
    graph = order[0].graph
    for node in order:
        if _is_given(node):
            nodes[node] = node
            continue
        with graph.reenter_scope(scope):
            copy = graph.add(
                node.op,
                [tensors[tensor] for tensor in node.inputs],
                node.attrs,
                name=node.name,
                control_inputs=[nodes[before] for before in node.control_inputs],
                phase=node.phase,
                device=node.device,
                task=node.task,
                source=node.source,
            )
        nodes[node] = copy
        tensors.update(zip(node.outputs, copy.outputs, strict=True))
        if node.op.writes:
            for variable, output in zip(node.attrs["variables"], copy.outputs, strict=False):
                current[graph.node(variable).outputs[0]] = output
    return nodes[order[-1]]
