"""``branch_input``, through which a branch of ``cond`` reads tensors from outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise.definitions import where


def branch_input(x: Tensor, taken: Tensor) -> Tensor:
    """Return ``x``, with a gradient of 0 where ``taken``, a bool scalar, is false.

    Both branches of a ``cond`` are computed. In the one that is not taken, 0 may be multiplied by
    infinity on the way back, and the resulting NaN must not reach the tensors that both share.
    """
    return add_node(_BRANCH_INPUT, [x, taken]).output


def expect_predicate(spec: TensorSpec, what: str, source: tuple[str, int] | None = None) -> None:
    """Raise DTypeError or ShapeError, created at ``source``, unless ``spec`` is a bool scalar."""
    if spec.dtype != "bool":
        raise DTypeError(
            f"{what} must be bool, not {spec.dtype}.",
            source=source,
            hint="Compare it with something.",
        )
    if spec.shape != ():
        raise ShapeError(
            f"{what} must be a scalar, not of shape {shape_text(spec.shape)}.",
            source=source,
            hint="Reduce it with pg.all() or pg.any(); pg.where() chooses element by element.",
        )


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_predicate(inputs[1], "the predicate of a branch")
    return [inputs[0]]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [where(node.inputs[1], grads[0], 0.0), None]


_BRANCH_INPUT = register(
    OpDef(
        name="branch_input",
        infer=_infer,
        reference=lambda inputs, attrs: [inputs[0]],
        gradient=_gradient,
        specialise=lambda inputs, attrs: ("identity", {}, (0,)),
        samples=(Sample((floats(3, 4), np.asarray(True)), differentiable=(0,)),),
        invalid=(
            InvalidSample((floats(2), np.asarray(1, np.int32)), {}, DTypeError, "must be bool"),
            InvalidSample((floats(2), np.zeros(2, bool)), {}, ShapeError, "must be a scalar"),
        ),
    )
)
