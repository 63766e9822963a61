"""Gradients of variables whose values keep a property, such as shared values."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable


def kept_gradients(
    gradients: Sequence[Tensor], pairs: Sequence[tuple[Tensor, Tensor]]
) -> list[Tensor]:
    """Return the gradients by which the variables of ``pairs`` (gradient, variable) are updated.

    They are ``gradients``, but for variables with a `Variable.keep` that changes them.
    """
    kept: list[Tensor] = []
    for grad, (_, variable) in zip(gradients, pairs, strict=True):
        if isinstance(variable, Variable) and variable.keep is not None:
            with variable.graph.device(variable.device):
                grad = variable.keep.gradient(variable, grad)
        kept.append(grad)
    return kept
