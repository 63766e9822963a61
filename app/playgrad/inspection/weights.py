"""Weights of layers: statistics, and pictures of a bounded size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
MOST_UNITS, MOST_INPUTS = 64, 12
"""Of filters: the pictures that are shown, one for each pair of an output and an input channel."""
MOST_SIDE = 128
"""Rows and columns of a matrix that are shown."""
IMAGE_SIDE = 40
"""A unit's weights of all pixels of a larger image are not drawn as images."""


@dataclass(frozen=True)
class WeightStatistics:
    """Some numbers about one weight of a layer.

    Attributes:
        name: in the layer: "kernel".
        shape: of the array.
        mean, deviation: the mean, and the standard deviation around it.
        smallest, largest: the range.
        norm: the root of the sum of squares.
        zeros: the share of elements that are exactly 0.
    """

    name: str
    shape: tuple[int, ...]
    mean: float
    deviation: float
    smallest: float
    largest: float
    norm: float
    zeros: float


@dataclass(frozen=True)
class WeightPicture:
    """A weight as pictures: rows × columns of them, each height × width values.

    Attributes:
        layout: "filters" has a row for each unit; "matrix" is one picture, a column for each unit.
        values: float32, (rows, columns, height, width).
        units: the numbers of the units that are shown.
        total_units: how many there are.
        inputs, total_inputs: likewise, of the inputs: channels of filters, rows of a matrix.
        norms: of all weights of each unit that is shown.
    """

    layout: Literal["filters", "matrix"]
    values: Array
    units: list[int]
    total_units: int
    inputs: int
    total_inputs: int
    norms: list[float]


def statistics(name: str, value: Array) -> WeightStatistics:
    """Return the statistics of a weight, computed in double precision."""
    if not value.size:
        return WeightStatistics(name, value.shape, 0, 0, 0, 0, 0, 0)
    with np.errstate(all="ignore"):
        numbers = value.astype(np.float64)
        return WeightStatistics(
            name,
            tuple(value.shape),
            float(numbers.mean()),
            float(numbers.std()),
            float(numbers.min()),
            float(numbers.max()),
            float(np.sqrt((numbers**2).sum())),
            float((numbers == 0).mean()),
        )


def spread(count: int, most: int) -> Array:
    """Return at most ``most`` numbers below ``count``, evenly spread."""
    shown = min(count, most)
    return np.arange(shown) * count // max(shown, 1)


def picture(value: Array, image: tuple[int, int] | None = None) -> WeightPicture | None:
    """Return a weight as pictures; None if it has no elements.

    Args:
        image: (height, width) if the matrix's first axis enumerates pixels, else None.
    """
    if not value.size:
        return None
    value = value.astype(np.float32)
    if value.ndim == 4:
        return _filters(np.moveaxis(value, (3, 2), (0, 1)))
    matrix = value.reshape(-1, value.shape[-1]) if value.ndim > 1 else value.reshape(1, -1)
    if image is not None and math.prod(image) == len(matrix) and max(image) <= IMAGE_SIDE:
        return _filters(matrix.T.reshape(-1, 1, *image))
    units, rows = spread(matrix.shape[1], MOST_SIDE), spread(len(matrix), MOST_SIDE)
    shown = matrix[np.ix_(rows, units)]
    return WeightPicture(
        "matrix",
        np.ascontiguousarray(shown[None, None]),
        units.tolist(),
        matrix.shape[1],
        len(rows),
        len(matrix),
        _norms(matrix[:, units].T),
    )


def _filters(filters: Array) -> WeightPicture:
    """Return pictures of filters (outputs, inputs, height, width)."""
    units, inputs = spread(len(filters), MOST_UNITS), spread(filters.shape[1], MOST_INPUTS)
    return WeightPicture(
        "filters",
        np.ascontiguousarray(filters[np.ix_(units, inputs)]),
        units.tolist(),
        len(filters),
        len(inputs),
        filters.shape[1],
        _norms(filters[units].reshape(len(units), -1)),
    )


def _norms(rows: Array) -> list[float]:
    with np.errstate(all="ignore"):
        norms: list[float] = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1)).tolist()
    return norms
