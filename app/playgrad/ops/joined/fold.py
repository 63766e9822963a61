"""``Fold``: reads samples of any structure, and computes them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array
from playgrad.graph.source import user_source
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor, specs_of
from playgrad.ops.control.nested import rebuild
from playgrad.ops.control.recording import Recording
from playgrad.ops.control.subgraph import to_text
from playgrad.ops.core.build import as_tensor, graph_of, whole
from playgrad.ops.joined.call_kinds import CallKind, CallKinds, expect_same_value, recorded
from playgrad.ops.joined.joined_calls import JOINED_CALLS
from playgrad.ops.joined.layout import JoinedKind
from playgrad.ops.joined.mixing import expect_rows_apart
from playgrad.ops.joined.reading import CURRENT, FoldValue, SampleReading
from playgrad.ops.joined.table import COLUMNS, MAX_DEPTH
from playgrad.ops.joined.uses import note_use

SMALLEST = 8
"""The fewest rows of a table for one sample. More are a power of two, so that few tables differ."""


class Fold:
    """Samples whose structure differs, such as trees, computed together depth by depth.

    After *Deep learning with dynamic computation graphs* (Looks et al. 2017). ``read`` turns
    samples into an array, which is trained and predicted with like any other; a call with the
    tensor of such an array returns the results of the samples. A graph is built once, whatever the
    shapes of the trees: NumPy computes the calls, as many at a time as there are.

    Args:
        function: an ordinary Python function of a sample that calls functions of `batched`, and
            returns the value of one of these calls. It may be a method.
        inputs: how many tensors with a row for each sample are passed to it after the sample, for
            functions of `batched` to use.
        max_depth: calls that depend on each other, at most.
        max_calls: calls of one sample, at most.

    Attributes:
        kinds: the kinds of calls that have been read so far.
        latest: the array that `read` has returned last, or None.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        inputs: int = 0,
        max_depth: int = MAX_DEPTH,
        max_calls: int = 1 << 16,
    ) -> None:
        if not callable(function):
            raise GraphError(f"a function is needed, got {type(function).__name__}.")
        self.function = function
        self.inputs = whole(inputs, "inputs")
        self.max_depth = whole(max_depth, "max_depth")
        self.max_calls = whole(max_calls, "max_calls")
        if not 0 <= self.max_depth <= MAX_DEPTH:
            raise GraphError(f"max_depth must be in [0, {MAX_DEPTH}], got {max_depth}.")
        if not 1 <= self.max_calls <= 1 << 24:
            raise GraphError(f"max_calls must be in [1, {1 << 24}], got {max_calls}.")
        if self.inputs < 0:
            raise GraphError(f"inputs must be ≥ 0, got {inputs}.")
        self.kinds = CallKinds()
        self.latest: Array | None = None
        self._roots: set[int] = set()

    @property
    def name(self) -> str:
        """The name of its function."""
        return getattr(self.function, "__name__", type(self.function).__name__).strip("<>")

    @property
    def shape(self) -> tuple[None, None, int]:
        """The shape (samples, calls, columns) of its arrays, for ``model.build``."""
        return (None, None, COLUMNS + max((kind.width for kind in self.kinds), default=0))

    def read(self, samples: Iterable[Any]) -> Array:
        """Return the calls of ``samples`` as an array.

        Args:
            samples: trees or other structures, one after the other.

        Returns:
            An array (samples, calls, columns), int32, whose first axis can be split and shuffled.
            The number of calls is that of the largest sample, rounded up to a power of two.

        Raises:
            GraphError: a sample is too deep or too large, contains itself, or does not end in the
                value of a batched function.
            DTypeError: an argument of a batched function cannot become a number.
        """
        readings: list[SampleReading] = []
        roots: list[int] = []
        outer = CURRENT.reading
        try:
            for sample in samples:
                reading = SampleReading(self.kinds, self.inputs, self.max_depth, self.max_calls)
                CURRENT.reading = reading
                roots.append(self._root(reading, sample, len(readings)))
                readings.append(reading)
        finally:
            CURRENT.reading = outer
        self.latest = self._table(readings, roots)
        return self.latest

    def _root(self, reading: SampleReading, sample: Any, place: int) -> int:
        """Return the number of the call whose value is the result of ``sample``."""
        try:
            root = self.function(sample, *reading.inputs)
        except RecursionError:
            raise GraphError(
                f"sample {place} is nested deeper than Python's functions can be, or contains "
                "itself.",
                source=user_source(),
                hint="Does a node have one of its ancestors as a child?",
            ) from None
        if not isinstance(root, FoldValue):
            raise GraphError(
                f"{self.name}() must return the value of a batched function, but for sample "
                f"{place} it returned {type(root).__name__} {root!r:.60}.",
                source=user_source(),
                hint="Decorate the functions that it calls with @pg.batched.",
            )
        if root.reading is not reading:
            raise GraphError(
                f"{self.name}() returned a value of another sample, or of another Fold.",
                source=user_source(),
            )
        self._roots.add(root.kind.number)
        return root.row

    def _table(self, readings: Sequence[SampleReading], roots: Sequence[int]) -> Array:
        """Return the calls of all samples; see ops/joined/table.py."""
        # np.repeat takes no int64 where addresses have 32 bits, as in a page
        counts = np.asarray([len(reading.kinds_of) for reading in readings], np.intp)
        calls = SMALLEST
        while calls < counts.max(initial=0):
            calls *= 2
        columns = self.shape[-1]
        table = np.zeros((len(readings) * calls, columns), np.int32)
        starts = np.arange(len(readings)) * calls
        rows = np.repeat(starts, counts) + _within(counts)
        codes = np.asarray([kind.code for kind in self.kinds], np.int32)
        widths = np.asarray([kind.width for kind in self.kinds], np.intp)
        kinds = _joined([reading.kinds_of for reading in readings])
        table[rows, 0] = codes[kinds]
        table[rows, 1] = _joined([reading.depths for reading in readings])
        table[starts + np.asarray(roots, np.intp), 2] = 1
        lengths = widths[kinds]
        numbers = _joined([reading.numbers for reading in readings])
        table[np.repeat(rows, lengths), COLUMNS + _within(lengths)] = numbers
        return table.reshape(len(readings), calls, columns)

    def __call__(self, table: Any, *inputs: Any, name: str | None = None) -> Any:
        """Return the results of samples that `read` has read.

        Args:
            table: what `read` returned, or a batch of it: (samples, calls, columns).
            inputs: tensors (samples, ...), as many as the Fold has.
            name: the name scope of the operations.

        Returns:
            What the last call of each sample returned, with a row for each sample.

        Raises:
            GraphError: no samples have been read, or the number of inputs is wrong. A function
                writes a variable, draws random numbers, or mixes the rows of several calls.
            ShapeError, DTypeError: values that are the same argument of a function differ.
        """
        source = user_source()
        if not len(self.kinds):
            raise GraphError(
                f"the Fold of {self.name}() has not read samples, so its calls are unknown.",
                source=source,
                hint="Call fold.read(samples) before the graph is built.",
            )
        if len(inputs) != self.inputs:
            raise GraphError(
                f"the Fold of {self.name}() has {self.inputs} inputs, got {len(inputs)}.",
                source=source,
            )
        graph = graph_of(table, *inputs)
        tensors = [as_tensor(each, graph) for each in (table, *inputs)]
        note_use(self.kinds)
        with graph.as_default(), graph.name_scope(name or "fold") as prefix:
            specs = specs_of(tensors[1:])
            recordings = self._recordings(graph, prefix, specs, source)
            captures = list(dict.fromkeys(t for each in recordings for t in each.captures))
            kinds = _described(list(self.kinds), recordings, captures)
            root = min(self._roots)
            attrs = {"kinds": [k.to_json() for k in kinds], "inputs": len(inputs), "root": root}
            node = graph.add(JOINED_CALLS, [*tensors, *captures], attrs, source=source)
            for described, recording in zip(kinds, recordings, strict=True):
                expect_rows_apart(described.label, described.function, recording)
            results = node.outputs[: len(recordings[root].outputs)]
            return rebuild(recordings[root].result, list(results))

    def _recordings(self, graph: Graph, prefix: str, inputs: Sequence[TensorSpec],
                    source: tuple[str, int] | None) -> list[Recording]:  # fmt: skip
        """Return what the function of each kind adds to ``graph``."""
        done: list[Recording] = []
        kinds = list(self.kinds)
        for kind in kinds:
            taken = [done[number] for number in kind.first_producers()]
            values = iter(taken)
            specs: list[TensorSpec] = []
            for form, *detail in kind.forms:
                if form == "value":
                    specs += specs_of(next(values).outputs)
                elif form == "input":
                    specs.append(TensorSpec((None, *inputs[detail[0]].shape[1:]),
                                            inputs[detail[0]].dtype))  # fmt: skip
                elif form == "number":
                    specs.append(TensorSpec((None, *detail[1]), detail[0]))
            scope = f"{prefix}{graph.unique_name(kind.label)}/"
            recording = recorded(graph, scope, kind, specs, [each.result for each in taken])
            recording.source = recording.source or source
            done.append(recording)
        for kind in kinds:
            firsts = kind.first_producers()
            for producers in kind.producers:
                for first, other in zip(firsts, producers, strict=True):
                    if first != other:
                        pair = (done[first], done[other])
                        expect_same_value(*pair, kind, kinds[first], kinds[other])
        first = min(self._roots)
        for other in self._roots - {first}:
            expect_same_value(done[first], done[other], kinds[first], kinds[first], kinds[other])
        return done


