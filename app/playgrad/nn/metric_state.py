"""The state of metrics that a training loop of its own updates batch by batch."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.eager import assign_values, at_once, graph_mode, is_building
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.arrays.join import stack
from playgrad.ops.elementwise.definitions import cast, equal, where
from playgrad.ops.reductions.reduce import reduce_sum
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]


@dataclass
class BatchSums:
    """The sums of metrics in a step that is being built.

    Attributes:
        of: by the states of the metrics that the step has updated.
        missing: the names of metrics whose results it has taken without updating them.
    """

    of: dict[MetricState, Tensor] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


class _OfBatches(threading.local):
    """The sums over one batch, if `fit` takes the means over the batches itself."""

    sums: BatchSums | None = None


_of_batches = _OfBatches()


@contextmanager
def values_of_batches() -> Iterator[BatchSums]:
    """Let metrics have the values of the batch of the step that is being built, and no state."""
    before, sums = _of_batches.sums, BatchSums()
    _of_batches.sums = sums
    try:
        yield sums
    finally:
        _of_batches.sums = before


class MetricState:
    """Sums of numbers of samples, and the sum of the samples' weights.

    They are variables, so that functions of ``pg.function`` can update them as well.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._sums: dict[Graph, Variable] = {}
        self._new: Tensor | None = None

    def add(self, parts: Sequence[Tensor], weight: Any = None) -> None:
        """Add numbers of samples, each (batch,) or (batch, n), with their weights (batch,)."""
        with at_once(*parts):
            first = parts[0] if parts[0].spec.rank == 1 else parts[0][:, 0]
            weights = cast(first * 0.0 + 1.0 if weight is None else first * 0.0 + weight, "float32")
            columns: list[Tensor] = []
            for part in parts:
                split = [part] if part.spec.rank == 1 else _columns(part)
                columns += [reduce_sum(cast(each, "float32") * weights) for each in split]
            self._add(stack([*columns, reduce_sum(weights)]))

    def _add(self, sums: Tensor) -> None:
        batch = _of_batches.sums
        if batch is not None:
            batch.of[self] = batch.of[self] + sums if self in batch.of else sums
            return
        graph = sums.graph if is_building() or not self._sums else next(iter(self._sums))
        if graph not in self._sums:
            self._sums[graph] = self._variable(graph, sums.spec.static_shape)
        new = self._sums[graph].assign_add(sums)
        self._new = new if is_building() else None

    def _variable(self, graph: Graph, shape: Sequence[int]) -> Variable:
        with (
            graph_mode(),
            graph.as_default(),
            graph.reenter_scope(""),
            graph.control_dependencies(None),
            graph.device(None),
            graph.phase("variable"),
        ):
            return Variable(fill(tuple(shape), 0.0), f"{self._name}_sums", trainable=False)

    def means_of_batch(self) -> Tensor | None:
        """Return the means (n,) over the batch of the step that is being built.

        None if no step is being built, or if it has not updated the metric.
        """
        sums = None if _of_batches.sums is None else _of_batches.sums.of.get(self)
        if sums is None:
            return None
        count = sums[-1]
        return sums[:-1] / where(equal(count, 0.0), 1.0, count)

    def mean_tensor(self) -> Tensor:
        """Return the mean of one number, while a function or a step is being built.

        It is 0 in a step that has not updated the metric, as in Keras.

        Raises:
            GraphError: a function has not updated it, or it has several numbers.
        """
        batch = _of_batches.sums
        if batch is not None:
            means = self.means_of_batch()
            if means is not None:
                return means[0]
            batch.missing.append(self._name)
            return fill((), 0.0)
        if self._new is None or self._new.shape != (2,):
            raise GraphError(
                f"the result of {self._name} is not known while a function is being built.",
                hint="Call update_state() first, or result() outside of the function.",
            )
        return self._new[0] / self._new[1]

    def means(self) -> tuple[list[float], float]:
        """Return the means of the numbers, and the sum of the weights."""
        if not self._sums:
            return [], 0.0
        total = np.sum([variable.numpy() for variable in self._sums.values()], axis=0)
        count = float(total[-1])
        return [float(each) / count if count else 0.0 for each in total[:-1]], count

    def reset(self) -> None:
        """Set all sums to 0."""
        self._new = None
        for variable in self._sums.values():
            assign_values({variable: np.zeros(variable.shape, np.float32)})


def _columns(part: Tensor) -> list[Tensor]:
    return [part[:, i] for i in range(part.shape[1] or 0)]
