"""Gradients of an operation through a composition of others that computes the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playgrad.dtypes import dtype
from playgrad.graph.autodiff import gradients
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.shape import identity


def composed_gradient(
    node: Node, grads: Sequence[Tensor | None], compose: Callable[..., Sequence[Tensor]]
) -> list[Tensor | None]:
    """Return the gradients of the inputs of ``node``, as the ``gradient`` of an `OpDef` does.

    For second derivatives of operations with kernels of their own: they are rarely needed, and
    slower than the kernels.

    Args:
        compose: maps the inputs to tensors equal to the outputs.
    """
    # One input may depend on another; their names here end the search.
    inputs = [identity(tensor) for tensor in node.inputs]
    outputs = compose(*inputs)
    floating = [tensor for tensor in inputs if dtype(tensor.dtype).floating]
    pairs = [(y, grad) for y, grad in zip(outputs, grads, strict=True) if grad is not None]
    by_input = dict(
        zip(
            floating,
            gradients([y for y, _ in pairs], floating, [grad for _, grad in pairs]),
            strict=True,
        )
    )
    return [by_input.get(tensor) for tensor in inputs]
