"""The updates of gradient descent, plain and with momentum, and of Adam and AMSGrad."""

from __future__ import annotations

from typing import Any

from playgrad.graph.opdef import Attrs
from playgrad.graph.tensor import Tensor
from playgrad.ops.expression import expr as e
from playgrad.ops.training.update_op import add_update, update_op, update_samples


def apply_sgd(
    variable: Tensor, grad: Tensor, learning_rate: Any, gate: Tensor | None = None,
    decay: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Update a variable by gradient descent: ``variable -= learning_rate * grad``.

    Args:
        variable: a floating variable.
        grad: its gradient, of a shape that broadcasts to that of the variable.
        learning_rate: a scalar.
        gate: a bool scalar; the variable keeps its value while it is false.
        decay: a scalar, the fraction that is taken off the variable first: decoupled weight decay.

    Returns:
        The new value.

    Raises:
        ShapeError: an argument does not broadcast to the shape of the variable.
        DTypeError: the dtype of an argument differs from that of the variable.
    """
    return add_update(_SGD, [variable], [grad, learning_rate], {}, gate, decay, name)[0]


def apply_momentum(
    variable: Tensor, velocity: Tensor, grad: Tensor, learning_rate: Any, momentum: float,
    nesterov: bool = False, gate: Tensor | None = None, decay: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Update a variable by gradient descent with momentum.

    ``velocity = momentum * velocity + grad; variable -= learning_rate * velocity``. With
    ``nesterov`` it is ``variable -= learning_rate * (grad + momentum * velocity)`` (Sutskever et
    al. 2013).

    Args:
        variable: a floating variable.
        velocity: a variable of the same shape and dtype, which starts at 0.
        grad, learning_rate, gate, decay: as in ``apply_sgd``.
        momentum: the factor by which the velocity decays in each step.
        nesterov: use Nesterov's momentum.

    Returns:
        The new values of ``variable`` and ``velocity``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"momentum": float(momentum), "nesterov": bool(nesterov)}
    states, values = [variable, velocity], [grad, learning_rate]
    new = add_update(_MOMENTUM, states, values, attrs, gate, decay, name)
    return new[0], new[1]


def apply_adam(
    variable: Tensor, m: Tensor, v: Tensor, grad: Tensor, learning_rate: Any, epsilon: Any,
    beta_1: float = 0.9, beta_2: float = 0.999,
    gate: Tensor | None = None, decay: Any = None, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of Adam (Kingma and Ba 2015).

    First the running means are updated, ``m`` with ``grad`` and ``v`` with ``grad * grad``; then
    ``variable -= learning_rate * m / (sqrt(v) + epsilon)``. This is the efficient form at the end
    of section 2 of the paper, in which the caller corrects the bias.

    Args:
        variable: a floating variable.
        m, v: variables of the same shape and dtype, which start at 0.
        grad, gate, decay: as in ``apply_sgd``.
        learning_rate: ``rate * sqrt(1 - beta_2**t) / (1 - beta_1**t)`` in step t, counted from 1.
        epsilon: ``sqrt(1 - beta_2**t)`` times the epsilon of Algorithm 1.
        beta_1, beta_2: the decay of ``m`` and of ``v``.

    Returns:
        The new values of ``variable``, ``m`` and ``v``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"beta_1": float(beta_1), "beta_2": float(beta_2)}
    values = [grad, learning_rate, epsilon]
    new = add_update(_ADAM, [variable, m, v], values, attrs, gate, decay, name)
    return new[0], new[1], new[2]


def apply_amsgrad(
    variable: Tensor, m: Tensor, v: Tensor, largest: Tensor, grad: Tensor, learning_rate: Any,
    epsilon: Any, beta_1: float = 0.9, beta_2: float = 0.999,
    gate: Tensor | None = None, decay: Any = None, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of AMSGrad (Reddi, Kale and Kumar 2018).

    As ``apply_adam``, but divided by the root of the largest ``v`` so far.

    Args:
        variable, m, v, grad, learning_rate, epsilon, beta_1, beta_2, gate, decay: as in
            ``apply_adam``.
        largest: a variable of the same shape and dtype, which starts at 0.

    Returns:
        The new values of ``variable``, ``m``, ``v`` and ``largest``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"beta_1": float(beta_1), "beta_2": float(beta_2)}
    values = [grad, learning_rate, epsilon]
    new = add_update(_AMSGRAD, [variable, m, v, largest], values, attrs, gate, decay, name)
    return new[0], new[1], new[2], new[3]


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


def _amsgrad(
    attrs: Attrs, x: e.Expr, m: e.Expr, v: e.Expr, largest: e.Expr, *values: e.Expr
) -> tuple[e.Expr, ...]:
    grad, rate, epsilon = values
    beta_1, beta_2 = attrs["beta_1"], attrs["beta_2"]
    mean = beta_1 * m + (1.0 - beta_1) * grad
    square = beta_2 * v + (1.0 - beta_2) * (grad * grad)
    most = e.call("maximum", largest, square)
    return x - rate * mean / (e.sqrt(most) + epsilon), mean, square, most


_SGD = update_op("apply_sgd", 1, 1, _sgd, update_samples(1))
_MOMENTUM = update_op(
    "apply_momentum",
    2,
    1,
    _momentum,
    (
        *update_samples(2, momentum=0.9, nesterov=False),
        *update_samples(2, momentum=0.9, nesterov=True),
    ),
)
_ADAM = update_op("apply_adam", 3, 2, _adam, update_samples(3, 2, beta_1=0.9, beta_2=0.999))
_AMSGRAD = update_op(
    "apply_amsgrad", 4, 2, _amsgrad, update_samples(4, 2, beta_1=0.9, beta_2=0.999)
)
