"""Compile settings of networks, as far as formats carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.nn.loss import Loss
from playgrad.nn.metrics import Metric
from playgrad.optim.optimizer import Optimizer


@dataclass(frozen=True)
class CompileSettings:
    """The settings that ``compile`` was called with.

    Attributes:
        optimizer: without its state.
        learning_rate: the present one; the initial one of a schedule.
        losses: one for each output.
        metrics, weighted_metrics: a list for each output.
        loss_weights: the factor of each output's loss; None for 1.
        trained: the names of the weights that training changes.
    """

    optimizer: Optimizer
    learning_rate: float
    losses: Sequence[Loss]
    metrics: Sequence[Sequence[Metric]]
    weighted_metrics: Sequence[Sequence[Metric]]
    loss_weights: Sequence[float] | None
    trained: frozenset[str]
