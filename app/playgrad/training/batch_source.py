"""Batches for `fit`, `evaluate` and `predict` from data sets, generators and other iterables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from playgrad.data.dataset import Dataset
from playgrad.data.pipeline.base import INFINITE, UNKNOWN, Round, close, has_threads
from playgrad.data.pipeline.shares import Share
from playgrad.errors import DataError
from playgrad.runtime.members import current_members
from playgrad.training.drawn_batches import DrawnBatches
from playgrad.training.own_step import has_own_step, has_own_test_step
from playgrad.training.prepare_data import prepare_data
from playgrad.training.recipe import Recipe
from playgrad.training.sample_weights import Samples, sample_weights


def is_stream(data: Any) -> bool:
    """Return whether ``data`` yields batches: a `Dataset`, an iterator or another iterable.

    Arrays and lists can be indexed, and are not streams.
    """
    if type(data) is np.ndarray:
        return False
    if isinstance(data, Dataset) or hasattr(data, "__next__"):
        return True
    return hasattr(data, "__iter__") and not (
        hasattr(data, "__getitem__") or hasattr(data, "__array__") or isinstance(data, (set, str))
    )


class BatchSource:
    """Rounds of batches.

    Args:
        data: see `is_stream`. An iterator has a single round.
        name: the name of the data in errors.

    Attributes:
        cardinality: batches of a round, or `INFINITE` or `UNKNOWN`.
        restarts: whether there can be several rounds.
        position: the number of the next batch in its round.
        share: the share of each batch that this process needs; None for all of it.
        is_whole: whether all members of the run take whole batches.

    Raises:
        DataError: the parts of a data set are transformed once they have been put together.
    """

    def __init__(self, data: Any, name: str) -> None:
        self.name = name
        self.restarts = not hasattr(data, "__next__")
        if isinstance(data, Dataset):
            self.dataset = data
        else:
            self.dataset = Dataset.from_generator(lambda: data)
        self.cardinality = self.dataset.cardinality()
        self.position = 0
        self.share: Share | None = None
        self.is_whole = True
        self._members = current_members()
        self._drawn: DrawnBatches | None = None
        if self._members.size > 1 and self.dataset.needs_members:
            self._drawn = DrawnBatches(self._members, self.dataset.parts)
        self._iterator: Iterator[Any] = iter(())
        self._round: int | None = None
        self._returned: list[Any] = []
        self._reads_ahead = True

    def expect_share(self) -> None:
        """Read no batch ahead before `read_only` says which rows of it this process needs."""
        self._reads_ahead = self._members.size == 1 or not self.dataset.reads_shares

    def seek(self, number: int, position: int) -> None:
        """Make batch ``position`` of round ``number`` the next one.

        An iterator cannot go back: it continues with its next batch.
        """
        if self._round is not None and not self.restarts:
            return
        if self._round != number or self.position > position:
            self.close()
            self._iterator = self._open(number)
            self._round, self.position = number, 0
        while self.position < position:
            self.take()

    def _open(self, number: int) -> Iterator[Any]:
        """Begin a round at the members that read it."""
        share = self.share if self.reads_share else None
        if self._drawn is not None:
            if self._drawn.reads is None:
                return iter(())
            share = None if self.dataset.parts is None else self._drawn.reads
        threads = has_threads() and self._reads_ahead
        return self.dataset.open_round(Round((number,), threads=threads, share=share))

    def read_only(self, share: Share | None) -> None:
        """Read only ``share`` of each batch from the next one on; None for all of it. All members
        of a run call this."""
        if self._members.size > 1:
            shares = self._members.all_of(share)
            if self._drawn is not None:
                self._drawn.need(shares)
                self.is_whole = not any(shares)
                return
            self.is_whole = not (any(shares) and self.dataset.reads_shares)
        if share == self.share and self._reads_ahead:
            return
        opened_alone, self._reads_ahead = not self._reads_ahead, True
        self.share = share
        number, position = self._round, self.position
        if (self.reads_share or opened_alone) and number is not None and self.restarts:
            self.close()
            self.seek(number, position)

    @property
    def reads_share(self) -> bool:
        """Whether a round that begins now leaves out what other processes read."""
        return self.share is not None and self.dataset.reads_shares

    def take(self) -> Any:
        """Return the next batch.

        Raises:
            StopIteration: the round has ended.
        """
        batch = self._returned.pop() if self._returned else self._next()
        self.position += 1
        return batch

    def _next(self) -> Any:
        if self._drawn is None:
            return next(self._iterator)
        try:
            return self._drawn.next(lambda: next(self._iterator), self.dataset.skipped)
        except StopIteration:
            self.dataset.skipped = self._drawn.skipped
            raise

    def give_back(self, batch: Any) -> None:
        """Make ``batch``, the last one taken, the next one again."""
        self._returned.append(batch)
        self.position -= 1

    def close(self) -> None:
        """End the round, and the threads that read it."""
        if self.restarts:
            if self.position == self.cardinality:
                next(self._iterator, None)  # `cache` keeps rounds that have reached their end
            close(self._iterator)
            self._returned, self._round = [], None

    def samples(
        self, recipe: Recipe, batch: Any, class_weight: Mapping[int, float] | None = None
    ) -> Samples:
        """Return a batch that was just taken as arrays that fit the model, which may be built.

        Raises:
            DataError, ShapeError, DTypeError: it does not fit; the error names the batch.
        """
        where = f"batch {self.position - 1} of {self.name}"
        network = recipe.network
        if has_own_step(network) or has_own_test_step(network):
            is_alone = not isinstance(batch, (tuple, list))
            network.without_targets = is_alone  # type: ignore[attr-defined]
            batch = (batch, no_targets(batch)) if is_alone else batch
        if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
            kind = f"{len(batch)} parts" if isinstance(batch, (tuple, list)) else _kind(batch)
            raise DataError(
                f"{where} is {kind}, but it must be a pair (x, y), or (x, y, sample_weight)."
            )
        x, y, *weight = batch
        xs, ys = prepare_data(recipe, inputs_of(x), inputs_of(y), f"{where}: ")
        given = weight[0] if weight else None
        if given is not None and class_weight is not None:
            raise DataError(f"class_weight and the weights in {self.name} exclude each other.")
        weights = sample_weights(ys, class_weight, given, f"{where}: sample_weight")
        return Samples(xs, ys, weights)


def inputs_of(part: Any) -> Any:
    """Return the x or y of a batch as `fit` takes it: a list if it is several arrays."""
    return list(part) if isinstance(part, tuple) else part


def no_targets(x: Any) -> np.ndarray[Any, Any]:
    """Return zeros in place of the targets of inputs without any."""
    first = next(iter(x.values())) if isinstance(x, Mapping) else x
    return np.zeros(len(first[0] if isinstance(first, (list, tuple)) else first), np.float32)


def check_rounds(
    source: BatchSource, steps: int | None, rounds: int, name: str = "steps_per_epoch"
) -> None:
    """Check that ``source`` has ``rounds`` rounds that end, if no number of steps ends them.

    Raises:
        DataError: it has not.
    """
    if steps is not None:
        return
    if source.cardinality == INFINITE:
        raise DataError(f"{source.name} has no end.", hint=f"Pass {name}.")
    if rounds > 1 and not source.restarts:
        raise DataError(
            f"{source.name} is an iterator and can be read once, but it is needed {rounds} times.",
            hint=f"Pass {name}, or a Dataset: pg.data.Dataset.from_generator(function).",
        )


def known_length(source: BatchSource) -> int | None:
    """Return the number of batches of a round, if it is known.

    Raises:
        DataError: it is 0.
    """
    if source.cardinality == 0:
        raise DataError(f"{source.name} is empty.")
    return None if source.cardinality in (UNKNOWN, INFINITE) else source.cardinality


def _kind(batch: Any) -> str:
    return "a single array" if hasattr(batch, "shape") else f"a {type(batch).__name__}"
