"""Excerpts of data sets, to be looked at while a model is trained with the whole."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.training.sample_weights import Samples

Array = np.ndarray[Any, Any]
MOST_SAMPLES = 1000
MOST_BYTES = 4 << 20
FEWEST_SAMPLES = 24
"""Even if they take more than `MOST_BYTES`."""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Excerpt:
    """Some samples of a data set, in order and evenly spread over it.

    Attributes:
        x, y: copies of the inputs and the targets.
        total: the number of samples in the data set.
        number: different for each excerpt.
    """

    x: Array
    y: Array
    total: int
    number: int = field(default_factory=lambda: next(_numbers))


def excerpt(samples: Samples) -> Excerpt | None:
    """Return an excerpt of ``samples``; None if they have several inputs or outputs."""
    if len(samples.xs) != 1 or len(samples.ys) != 1 or not samples.count:
        return None
    x, y = samples.xs[0], samples.ys[0]
    size = max(1, x[:1].nbytes + y[:1].nbytes)
    most = min(samples.count, MOST_SAMPLES, max(MOST_BYTES // size, FEWEST_SAMPLES))
    rows = np.arange(most) * samples.count // most
    return Excerpt(x[rows], y[rows], samples.count)
