"""Normalization of a model's inputs by the moments of its data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.core.build import constant, one_or_more
from playgrad.records import LayerRecord

Array = np.ndarray[Any, Any]
_LEAST_DEVIATION = 1e-7
"""The smallest divisor, for features that are all the same."""


class Normalization(Layer):
    """Shift and scale features to mean 0 and variance 1: ``(inputs - mean) / sqrt(variance)``.

    Mean and variance are passed, or computed from data by ``adapt`` before the first call. They do
    not change in training. Inputs (batch, ...), result of the same shape.

    Args:
        axis: the axis of the features, or several, or None for one mean and variance of all values.
        mean: the mean of each feature, or one of all; with ``variance``, in place of ``adapt``.
        variance: their variances.
        invert: whether to undo it: ``inputs * sqrt(variance) + mean``.

    Raises:
        GraphError: only one of ``mean`` and ``variance`` is passed.
        ShapeError: an axis is that of the batch.
    """

    kind = "normalization"
    record = LayerRecord(
        keras="Normalization",
        torch="feature_normalization",
    )
    passes_mask = True

    def __init__(
        self,
        axis: int | Sequence[int] | None = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.axis = axis if axis is None or isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise GraphError(
                "Normalization: pass both mean and variance, or neither.",
                source=self.source,
            )
        if 0 in self._axes:
            raise ShapeError("axis of Normalization must not be 0, the batch.", source=self.source)
        self.mean = _plain(mean)
        self.variance = _plain(variance)
        self.invert = bool(invert)

    @property
    def _axes(self) -> tuple[int, ...]:
        return () if self.axis is None else tuple(int(n) for n in one_or_more(self.axis))

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Take mean and variance from ``data``, in place of any before.

        Args:
            data: an array (samples, ...), or a `playgrad.data.Dataset` or another iterable of such
                batches; of batches that are pairs (x, y), x.
            batch_size: must be None: arrays are taken whole.
            steps: the number of batches of a data set to use; None for all.

        Raises:
            GraphError: the layer has been called.
            DataError: there are no samples, or a value is NaN or infinite.
        """
        if self.built:
            raise GraphError(
                f"layer '{self.name}' has been called: its mean and variance can no longer change.",
                op=self.name,
                source=self.source,
                hint="Call adapt() before the layer.",
            )
        if batch_size is not None:
            raise DataError("batch_size of adapt must be None.", hint="Pass a batched data set.")
        is_array = isinstance(data, np.ndarray | list | tuple)
        if is_array and steps is not None:
            raise DataError("steps is for data sets; arrays are taken whole.")
        self.mean, self.variance = self._moments([data] if is_array else data, steps)

    def _moments(self, batches: Iterable[Any], steps: int | None) -> tuple[Any, Any]:
        """Return mean and variance, combined as by Chan, Golub and LeVeque 1979."""
        count, mean, squares = 0, np.float64(0.0), np.float64(0.0)
        for i, batch in enumerate(batches):
            if i == steps:
                break
            x = np.asarray(batch[0] if isinstance(batch, tuple) else batch, np.float64)
            if x.ndim == 0 or not np.isfinite(x).all():
                raise DataError(
                    "the data of adapt must be batches of finite numbers (samples, ...)."
                )
            others = self._others(x.shape)
            number = int(np.prod([x.shape[n] for n in others]))
            if not number:
                continue
            centre = x.mean(axis=others)
            spread = np.square(x - np.expand_dims(centre, others)).sum(axis=others)
            both = count + number
            squares = squares + spread + np.square(centre - mean) * (count * number / both)
            mean = mean + (centre - mean) * (number / both)
            count = both
        if not count:
            raise DataError("the data of adapt has no samples.")
        return _plain(mean), _plain(squares / count)

    def _others(self, shape: Shape) -> tuple[int, ...]:
        """Return the axes that are not feature axes."""
        rank = len(shape)
        if any(not -rank <= axis < rank or axis % rank == 0 for axis in self._axes):
            raise ShapeError(
                f"Normalization along axis {self.axis} does not fit data of shape "
                f"{shape_text(shape)}: it has no such axis after the batch."
            )
        kept = {axis % rank for axis in self._axes}
        return tuple(n for n in range(rank) if n not in kept)

    def build(self, *shapes: Shape) -> None:
        if self.mean is None:
            raise GraphError(
                f"layer '{self.name}' does not know the mean and variance of its inputs.",
                hint="Call adapt(data) first, or pass mean and variance.",
            )
        others = self._others(shapes[0])
        sizes = [1 if n in others else self.known(shapes[0], n) for n in range(len(shapes[0]))]
        for value in (self.mean, self.variance):
            array = np.asarray(value)
            if array.size != 1 and array.size != int(np.prod(sizes)):
                raise ShapeError(
                    f"layer '{self.name}' has the moments of {array.size} features, but its inputs "
                    f"{shape_text(shapes[0])} have {int(np.prod(sizes))}."
                )

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        mean, deviation = self.moments(x.shape)
        if self.invert:
            return x * constant(deviation, x.dtype) + constant(mean, x.dtype)
        return (x - constant(mean, x.dtype)) / constant(deviation, x.dtype)

    def moments(self, shape: Shape) -> tuple[Array, Array]:
        """Return mean and standard deviation as they are broadcast to inputs of this shape.

        An infinite one is NaN: a division by it would give 0.
        """
        mean, root = self._beside(self.mean, shape), np.sqrt(self._beside(self.variance, shape))
        return mean, np.where(np.isinf(root), np.nan, np.maximum(root, _LEAST_DEVIATION))

    def _beside(self, value: Any, shape: Shape) -> Array:
        others = self._others(shape)
        array = np.asarray(value, np.float64)
        if array.size == 1:
            return array.reshape(())
        return array.reshape([1 if n in others else shape[n] for n in range(1, len(shape))])


def _plain(value: Any) -> Any:
    """Return ``value`` as numbers and lists, which configurations hold."""
    return None if value is None else np.asarray(value, np.float64).tolist()
