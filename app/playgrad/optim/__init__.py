"""Optimizers and learning-rate schedules."""

from playgrad.optim.adam import Adam
from playgrad.optim.optimizer import Optimizer, checked_rate, get
from playgrad.optim.schedules import ExponentialDecay, Schedule
from playgrad.optim.sgd import SGD, Momentum

__all__ = [
    "SGD",
    "Adam",
    "ExponentialDecay",
    "Momentum",
    "Optimizer",
    "Schedule",
    "checked_rate",
    "get",
]
