"""Losses by name, losses from functions, and the losses of regression."""

from __future__ import annotations

from collections.abc import Callable

from playgrad.errors import GraphError, ShapeError
from playgrad.graph.tensor import Tensor
from playgrad.nn.loss import BY_KIND, Loss, mean_of_sample
from playgrad.nn.masked_steps import mean_of_steps
from playgrad.ops.elementwise.definitions import absolute, squared_difference


class MeanSquaredError(Loss):
    """Mean squared error of each sample."""

    kind = "mean_squared_error"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(squared_difference(y_pred, y_true))


class MeanAbsoluteError(Loss):
    """Mean absolute error of each sample."""

    kind = "mean_absolute_error"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(absolute(y_pred - y_true))


class CustomLoss(Loss):
    """A loss from a function of (y_true, y_pred) that returns one number per sample."""

    kind = "custom"

    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(self._values(y_true, y_pred))

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        return mean_of_steps(self._values(y_true, y_pred), mask, self._name)

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", "loss")

    def _values(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        values = self.function(y_true, y_pred)
        if not isinstance(values, Tensor) or not values.shape:
            raise ShapeError(
                f"the loss function {self._name!r} must return one number per sample, shape "
                "(batch,).",
                hint="Leave out the mean over the batch: training computes it.",
            )
        return values


_SHORT = {
    "bce": "binary_crossentropy",
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "kld": "kl_divergence",
    "logcosh": "log_cosh",
}


def get(value: str | Loss | Callable[[Tensor, Tensor], Tensor]) -> Loss:
    """Return the loss called ``value``; a `Loss` is returned as is, a function becomes a loss.

    Names are as in Keras: "mean_squared_error", "MeanSquaredError", "mse" or "MSE".

    Raises:
        GraphError: there is no loss of that name.
    """
    if isinstance(value, Loss):
        return value
    if callable(value):
        return value() if isinstance(value, type) else CustomLoss(value)
    if not isinstance(value, str) or not is_loss(value):
        known = [kind for kind in BY_KIND if kind != "custom"]
        raise GraphError(f"there is no loss {value!r}.", hint=f"Use one of: {', '.join(known)}.")
    return BY_KIND[_kind_of(value)]()


def is_loss(name: str) -> bool:
    """Return whether there is a loss of this name."""
    return _kind_of(name) in BY_KIND and _kind_of(name) != "custom"


def _kind_of(name: str) -> str:
    """Return the kind that a short form or the name of a class stands for."""
    by_class = {loss.__name__: kind for kind, loss in BY_KIND.items()}
    return _SHORT.get(name.lower()) or by_class.get(name, name)
