"""The updates of Adadelta and Adamax."""

from __future__ import annotations

from typing import Any

from playgrad.graph.opdef import Attrs
from playgrad.graph.tensor import Tensor
from playgrad.ops.expression import expr as e
from playgrad.ops.training.update_op import add_update, update_op, update_samples


def apply_adadelta(
    variable: Tensor, squares: Tensor, sizes: Tensor, grad: Tensor, learning_rate: Any,
    rho: float = 0.95, epsilon: float = 1e-7, gate: Tensor | None = None, decay: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of Adadelta (Zeiler 2012).

    ``squares = rho * squares + (1 - rho) * grad * grad`` and
    ``update = grad * sqrt(sizes + epsilon) / sqrt(squares + epsilon)``; then
    ``sizes = rho * sizes + (1 - rho) * update * update`` and
    ``variable -= learning_rate * update``.

    Args:
        variable: a floating variable.
        squares, sizes: variables of the same shape and dtype, which start at 0.
        rho: the fraction of the moving averages that is kept in each step.
        epsilon: avoids division by zero.
        grad, learning_rate, gate, decay: as in ``apply_sgd``.

    Returns:
        The new values of ``variable``, ``squares`` and ``sizes``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"rho": float(rho), "epsilon": float(epsilon)}
    states, values = [variable, squares, sizes], [grad, learning_rate]
    new = add_update(_ADADELTA, states, values, attrs, gate, decay, name)
    return new[0], new[1], new[2]


def apply_adamax(
    variable: Tensor, m: Tensor, u: Tensor, grad: Tensor, learning_rate: Any, beta_1: float = 0.9,
    beta_2: float = 0.999, epsilon: float = 1e-7, gate: Tensor | None = None, decay: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Update a variable by a step of Adamax (Kingma and Ba 2015, section 7.1).

    ``m = beta_1 * m + (1 - beta_1) * grad``, ``u = max(beta_2 * u, |grad|)`` and
    ``variable -= learning_rate * m / (u + epsilon)``.

    Args:
        variable: a floating variable.
        m, u: variables of the same shape and dtype, which start at 0.
        learning_rate: ``rate / (1 - beta_1**t)`` in step t, counted from 1.
        beta_1, beta_2: the decay of ``m`` and of ``u``.
        epsilon: avoids division by zero.
        grad, gate, decay: as in ``apply_sgd``.

    Returns:
        The new values of ``variable``, ``m`` and ``u``.

    Raises:
        ShapeError, DTypeError: as ``apply_sgd``.
    """
    attrs = {"beta_1": float(beta_1), "beta_2": float(beta_2), "epsilon": float(epsilon)}
    states, values = [variable, m, u], [grad, learning_rate]
    new = add_update(_ADAMAX, states, values, attrs, gate, decay, name)
    return new[0], new[1], new[2]


def _adadelta(
    attrs: Attrs, x: e.Expr, squares: e.Expr, sizes: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    rho, epsilon = attrs["rho"], attrs["epsilon"]
    square = rho * squares + (1.0 - rho) * (grad * grad)
    update = grad * e.sqrt(sizes + epsilon) / e.sqrt(square + epsilon)
    return x - rate * update, square, rho * sizes + (1.0 - rho) * (update * update)


def _adamax(
    attrs: Attrs, x: e.Expr, m: e.Expr, u: e.Expr, grad: e.Expr, rate: e.Expr
) -> tuple[e.Expr, ...]:
    beta_1 = attrs["beta_1"]
    mean = beta_1 * m + (1.0 - beta_1) * grad
    largest = e.call("maximum", attrs["beta_2"] * u, e.call("abs", grad))
    return x - rate * mean / (largest + attrs["epsilon"]), mean, largest


_ADADELTA = update_op("apply_adadelta", 3, 1, _adadelta, update_samples(3, rho=0.95, epsilon=1e-3))
_ADAMAX = update_op(
    "apply_adamax", 3, 1, _adamax, update_samples(3, beta_1=0.9, beta_2=0.999, epsilon=1e-7)
)
