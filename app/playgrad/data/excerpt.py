"""Excerpts of data sets, to be shown while a model is trained with the whole."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ref

import numpy as np

Array = np.ndarray[Any, Any]
MOST_SAMPLES = 1000
MOST_BYTES = 4 << 20
FEWEST_SAMPLES = 24
"""Even if they take more than `MOST_BYTES`."""
_numbers = itertools.count(1)


def next_number() -> int:
    """Return a number that no other excerpt has."""
    return next(_numbers)


@dataclass(frozen=True)
class Excerpt:
    """Some samples of a data set, in order and evenly spread over it.

    Attributes:
        x, y: copies of the inputs and the targets.
        total: the number of samples in the data set.
        whole: the inputs and the targets of the data set itself, if they are kept.
        source: the inputs of the data set, which it does not keep alive, and the targets.
        number: different for each excerpt.
    """

    x: Array
    y: Array
    total: int
    whole: tuple[Array, Array] | None = field(default=None, repr=False)
    source: tuple[ref[Array], Array] | None = field(default=None, repr=False)
    number: int = field(default_factory=next_number)

    @property
    def count(self) -> int:
        """The number of samples that can be chosen: all, if the data set is kept."""
        return len(self.x) if self.whole is None else self.total

    @property
    def rows(self) -> Array:
        """The index of each sample of the excerpt (samples,) among the samples to choose from."""
        return _spread_rows(len(self.x), self.count)

    def sample(self, number: int) -> tuple[Array, Array]:
        """Return input and target of a sample, each with a batch dimension.

        Args:
            number: from 0 to ``count`` - 1, as in the program's arrays if the data set is kept.

        Raises:
            IndexError: there is no such sample.
        """
        if not 0 <= number < self.count:
            raise IndexError(f"sample {number} of {self.count}")
        x, y = (self.x, self.y) if self.whole is None else self.whole
        return x[number : number + 1], y[number : number + 1]

    def single(self, number: int) -> Excerpt:
        """Return the excerpt that is only one sample; see `sample`."""
        return Excerpt(*self.sample(number), self.total)

    def most(self) -> tuple[Array, Array]:
        """Return inputs and targets of as many samples as there still are: the whole data set, if
        it is kept or in use elsewhere, or else this excerpt."""
        if self.whole is not None:
            return self.whole
        x = None if self.source is None else self.source[0]()
        return (self.x, self.y) if self.source is None or x is None else (x, self.source[1])

    def without_whole(self) -> Excerpt:
        """Return the excerpt without its reference to the whole data set."""
        return replace(self, whole=None)


def excerpt_of(x: Array, y: Array) -> Excerpt:
    """Return an excerpt of inputs (samples, ...) and targets (samples, ...), which it refers to."""
    size = max(1, x[:1].nbytes + y[:1].nbytes)
    most = min(len(x), MOST_SAMPLES, max(MOST_BYTES // size, FEWEST_SAMPLES))
    rows = _spread_rows(most, len(x))
    source = (ref(x), y) if y.nbytes <= MOST_BYTES else None
    return Excerpt(x[rows], y[rows], len(x), (x, y), source)


def _spread_rows(some: int, count: int) -> Array:
    """Return ``some`` numbers from 0 to ``count`` - 1, in order and evenly spread."""
    return np.arange(some) * count // max(some, 1)
