"""Input pipelines: elements that are read, transformed and batched while the model trains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from playgrad.data.pipeline import sharing
from playgrad.data.pipeline.base import (
    INFINITE,
    Round,
    Transformation,
    opened,
    parallel_calls,
    whole_number,
)
from playgrad.data.pipeline.batches import Batched, Unbatched
from playgrad.data.pipeline.failures import FailureLog, checked_policy
from playgrad.data.pipeline.order import (
    Cached,
    Concatenated,
    Enumerated,
    Filtered,
    Left,
    Repeated,
    Shuffled,
    Taken,
    Zipped,
)
from playgrad.data.pipeline.parts import Parted
from playgrad.data.pipeline.prefetch import Prefetched
from playgrad.data.pipeline.readers import Interleaved, Mapped
from playgrad.data.pipeline.sources import Generated, Listed, Slices, files_named
from playgrad.data.pipeline.windows import Flattened, Windowed
from playgrad.data.table_facts import TableFacts
from playgrad.errors import DataError


class Dataset:
    """A pipeline of elements, with the names of ``tf.data``.

    An element is a NumPy array, or a tuple or dictionary of elements. Each method returns a new
    data set; nothing is read before it is iterated. The order of the elements is the same in every
    run, however many readers there are.

    Readers are threads where there are threads. Python in a page has none: there the same pipeline
    reads an element when it is needed.

    Attributes:
        skipped: the failures that ``on_error="skip"`` left out in the last round: their number is
            ``len(skipped)``, the items name element, file and error.
    """

    def __init__(self, elements: Transformation) -> None:
        self._elements = elements
        self._rounds = 0
        self.skipped = FailureLog()

    # Sources

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """Return the slices of an array, or of a tuple or dictionary of arrays, along axis 0.

        Raises:
            DataError: the arrays differ in length, or one is a single number.
        """
        return Dataset(Slices(tensors))

    @staticmethod
    def from_generator(
        generator: Callable[[], Iterable[Any]], length: int | None = None
    ) -> Dataset:
        """Return the elements of the iterator that ``generator()`` returns, called in each round.

        Args:
            generator: a function without arguments.
            length: the number of elements, if it is known.

        Raises:
            DataError: ``generator`` is not a function, such as a generator, which can be read once.
        """
        return Dataset(
            Generated(generator, None if length is None else whole_number(length, "length"))
        )

    @staticmethod
    def from_parts(
        open_part: Callable[[int], Any], parts: int, batch_size: int, length: int | None = None
    ) -> Dataset:
        """Return batches whose rows come from several parts, such as the files of each machine.

        Part ``p`` gives the rows from ``batch_size * p // parts`` up to, but not including,
        ``batch_size * (p + 1) // parts`` of every batch. A round ends with the last batch for which
        all parts have their rows. In a run on several machines, each member opens only its parts,
        in order of the machines: with two parts, the first machine's members open part 0, and the
        second one's part 1. No machine needs the files of another one's parts.

        Args:
            open_part: returns the elements of the part with a number, from 0: a `Dataset`, or
                another iterable.
            parts: the number of parts, at most ``batch_size``.
            length: the number of batches, if it is known.

        Raises:
            DataError: an argument is not valid.
        """
        size = whole_number(batch_size, "batch_size", 1)
        count = None if length is None else whole_number(length, "length")
        return Dataset(Parted(open_part, whole_number(parts, "parts", 1), size, count))

    @staticmethod
    def from_sequence(items: Any) -> Dataset:
        """Return ``items[0]``, ``items[1]`` and so on, each read when it is needed.

        Args:
            items: an object with ``__len__`` and ``__getitem__``; a `Dataset` is returned as it is.
        """
        if isinstance(items, Dataset):
            return items
        return Dataset.from_generator(lambda: (items[i] for i in range(len(items))), len(items))

    @staticmethod
    def range(*limits: int) -> Dataset:
        """Return whole numbers; the arguments are as in Python's ``range``."""
        return Dataset(Slices(np.arange(*limits, dtype=np.int32)))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool = True, seed: int | None = None) -> Dataset:
        """Return a file queue: the names of files, as text.

        Args:
            file_pattern: a pattern such as ``"digits/*.png"``, with ``**`` for any folders, or a
                list of patterns.
            shuffle: whether each round has an order of its own, instead of the alphabetical one.
            seed: the seed of the orders; None for 0.

        Raises:
            DataError: a pattern matches no file.
        """
        return Dataset(Listed(files_named(file_pattern), (seed or 0) if shuffle else None))

    @staticmethod
    def zip(*datasets: Dataset | tuple[Dataset, ...]) -> Dataset:
        """Return tuples of the elements of ``datasets``, as many as the shortest has.

        Args:
            datasets: several data sets, or one tuple of them.
        """
        if len(datasets) == 1 and isinstance(datasets[0], tuple):
            datasets = datasets[0]
        return Dataset(Zipped([_elements_of(each, "zip") for each in datasets]))

    # Transformations

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        on_error: str = "raise",
    ) -> Dataset:
        """Return ``map_func`` of each element.

        Args:
            map_func: takes an element; a tuple is passed as several arguments.
            num_parallel_calls: the number of elements computed at a time, in threads;
                ``pg.data.AUTOTUNE`` for the number of processors; None for 1. The order of the
                results is that of the elements.
            on_error: "raise" to end with an error that names the element, or "skip" to leave it
                out; see ``skipped``.
        """
        threads, policy = parallel_calls(num_parallel_calls), checked_policy(on_error)
        return Dataset(Mapped(self._elements, map_func, threads, policy))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int = 4,
        block_length: int = 1,
        num_parallel_calls: int | None = None,
        on_error: str = "raise",
    ) -> Dataset:
        """Return the elements of several data sets in turn: readers of a file queue.

        Args:
            map_func: takes an element, such as the name of a file, and returns a `Dataset` or
                another iterable, such as ``pg.data.read_csv`` does.
            cycle_length: the number of data sets that are open at a time. The order depends on it.
            block_length: elements taken from one data set before it is the next one's turn.
            num_parallel_calls: the number of data sets that are read at the same time, in threads;
                ``pg.data.AUTOTUNE`` for the number of processors; None for 1.
            on_error: "raise" to end with an error that names file and record. "skip" leaves out a
                record that cannot be read, or the rest of a file that cannot; see ``skipped``.
        """
        return Dataset(
            Interleaved(
                self._elements,
                map_func,
                whole_number(cycle_length, "cycle_length", 1),
                whole_number(block_length, "block_length", 1),
                parallel_calls(num_parallel_calls),
                checked_policy(on_error),
            )
        )

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """Return the elements of the data set that ``map_func`` makes of each element, in order.

        Args:
            map_func: takes an element, such as a window, and returns a `Dataset` or another
                iterable: ``lambda window: window.batch(5)``.
        """
        return Dataset(Flattened(self._elements, map_func))

    def window(
        self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False
    ) -> Dataset:
        """Return windows of consecutive elements, each a `Dataset` of ``size`` elements.

        Of elements that are tuples or dictionaries, a window is a tuple or dictionary of data sets.

        Args:
            shift: elements from the beginning of a window to that of the next; None for ``size``.
            stride: elements from one of a window to its next.
            drop_remainder: whether to leave out windows that would have fewer elements, at the end.
        """
        size = whole_number(size, "size", 1)
        shift = size if shift is None else whole_number(shift, "shift", 1)
        stride = whole_number(stride, "stride", 1)
        return Dataset(Windowed(self._elements, size, shift, stride, bool(drop_remainder), Dataset))

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """Return the elements for which ``predicate`` returns true."""
        return Dataset(Filtered(self._elements, predicate))

    def shuffle(
        self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True
    ) -> Dataset:
        """Return the elements in random order, each drawn from the next ``buffer_size`` ones.

        Args:
            buffer_size: elements in memory. The order is uniform if all elements fit.
            seed: the seed of the order; None for 0.
            reshuffle_each_iteration: whether each round has an order of its own.
        """
        size = whole_number(buffer_size, "buffer_size", 1)
        seed = whole_number(seed or 0, "seed")
        return Dataset(Shuffled(self._elements, size, seed, reshuffle_each_iteration))

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """Return batches: arrays with a new first axis of ``batch_size`` elements.

        Elements that differ in shape raise ShapeError when they are read.

        Args:
            drop_remainder: whether to leave out a last batch that is smaller.
        """
        return Dataset(
            Batched(self._elements, whole_number(batch_size, "batch_size", 1), drop_remainder)
        )

    def unbatch(self) -> Dataset:
        """Return the samples of batches, one by one."""
        return Dataset(Unbatched(self._elements))

    def repeat(self, count: int | None = None) -> Dataset:
        """Return the elements ``count`` times; without an end if it is None or -1."""
        times = None if count in (None, -1) else whole_number(count, "count")
        return Dataset(Repeated(self._elements, times))

    def take(self, count: int) -> Dataset:
        """Return the first ``count`` elements."""
        return Dataset(Taken(self._elements, whole_number(count, "count")))

    def skip(self, count: int) -> Dataset:
        """Return the elements after the first ``count``."""
        return Dataset(Left(self._elements, whole_number(count, "count")))

    def concatenate(self, dataset: Dataset) -> Dataset:
        """Return the elements, followed by the elements of ``dataset``."""
        return Dataset(Concatenated([self._elements, _elements_of(dataset, "concatenate")]))

    def enumerate(self, start: int = 0) -> Dataset:
        """Return pairs (number, element)."""
        return Dataset(Enumerated(self._elements, start))

    def cache(self) -> Dataset:
        """Return the elements, which the first complete round keeps in memory for later ones."""
        return Dataset(Cached(self._elements))

    def prefetch(self, buffer_size: int) -> Dataset:
        """Return the elements, of which a thread reads up to ``buffer_size`` ahead.

        Args:
            buffer_size: elements in the queue; ``pg.data.AUTOTUNE`` for 2. A full queue holds up
                the readers. 0 reads none ahead.
        """
        size = 2 if buffer_size == -1 else whole_number(buffer_size, "buffer_size")
        return Dataset(Prefetched(self._elements, size))

    # Reading

    def cardinality(self) -> int:
        """Return the number of elements, ``pg.data.INFINITE`` or ``pg.data.UNKNOWN``."""
        return self._elements.cardinality

    def __len__(self) -> int:
        size = self.cardinality()
        if size < 0:
            what = "has no end" if size == INFINITE else "is known only after reading it"
            raise TypeError(f"the length of this data set {what}.")
        return size

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        number, self._rounds = self._rounds, self._rounds + 1
        return self.open_round(Round((number,)))

    def table_facts(self) -> TableFacts | None:
        """Return the names of the features of the table whose rows are the elements, if known."""
        return self._elements.facts

    def open_round(self, round_: Round) -> Iterator[Any]:
        """Return the elements of one round; `fit` numbers its rounds itself."""
        self.skipped = round_.failures
        with opened(self._elements, round_) as elements:
            yield from elements

    @property
    def reads_shares(self) -> bool:
        """Whether a process can read its share of each batch alone."""
        return sharing.reads_shares(self._elements)

    @property
    def parts(self) -> int | None:
        """The number of parts of `from_parts`; None for other data sets."""
        return sharing.number_of_parts(self._elements)

    @property
    def needs_members(self) -> bool:
        """Whether processes that train together should draw batches for each other, since one alone
        would read everything."""
        alone = sharing.reads_shares(self._elements) or sharing.is_in_memory(self._elements)
        return self.parts is not None or not alone


def _elements_of(dataset: Any, method: str) -> Transformation:
    if not isinstance(dataset, Dataset):
        raise DataError(f"{method} takes Datasets, got {type(dataset).__name__}.")
    return dataset._elements
