"""The weights of samples in the loss, and the samples that are set apart for validation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from playgrad.errors import DataError, shape_text

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Samples:
    """Samples that fit the model.

    Attributes:
        xs, ys: inputs and targets.
        weights: one float32 array (samples,) or (samples, steps), or none if all weigh the same.
    """

    xs: list[Array]
    ys: list[Array]
    weights: list[Array]

    @property
    def count(self) -> int:
        return len(self.xs[0])

    @property
    def arrays(self) -> list[Array]:
        """Inputs, targets, weights."""
        return [*self.xs, *self.ys, *self.weights]

    def split(self, fraction: float) -> tuple[Samples, Samples]:
        """Return the first samples, and the last ``fraction`` of them.

        Raises:
            DataError: one of the two would be empty.
        """
        first = math.floor(self.count * (1.0 - fraction))
        if not 0 < first < self.count:
            raise DataError(
                f"validation_split={fraction:g} of {self.count} samples leaves no samples to "
                f"{'validate' if first else 'train'} with."
            )
        return self.part(slice(None, first)), self.part(slice(first, None))

    def part(self, rows: slice) -> Samples:
        """Return some of the samples."""
        return Samples(*([a[rows] for a in part] for part in (self.xs, self.ys, self.weights)))


def check_validation_split(fraction: Any, has_validation_data: bool) -> None:
    """Raise DataError unless ``fraction`` is from 0 to below 1, and the only validation data."""
    if not isinstance(fraction, Real) or not 0.0 <= float(fraction) < 1.0:
        raise DataError(f"validation_split must be at least 0 and below 1, got {fraction!r}.")
    if fraction and has_validation_data:
        raise DataError(
            "validation_split and validation_data exclude each other.", hint="Pass one of them."
        )


def sample_weights(
    ys: Sequence[Array],
    class_weight: Mapping[int, float] | None,
    sample_weight: Any,
    what: str = "sample_weight",
) -> list[Array]:
    """Return the weights of samples as a list of one array, or of none.

    Args:
        ys: the targets.
        class_weight: weights by class; the other classes weigh 1.
        sample_weight: an array (samples,), or (samples, steps) for targets of that shape, or of a
            longer one that begins so.
        what: the name of ``sample_weight`` in errors.

    Raises:
        DataError: both are given, the targets are not classes, or a weight is not a finite number
            of at least 0 for each sample or step.
    """
    if class_weight is not None and sample_weight is not None:
        raise DataError("class_weight and sample_weight exclude each other.")
    if class_weight is not None:
        return [_of_classes(ys, class_weight)]
    if sample_weight is None:
        return []
    weights = np.asarray(sample_weight)
    count = len(ys[0])
    if weights.shape == (count, 1):
        weights = weights.reshape(-1)
    fits = weights.ndim > 0 and all(weights.shape == y.shape[: weights.ndim] for y in ys)
    if not fits or weights.dtype.kind not in "fiub":
        raise DataError(
            f"{what} must hold a number for each of the {count} samples, but its shape is "
            f"{shape_text(weights.shape)}.",
            hint="For each step of sequences, pass (samples, steps), as the targets have.",
        )
    _check_weights(weights, what)
    return [np.ascontiguousarray(weights, np.float32)]


def _of_classes(ys: Sequence[Array], class_weight: Mapping[int, float]) -> Array:
    if len(ys) != 1:
        raise DataError(
            f"class_weight needs a model with one output, this one has {len(ys)}.",
            hint="Pass sample_weight.",
        )
    y = ys[0]
    if y.ndim > 2:
        raise DataError(f"class_weight needs one class per sample, not {shape_text(y.shape[1:])}.")
    labels = y.argmax(axis=1) if y.ndim == 2 and y.shape[1] > 1 else y.reshape(-1)
    _check_weights(np.asarray(list(class_weight.values()), np.float64), "class_weight")
    weights = np.ones(len(labels), np.float32)
    for label, weight in class_weight.items():
        weights[labels == label] = weight
    return weights


def _check_weights(weights: Array, what: str) -> None:
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError(f"{what} must hold finite numbers of at least 0.")
