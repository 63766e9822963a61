"""Excerpts of data sets, to be looked at while a model is trained with the whole."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
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
