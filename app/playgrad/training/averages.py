"""The moving averages of an optimizer in place of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import GraphError
from playgrad.ops.state import Variable
from playgrad.optim.optimizer import Optimizer
from playgrad.runtime.session import Session
from playgrad.training.callbacks import Callback, Logs


class SwapEMAWeights(Callback):
    """Evaluate the validation data with the moving averages of the weights.

    For an optimizer with ``use_ema=True``. Weights and averages are exchanged before each
    evaluation and again after it.

    Args:
        swap_on_epoch: whether to exchange them at the end of each epoch as well, until the next
            begins, so that callbacks after this one, such as `ModelCheckpoint`, save the averages.
    """

    def __init__(self, swap_on_epoch: bool = False) -> None:
        self.swap_on_epoch = bool(swap_on_epoch)
        self._swapped = False

    def get_state(self) -> dict[str, Any]:
        return {"swapped": self._swapped}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._swapped = state["swapped"]

    def on_train_begin(self, logs: Logs) -> None:
        optimizer = self.model.optimizer
        if optimizer is None or not optimizer.use_ema:
            raise GraphError(
                "SwapEMAWeights needs an optimizer with moving averages.",
                hint="Create it with use_ema=True.",
            )
        self._swapped = False

    def on_test_begin(self, logs: Logs) -> None:
        self.swap(True)

    def on_test_end(self, logs: Logs) -> None:
        self.swap(False)

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        self.swap(False)

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        if self.swap_on_epoch:
            self.swap(True)

    def on_train_interrupted(self, error: BaseException) -> None:
        self.swap(False)

    def swap(self, swapped: bool) -> None:
        """Have the weights and the averages exchanged, or each in its place."""
        if swapped == self._swapped:
            return
        assert self.model.optimizer is not None
        weights, averages = _pairs(self.model.optimizer, self.model.trainable_variables)
        values = self.model.session.values([*averages, *weights])
        self.model.session.assign(dict(zip([*weights, *averages], values, strict=True)))
        self._swapped = swapped


def take_averages(optimizer: Optimizer, variables: list[Variable], session: Session) -> None:
    """Copy the moving averages into the weights, if there are any."""
    weights, averages = _pairs(optimizer, variables)
    if weights:
        session.assign(dict(zip(weights, session.values(averages), strict=True)))


def _pairs(
    optimizer: Optimizer, variables: list[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Return the weights that have moving averages, and these."""
    pairs = [(variable, optimizer.average_of(variable)) for variable in variables]
    kept = [(variable, average) for variable, average in pairs if average is not None]
    return [variable for variable, _ in kept], [average for _, average in kept]
