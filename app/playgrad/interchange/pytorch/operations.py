"""Operations that a program adds between its layers."""

from __future__ import annotations

import numpy as np

from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor
from playgrad.interchange.pytorch.writer import Layout, ProgramWriter
from playgrad.networks.inference import refusal

EXPRESSIONS = {
    "abs": "{0}.abs()",
    "add": "{0} + {1}",
    "cos": "torch.cos({0})",
    "div": "{0} / {1}",
    "exp": "torch.exp({0})",
    "gelu": "F.gelu({0})",
    "gelu_tanh": 'F.gelu({0}, approximate="tanh")',
    "identity": "{0}",
    "log": "torch.log({0})",
    "maximum": "torch.maximum({0}, {1})",
    "minimum": "torch.minimum({0}, {1})",
    "mul": "{0} * {1}",
    "neg": "-{0}",
    "relu": "F.relu({0})",
    "sigmoid": "torch.sigmoid({0})",
    "silu": "F.silu({0})",
    "sin": "torch.sin({0})",
    "softplus": "F.softplus({0})",
    "sqrt": "torch.sqrt({0})",
    "square": "{0}.square()",
    "stop_gradient": "{0}.detach()",
    "sub": "{0} - {1}",
    "tanh": "torch.tanh({0})",
}
"""Elementwise operations on floats, whatever the order of the axes."""


def add_operation(writer: ProgramWriter, node: Node) -> None:
    """Append the line of an operation.

    Raises:
        ExportError: it has no equivalent.
    """
    kind = node.op.name
    if kind not in EXPRESSIONS or not dtype(node.output.dtype).floating:
        raise refusal(node, "the PyTorch program has no equivalent.")
    ranks = {tensor.spec.rank for tensor in node.inputs if writer.knows(tensor)}
    first = next(tensor for tensor in node.inputs if writer.knows(tensor))
    layout: Layout = writer.layout(first) if len(ranks) == 1 else "last"
    operands = [_operand(writer, node, tensor, layout) for tensor in node.inputs]
    target = writer.target(node.inputs)
    writer.assign(target, EXPRESSIONS[kind].format(*operands))
    writer.bind(node.output, target, layout)


def _operand(writer: ProgramWriter, node: Node, tensor: Tensor, layout: Layout) -> str:
    if not dtype(tensor.dtype).floating:
        raise refusal(node, f"the PyTorch program has no equivalent for {tensor.dtype}.")
    if writer.knows(tensor):
        return writer.read(tensor, layout)
    value = np.asarray(tensor.node.attrs.get("value", np.nan))
    if tensor.node.op.name != "constant" or value.size != 1 or not np.isfinite(value).all():
        raise refusal(node, "the PyTorch program has no equivalent for arrays of the program.")
    if node.op.name in ("maximum", "minimum"):
        return f"torch.tensor({float(value.item())!r})"
    number = float(value.item())
    return repr(number) if number >= 0 else f"({number!r})"
