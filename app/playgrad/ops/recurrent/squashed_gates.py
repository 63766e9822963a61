"""Cells of a compiled step whose gradient finds the gates squashed: sigmoids and tanh are the time
of an LSTM's cell, and its gradient needs those of the cell again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from playgrad.graph.tensor import Node, Tensor

CELL, GRADIENT = "lstm_cell", "lstm_cell_gradient"


def cells_that_squash(
    nodes: Sequence[Node], root: Callable[[Tensor], Tensor], lasting: Collection[Tensor]
) -> dict[Node, Tensor]:
    """Return the cells that overwrite their gates by the squashed ones, and their gradients, which
    read those, where nothing else needs the gates. With each is the cell's first result, which the
    gradient reads as well.

    Args:
        nodes: the work of a step, in order.
        root: returns the tensor that has the bytes of a tensor.
        lasting: the tensors, by their roots, that are needed after the step.
    """
    users: dict[Tensor, list[Node]] = defaultdict(list)
    computed = {tensor for node in nodes for tensor in node.outputs}
    for node in nodes:
        for tensor in node.inputs:
            users[root(tensor)].append(node)
    chosen: dict[Node, Tensor] = {}
    for gates, both in users.items():
        if gates in lasting or gates not in computed or len(both) != 2:
            continue
        cell, gradient = both  # in order
        if (
            (cell.op.name, gradient.op.name) == (CELL, GRADIENT)
            and root(cell.inputs[0]) is gates  # not the memory, which both use as well
            and all(
                root(a) is root(b) for a, b in zip(cell.inputs, gradient.inputs[:2], strict=True)
            )
        ):
            chosen |= dict.fromkeys(both, root(cell.outputs[0]))
    return chosen
