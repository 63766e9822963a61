"""Constant folding, and operations that undo each other."""

from __future__ import annotations

import numpy as np

from playgrad.compiler.program import Program, Rewriter
from playgrad.graph.autodiff import BEGINS_GRADIENT
from playgrad.graph.graph import MIXED
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.wasm.page_kernels import numpy_alone

MAX_ELEMENTS = 1 << 16
"""Largest constant that is folded: it has to be stored and uploaded."""


def fold(program: Program) -> Program:
    """Replace operations on constants by their value, ``identity`` by its input, and a transpose of
    a transpose by one or none.

    Operations with control inputs, state or more than one output are kept, and results of more than
    ``MAX_ELEMENTS`` elements.
    """
    rewriter = Rewriter(program)
    fetched = set(program.fetches)
    targets = set(program.targets)
    for node in program.order():
        inputs = [rewriter[tensor] for tensor in node.inputs]
        begins = BEGINS_GRADIENT in node.attrs and program.precision == MIXED  # dropped by `mixed`
        if _is_plain_identity(node) and node not in targets and not begins:
            source = inputs[0]
            rewriter.replace(node, [source], source.node)
        elif node not in targets and (twice := _transposed_twice(node, inputs)) is not None:
            source, perm = twice
            if perm == sorted(perm) and node.outputs[0] not in fetched:
                rewriter.replace(node, [source], source.node)
            else:
                rewriter.copy(node, inputs=[source], attrs={"perm": perm})
        elif node not in targets and _foldable(node, inputs, fetched):
            values = [tensor.node.attrs["value"] for tensor in inputs]
            # NumPy alone, also for the reference, as nodes have no devices yet. Infinity and NaN
            # come without a warning, as where nodes run.
            with numpy_alone(), np.errstate(all="ignore"):
                (value,) = node.op.reference(values, node.attrs)
            rewriter.copy(node, op=lookup("constant"), inputs=[], attrs={"value": value})
        else:
            rewriter.copy(node)
    return rewriter.finish()


def _is_plain_identity(node: Node) -> bool:
    return (
        node.op.name in ("identity", "stop_gradient")
        and not node.control_inputs
        and (node.device is None or node.device == node.inputs[0].node.device)
    )


def _transposed_twice(node: Node, inputs: list[Tensor]) -> tuple[Tensor, list[int]] | None:
    """Return what ``node`` transposes a second time, and the axes of that in the result's order;
    None if it does not."""
    if node.op.name != "transpose" or node.control_inputs:
        return None
    inner = inputs[0].node
    if inner.op.name != "transpose" or inner.control_inputs or inner.device != node.device:
        return None
    return inner.inputs[0], [inner.attrs["perm"][axis] for axis in node.attrs["perm"]]


def _foldable(node: Node, inputs: list[Tensor], fetched: set[Tensor]) -> bool:
    return (
        node.op.name != "constant"
        and len(node.outputs) == 1
        and not (node.op.state or node.op.writes or node.control_inputs)
        and node.outputs[0].spec.size <= MAX_ELEMENTS
        and all(tensor.node.op.name == "constant" for tensor in inputs)
    )