def _described(
    kinds: Sequence[CallKind], recordings: Sequence[Recording], captures: Sequence[Tensor]
) -> list[JoinedKind]:
    """Return the kinds as attributes of the operation."""
    types: dict[Any, int] = {}
    places = {tensor: place for place, tensor in enumerate(captures)}
    described: list[JoinedKind] = []
    for kind, recording in zip(kinds, recordings, strict=True):
        form = (_structure(recording.result), tuple(specs_of(recording.outputs)))
        firsts = iter(kind.first_producers())
        arguments = [
            ["value", next(firsts)] if form[0] == "value" else _plain(form)
            for form in kind.forms
            if form[0] != "fixed"
        ]
        described.append(
            JoinedKind(
                kind.title,
                kind.code,
                to_text(recording, recording.captures),
                arguments,
                [places[tensor] for tensor in recording.captures],
                types.setdefault(form, len(types)),
            )
        )
    return described


def _structure(result: Any) -> str:
    """Return how the tensors of a result are nested, as text."""
    if isinstance(result, dict):
        return "{" + ",".join(f"{key}:{_structure(part)}" for key, part in result.items()) + "}"
    if isinstance(result, (list, tuple)):
        return "[" + ",".join(map(_structure, result)) + "]"
    return "None" if result is None else "tensor"


def _plain(form: Sequence[Any]) -> list[Any]:
    return [list(part) if isinstance(part, tuple) else part for part in form]


def _joined(lists: Sequence[list[int]]) -> Array:
    """Return the numbers of all lists, one after the other."""
    return np.fromiter(chain.from_iterable(lists), np.int32, sum(map(len, lists)))


def _within(counts: Array) -> Array:
    """Return 0, 1, ... for each of ``counts``, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)
