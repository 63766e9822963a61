"""The beginnings of pipelines: slices of arrays, generators, lists of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from glob import glob
from operator import itemgetter
from os import PathLike, fspath
from typing import Any

import numpy as np

from playgrad.data.pipeline.base import UNKNOWN, Round, Transformation, close
from playgrad.data.pipeline.structure import as_array, kept, leaves, mapped, rebuilt
from playgrad.data.table_facts import TableFacts, facts_of
from playgrad.errors import DataError


class Slices(Transformation):
    """The slices of arrays along their first axis.

    Raises:
        DataError: there are no arrays, one is a single number, or they differ in length.
    """

    def __init__(self, arrays: Any) -> None:
        named = [(name, as_array(leaf, f"tensors{name}")) for name, leaf in leaves(arrays)]
        if not named:
            raise DataError("from_tensor_slices needs at least one array.")
        for name, array in named:
            if array.ndim == 0:
                raise DataError(f"tensors{name} is a single number and has no slices.")
        lengths = {len(array) for _, array in named}
        if len(lengths) > 1:
            listed = ", ".join(f"tensors{name} has {len(array)}" for name, array in named)
            raise DataError(f"the arrays of from_tensor_slices differ in length: {listed}.")
        self.length = lengths.pop()
        self.arrays = rebuilt(arrays, iter([array for _, array in named]))

    def open(self, round_: Round) -> Iterator[Any]:
        for i in range(self.length):
            yield mapped(self.arrays, itemgetter(i))

    @property
    def cardinality(self) -> int:
        return self.length

    @property
    def facts(self) -> TableFacts | None:
        return facts_of(next(leaves(self.arrays))[1])


class Generated(Transformation):
    """The elements of the iterator that a function returns, called once in each round.

    Raises:
        DataError: it is not a function.
    """

    def __init__(self, function: Callable[[], Iterable[Any]], length: int | None = None) -> None:
        if not callable(function):
            raise DataError(
                f"from_generator takes a function without arguments, got "
                f"{type(function).__name__}.",
                hint="Pass the function itself, not the generator that it returns: a generator "
                "can be read only once.",
            )
        self.function = function
        self.length = length

    def open(self, round_: Round) -> Iterator[Any]:
        iterator = iter(self.function())
        try:
            yield from map(kept, iterator)
        finally:
            close(iterator)

    @property
    def cardinality(self) -> int:
        return UNKNOWN if self.length is None else self.length


class Listed(Transformation):
    """Names of files, or other values, in a new order in each round.

    Args:
        seed: the seed of the orders; None keeps the order.
    """

    def __init__(self, names: Sequence[Any], seed: int | None = None) -> None:
        self.names = list(names)
        self.seed = seed

    def open(self, round_: Round) -> Iterator[Any]:
        order = np.arange(len(self.names))
        if self.seed is not None:
            order = np.random.default_rng([self.seed, *round_.number]).permutation(order)
        for i in order:
            yield self.names[i]

    @property
    def cardinality(self) -> int:
        return len(self.names)


def files_named(patterns: Any) -> list[str]:
    """Return the files that match one or several patterns, sorted, each once.

    Raises:
        DataError: a pattern matches no file.
    """
    if isinstance(patterns, (str, PathLike)):
        patterns = [patterns]
    names: set[str] = set()
    for pattern in patterns:
        matches = glob(fspath(pattern), recursive=True)
        if not matches:
            raise DataError(f"no file matches {fspath(pattern)!r}.")
        names.update(matches)
    return sorted(names)
