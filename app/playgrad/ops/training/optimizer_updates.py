"""The updates of optimizers: variables changed in place, each in one kernel.

Each operation takes an optional ``gate``, a bool scalar. While it is false the variables keep their
values, so that a step whose loss is not finite changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e
from playgrad.ops.state import checked_update, register_value_of

Formula = Callable[..., tuple[e.Expr, ...]]


def apply_sgd(
    variable: Tensor, grad: Tensor, learning_rate: Any, gate: Tensor | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Update a variable by gradient descent: ``variable -= learning_rate * grad``.

    Args:
        variable: a floating variable.
        grad: its gradient, of a shape that broadcasts to that of the variable.
        learning_rate: a scalar.
        gate: a bool scalar; the variable keeps its value while it is false.

    Returns:
        The new value.

    Raises:
        ShapeError: an argument does not broadcast to the shape of the variable.
        DTypeError: the dtype of an argument differs from that of the variable.
    """
    return _apply(_SGD, [variable], [grad, learning_rate], {}, gate, name)[0]


def apply_momentum(
    variable: Tensor, velocity: Tensor, grad: Tensor, learning_rate: Any, momentum: float,
    nesterov: bool = False, gate: Tensor | None = None, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Update a variable by gradient descent with momentum.

    ``velocity = momentum * velocity + grad; variable -= learning_rate * velocity``. With
    ``nesterov`` it is ``variable -= learning_rate * (grad + momentum * velocity)`` (Sutskever et
    al. 2013).

    Args:
        variable: a floating variable.
        velocity: a variable of the same shape and dtype, which starts at 0.
        grad, learning_rate, gate: as in ``apply_sgd``.
        momentum: the factor by which the velocity decays in each step.
        nesterov: use Nesterov's momentum.

    Returns:
        The new values of ``variable`` and ``velocity``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"momentum": float(momentum), "nesterov": bool(nesterov)}
    new = _apply(_MOMENTUM, [variable, velocity], [grad, learning_rate], attrs, gate, name)
    return new[0], new[1]


def apply_adam(
    variable: Tensor, m: Tensor, v: Tensor, grad: Tensor, learning_rate: Any, epsilon: Any,
    beta_1: float = 0.9, beta_2: float = 0.999,
    gate: Tensor | None = None, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of Adam (Kingma and Ba 2015).

    First the running means are updated, ``m`` with ``grad`` and ``v`` with ``grad * grad``; then
    ``variable -= learning_rate * m / (sqrt(v) + epsilon)``. This is the efficient form at the end
    of section 2 of the paper, in which the caller corrects the bias.

    Args:
        variable: a floating variable.
        m, v: variables of the same shape and dtype, which start at 0.
        grad, gate: as in ``apply_sgd``.
        learning_rate: ``rate * sqrt(1 - beta_2**t) / (1 - beta_1**t)`` in step t, counted from 1.
        epsilon: ``sqrt(1 - beta_2**t)`` times the epsilon of Algorithm 1.
        beta_1, beta_2: the decay of ``m`` and of ``v``.

    Returns:
        The new values of ``variable``, ``m`` and ``v``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"beta_1": float(beta_1), "beta_2": float(beta_2)}
    new = _apply(_ADAM, [variable, m, v], [grad, learning_rate, epsilon], attrs, gate, name)
    return new[0], new[1], new[2]


def _apply(
    op: OpDef,
    variables: Sequence[Tensor],
    values: Sequence[Any],
    attrs: Attrs,
    gate: Tensor | None,
    name: str | None,
) -> tuple[Tensor, ...]:
    first = variables[0]
    inputs = [*variables, *(as_tensor(value, first.graph, first.dtype) for value in values)]
    if gate is not None:
        inputs.append(gate)
    attrs = {
        **attrs,
        "variables": [variable.node.name for variable in variables],
        "gated": gate is not None,
    }
    node = first.graph.add(op, inputs, attrs, name=name, phase="update", device=first.node.device)
    return node.outputs


def _update(
    name: str, states: int, factors: int, formula: Formula, samples: Sequence[Sample]
) -> OpDef:
    """Register an update of ``states`` variables by a gradient and ``factors`` scalars.

    Args:
        formula: a function from attributes, states, gradient and factors to the new states.
    """
    values = states + 1 + factors

    def build(attrs: Attrs) -> tuple[e.Expr, ...]:
        leaves = [e.Leaf(i) for i in range(values)]
        new = formula(attrs, *leaves)
        if not attrs["gated"]:
            return new
        gate = e.Leaf(values)
        return tuple(e.where(gate, value, old) for value, old in zip(new, leaves, strict=False))

    op = checked_update(elementwise_op(name, build, None, writes=True))
    plain = samples[0]
    old, scalars = plain.inputs[:states], plain.inputs[states + 1 :]
    invalid = (
        InvalidSample(
            (*old, floats(3, 5), *scalars),
            plain.attrs,
            ShapeError,
            "do not broadcast",
        ),
        InvalidSample(
            (*old, floats(2, 3, 4), *scalars),
            plain.attrs,
            ShapeError,
            "does not fit the variable of shape (3, 4)",
        ),
        InvalidSample(
            (*old, np.ones((3, 4), np.int32), *scalars),
            plain.attrs,
            DTypeError,
            "element types differ",
        ),
    )
    op = register(replace(op, samples=tuple(samples), invalid=invalid))
    register_value_of(op)
    return op


def _samples(states: int, factors: int = 1, **attrs: Any) -> tuple[Sample, ...]:
    """Return a sample without a gate, one with an open gate, and one with a closed gate."""
    old = tuple(floats(3, 4, seed=i, low=0.1) for i in range(states))
    scalars = [np.asarray(value, np.float32) for value in (0.05, 1e-7)[:factors]]
    values = (*old, floats(3, 4, seed=9), *scalars)
    attrs["variables"] = [f"state_{i}" for i in range(states)]
    return (
        Sample(values, {**attrs, "gated": False}, differentiable=()),
        Sample((*values, np.asarray(True)), {**attrs, "gated": True}, differentiable=()),
        Sample((*values, np.asarray(False)), {**attrs, "gated": True}, differentiable=()),
    )


def _sgd(attrs: Attrs, x: e.Expr, grad: e.Expr, rate: e.Expr) -> tuple[e.Expr, ...]:
    return (x - rate * grad,)


def _momentum(
    attrs: Attrs, x: e.Expr, velocity: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    momentum = attrs["momentum"]
    new = momentum * velocity + grad
    return x - rate * (grad + momentum * new if attrs["nesterov"] else new), new


def _adam(
    attrs: Attrs, x: e.Expr, m: e.Expr, v: e.Expr, grad: e.Expr, rate: e.Expr, epsilon: e.Expr
) -> tuple[e.Expr, ...]:
    beta_1, beta_2 = attrs["beta_1"], attrs["beta_2"]
    mean = beta_1 * m + (1.0 - beta_1) * grad
    square = beta_2 * v + (1.0 - beta_2) * (grad * grad)
    return x - rate * mean / (e.sqrt(square) + epsilon), mean, square


_SGD = _update("apply_sgd", 1, 1, _sgd, _samples(1))
_MOMENTUM = _update(
    "apply_momentum",
    2,
    1,
    _momentum,
    (
        *_samples(2, momentum=0.9, nesterov=False),
        *_samples(2, momentum=0.9, nesterov=True),
    ),
)
_ADAM = _update("apply_adam", 3, 2, _adam, _samples(3, 2, beta_1=0.9, beta_2=0.999))
