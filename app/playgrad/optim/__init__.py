"""Optimizers and learning-rate schedules."""

from types import ModuleType as _Module

from playgrad.optim.adadelta import Adadelta
from playgrad.optim.adagrad import Adagrad
from playgrad.optim.adam import Adam, AdamW
from playgrad.optim.adamax import Adamax
from playgrad.optim.lion import Lion
from playgrad.optim.optimizer import Optimizer, checked_rate, get
from playgrad.optim.rmsprop import RMSprop
from playgrad.optim.schedules import (
    CosineDecay,
    ExponentialDecay,
    InverseTimeDecay,
    OneCycle,
    PiecewiseConstantDecay,
    PolynomialDecay,
    Schedule,
)
from playgrad.optim.sgd import SGD, Momentum

__all__ = [
    name
    for name, value in globals().items()
    if not (name.startswith("_") or isinstance(value, _Module))
]
