"""Optimizers and learning-rate schedules."""

from playgrad.optim.adagrad import Adagrad
from playgrad.optim.adam import Adam, AdamW
from playgrad.optim.lion import Lion
from playgrad.optim.optimizer import Optimizer, checked_rate, get
from playgrad.optim.rmsprop import RMSprop
from playgrad.optim.schedules import ExponentialDecay, Schedule
from playgrad.optim.sgd import SGD, Momentum

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "ExponentialDecay",
    "Lion",
    "Momentum",
    "Optimizer",
    "RMSprop",
    "Schedule",
    "checked_rate",
    "get",
]
