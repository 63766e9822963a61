"""Facts about the data of a training: its scale, the loss of guessing, whether labels fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.doctor import thresholds
from playgrad.doctor.evidence import Spread
from playgrad.doctor.median import median

Array = np.ndarray[Any, Any]
MOST_FEATURES = 12
"""Of a table whose columns are described one by one: they must fit into a line of the program."""
_MOST_VALUES = 1 << 18
_SMALLEST = 1e-7


def spread(values: Array) -> Spread:
    """Return the size of ``values`` (samples, ...)."""
    numbers = values[: max(1, _MOST_VALUES * len(values) // max(values.size, 1))].astype(np.float64)
    is_table = numbers.ndim == 2 and numbers.shape[1] <= MOST_FEATURES
    return Spread(
        low=float(numbers.min()),
        high=float(numbers.max()),
        mean=float(numbers.mean()),
        deviation=float(numbers.std()),
        size=float(np.sqrt((numbers**2).mean())),
        dimensions=numbers.ndim - 1,
        means=tuple(map(float, numbers.mean(axis=0))) if is_table else (),
        deviations=tuple(map(float, numbers.std(axis=0))) if is_table else (),
    )


def baseline(loss: str, y: Array) -> float | None:
    """Return the loss of the best prediction that ignores the inputs; None if unknown.

    Args:
        loss: its kind.
        y: the targets, (samples, ...).
    """
    y = y.astype(np.float64)
    if loss == "sparse_categorical_crossentropy":
        return _entropy(np.unique(y, return_counts=True)[1] / y.size)
    if loss == "categorical_crossentropy" and y.ndim == 2:
        return _entropy(y.mean(axis=0))
    if loss == "binary_crossentropy":
        ones = y.reshape(len(y), -1).mean(axis=0)
        return float(np.mean([_entropy(np.array([p, 1 - p])) for p in ones]))
    if loss == "mean_squared_error":
        return float(y.var(axis=0).mean())
    if loss == "mean_absolute_error":
        return float(np.abs(y - median(y)).mean())
    return None


def _entropy(shares: Array) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def agreement(x: Array, y: Array, classes: bool) -> float | None:
    """Return by how many standard errors nearest neighbours agree more often than by chance.

    In data that a network can learn from, samples that are alike have targets that are alike. None
    if there are too few samples, or several targets for each.

    Args:
        classes: whether the targets are classes, as numbers or one-hot, rather than amounts.
    """
    rows = np.arange(compared_rows(x)) * len(x) // max(1, compared_rows(x))
    if len(rows) < thresholds.FEWEST_PAIRS or x.dtype.kind not in "fu":
        return None
    points = x[rows].reshape(len(rows), -1).astype(np.float64)
    deviation = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(deviation > _SMALLEST, deviation, 1)
    targets = y[rows]
    if classes:
        targets = targets.argmax(axis=1) if targets.ndim == 2 and targets.shape[1] > 1 else targets
    if targets.size != len(rows):
        return None
    targets = targets.reshape(-1)
    squares = (points**2).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * points @ points.T
    np.fill_diagonal(distances, np.inf)
    neighbours = targets[distances.argmin(axis=1)]
    if classes:
        return _agreement_of_classes(targets, neighbours)
    if targets.std() < _SMALLEST or neighbours.std() < _SMALLEST:
        return None
    correlation = float(np.corrcoef(targets, neighbours)[0, 1])
    return correlation * float(np.sqrt(len(rows)))


def compared_rows(x: Array) -> int:
    """Return how many samples of ``x`` `agreement` compares."""
    return min(len(x), thresholds.MOST_PAIRS)


def _agreement_of_classes(targets: Array, neighbours: Array) -> float | None:
    counts = np.unique(targets, return_counts=True)[1]
    if len(counts) < 2 or len(targets) < thresholds.FEWEST_OF_A_CLASS * len(counts):
        return None
    chance = float(((counts / len(targets)) ** 2).sum())
    error = np.sqrt(chance * (1 - chance) / len(targets))
    return (float((targets == neighbours).mean()) - chance) / float(error)
