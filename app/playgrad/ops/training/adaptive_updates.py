"""The updates of optimizers that scale each element by its past gradients, and of Lion."""

from __future__ import annotations

from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.opdef import Attrs
from playgrad.graph.tensor import Tensor
from playgrad.ops.expression import expr as e
from playgrad.ops.training.update_op import add_update, update_op, update_samples


def apply_adagrad(
    variable: Tensor, accumulator: Tensor, grad: Tensor, learning_rate: Any, epsilon: float = 1e-7,
    gate: Tensor | None = None, decay: Any = None, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of Adagrad (Duchi, Hazan and Singer 2011).

    ``accumulator += grad * grad; variable -= learning_rate * grad / sqrt(accumulator + epsilon)``.

    Args:
        variable: a floating variable.
        accumulator: a variable of the same shape and dtype, not negative.
        epsilon: avoids division by zero.
        grad, learning_rate, gate, decay: as in ``apply_sgd``.

    Returns:
        The new values of ``variable`` and ``accumulator``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    states, values = [variable, accumulator], [grad, learning_rate]
    new = add_update(_ADAGRAD, states, values, {"epsilon": float(epsilon)}, gate, decay, name)
    return new[0], new[1]


def apply_rmsprop(
    variable: Tensor, velocity: Tensor, grad: Tensor, learning_rate: Any, rho: float = 0.9,
    momentum: float = 0.0, epsilon: float = 1e-7, average: Tensor | None = None,
    momentum_state: Tensor | None = None, gate: Tensor | None = None, decay: Any = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Update a variable by a step of RMSprop (Tieleman and Hinton 2012), as in Keras.

    ``velocity = rho * velocity + (1 - rho) * grad * grad`` and
    ``increment = learning_rate * grad / sqrt(velocity + epsilon)``; then ``variable -= increment``,
    or with momentum ``momentum_state = momentum * momentum_state + increment`` and
    ``variable -= momentum_state``.

    Args:
        variable: a floating variable.
        velocity: a variable of the same shape and dtype, which starts at 0.
        rho: the fraction of the moving averages that is kept in each step.
        momentum: the factor by which ``momentum_state`` decays in each step.
        epsilon: avoids division by zero.
        average: for the centred form (Graves 2013), a variable for the moving average of the
            gradient, whose square is subtracted from ``velocity`` under the root.
        momentum_state: a variable of the same shape and dtype, which starts at 0; needed with
            ``momentum``.
        grad, learning_rate, gate, decay: as in ``apply_sgd``.

    Returns:
        The new values of ``variable`` and ``velocity``, then of ``average`` and
        ``momentum_state`` if they are used.

    Raises:
        GraphError: there is momentum without ``momentum_state``, or the reverse.
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    if (momentum != 0.0) != (momentum_state is not None):
        raise GraphError(
            f"apply_rmsprop: momentum is {momentum:g}, "
            f"{'without' if momentum_state is None else 'with'} a momentum_state.",
            hint="Pass both or neither.",
        )
    states = [state for state in (variable, velocity, average, momentum_state) if state is not None]
    attrs = {"rho": float(rho), "momentum": float(momentum), "epsilon": float(epsilon)}
    op = _RMSPROP[average is not None, momentum_state is not None]
    return add_update(op, states, [grad, learning_rate], attrs, gate, decay, name)


def apply_lion(
    variable: Tensor, m: Tensor, grad: Tensor, learning_rate: Any, beta_1: float = 0.9,
    beta_2: float = 0.99, gate: Tensor | None = None, decay: Any = None, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of Lion (Chen et al. 2023).

    ``variable -= learning_rate * sign(beta_1 * m + (1 - beta_1) * grad)``, then
    ``m = beta_2 * m + (1 - beta_2) * grad``.

    Args:
        variable: a floating variable.
        m: a variable of the same shape and dtype, which starts at 0.
        beta_1, beta_2: the weight of ``m`` in the update, and its own decay.
        grad, learning_rate, gate, decay: as in ``apply_sgd``.

    Returns:
        The new values of ``variable`` and ``m``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"beta_1": float(beta_1), "beta_2": float(beta_2)}
    new = add_update(_LION, [variable, m], [grad, learning_rate], attrs, gate, decay, name)
    return new[0], new[1]


def _adagrad(
    attrs: Attrs, x: e.Expr, accumulator: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    total = accumulator + grad * grad
    return x - rate * grad / e.sqrt(total + attrs["epsilon"]), total


def _lion(attrs: Attrs, x: e.Expr, m: e.Expr, grad: e.Expr, rate: e.Expr) -> tuple[e.Expr, ...]:
    beta_1, beta_2 = attrs["beta_1"], attrs["beta_2"]
    direction = e.call("sign", beta_1 * m + (1.0 - beta_1) * grad)
    return x - rate * direction, beta_2 * m + (1.0 - beta_2) * grad


def _rmsprop(
    attrs: Attrs, x: e.Expr, velocity: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    square = _kept(attrs, velocity, grad * grad)
    return x - rate * grad / e.sqrt(square + attrs["epsilon"]), square


def _centred_rmsprop(
    attrs: Attrs, x: e.Expr, velocity: e.Expr, average: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    square, mean = _kept(attrs, velocity, grad * grad), _kept(attrs, average, grad)
    return x - rate * grad / e.sqrt(_variance(square, mean) + attrs["epsilon"]), square, mean


def _rmsprop_momentum(
    attrs: Attrs, x: e.Expr, velocity: e.Expr, momentum: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    square = _kept(attrs, velocity, grad * grad)
    step = attrs["momentum"] * momentum + rate * grad / e.sqrt(square + attrs["epsilon"])
    return x - step, square, step


def _centred_rmsprop_momentum(
    attrs: Attrs,
    x: e.Expr,
    velocity: e.Expr,
    average: e.Expr,
    momentum: e.Expr,
    grad: e.Expr,
    rate: e.Expr,
) -> tuple[e.Expr, ...]:
    square, mean = _kept(attrs, velocity, grad * grad), _kept(attrs, average, grad)
    scale = e.sqrt(_variance(square, mean) + attrs["epsilon"])
    step = attrs["momentum"] * momentum + rate * grad / scale
    return x - step, square, mean, step


def _kept(attrs: Attrs, average: e.Expr, value: e.Expr) -> e.Expr:
    return attrs["rho"] * average + (1.0 - attrs["rho"]) * value


def _variance(square: e.Expr, mean: e.Expr) -> e.Expr:
    # Rounding makes the difference slightly negative where the gradient hardly varies.
    return e.call("maximum", square - mean * mean, 0.0)


_ADAGRAD = update_op("apply_adagrad", 2, 1, _adagrad, update_samples(2, epsilon=1e-7))
_LION = update_op("apply_lion", 2, 1, _lion, update_samples(2, beta_1=0.9, beta_2=0.99))
_RMSPROP = {
    (centred, momentum): update_op(
        name, states, 1, formula, update_samples(states, rho=0.9, momentum=factor, epsilon=1e-3)
    )
    for centred, momentum, name, states, formula, factor in (
        (False, False, "apply_rmsprop", 2, _rmsprop, 0.0),
        (True, False, "apply_centred_rmsprop", 3, _centred_rmsprop, 0.0),
        (False, True, "apply_rmsprop_momentum", 3, _rmsprop_momentum, 0.9),
        (True, True, "apply_centred_rmsprop_momentum", 4, _centred_rmsprop_momentum, 0.9),
    )
}
