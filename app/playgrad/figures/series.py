"""Numbers as series of points, thinned so that any number of them can be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from playgrad.errors import ShapeError
from playgrad.figures.values import as_numbers

Array = np.ndarray[Any, Any]
Figure = dict[str, Any]

STYLES = ("line", "points")
MOST_SERIES = 16
MOST_POINTS = 4000
"""Of one series. Of more, the lowest and the highest point of each part are drawn."""


def series_plot(
    x: Any, y: Any, label: Any, title: str, style: str, x_label: str, y_label: str
) -> Figure:
    """Return a figure of one or several series; see `playgrad.plot`.

    Args:
        x: None for 0, 1, 2, ...

    Raises:
        ShapeError: x and y have different lengths, or there are too many series.
        DTypeError: they are not numbers.
        ValueError: there is no such style, or there are not as many labels as series.
    """
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, got {style!r}.")
    columns = _columns(y)
    if len(columns) > MOST_SERIES:
        raise ShapeError(
            f"{len(columns):,} series are too many for one plot, which takes {MOST_SERIES}.",
            hint="In an array (points, series), each column is a series.",
        )
    labels = _labels(columns, label)
    places = None if x is None else as_numbers(x, "x").astype(np.float64)
    if places is not None and places.ndim != 1:
        raise ShapeError(f"x must have one dimension, got shape {places.shape}.")
    return {
        "shows": "plot",
        "title": title,
        "style": style,
        "x_label": x_label,
        "y_label": y_label,
        "series": [
            _series(name, places, values) for name, (_, values) in zip(labels, columns, strict=True)
        ],
    }


def _columns(y: Any) -> list[tuple[str, Array]]:
    """Return the series with the names that they have."""
    if isinstance(y, Mapping):
        if not y:
            raise ShapeError("y is empty: a dict without series.")
        named = [(str(name), as_numbers(values, f"y[{name!r}]")) for name, values in y.items()]
    else:
        array = as_numbers(y, "y")
        if array.ndim == 2:
            return [("", column.astype(np.float64)) for column in array.T]
        named = [("", array)]
    for name, array in named:
        if array.ndim > 1:
            place = f"y[{name!r}]" if name else "y"
            raise ShapeError(
                f"{place} has shape {array.shape}.",
                hint="Pass (points,) or (points, series); pg.show draws arrays as pictures.",
            )
    return [(name, array.reshape(-1).astype(np.float64)) for name, array in named]


def _labels(columns: Sequence[tuple[str, Array]], label: Any) -> list[str]:
    if label is None:
        names = [name for name, _ in columns]
        return names if len(names) == 1 or any(names) else [str(i) for i in range(len(names))]
    labels = [label] if isinstance(label, str) else [str(each) for each in label]
    if len(labels) != len(columns):
        raise ValueError(f"there are {len(labels)} labels for {len(columns)} series.")
    return labels


def _series(label: str, x: Array | None, y: Array) -> Figure:
    if x is not None and len(x) != len(y):
        raise ShapeError(f"x has {len(x):,} values, but y has {len(y):,}.")
    kept = _kept(y)
    places = kept.astype(np.float64) if x is None else x[kept]
    return {
        "label": label,
        "x": places.astype("<f8").tobytes(),
        "y": y[kept].astype("<f8").tobytes(),
        "total": len(y),
    }


def _kept(y: Array) -> Array:
    """Return the positions of the points to draw, in order, with the extremes of each part."""
    if len(y) <= MOST_POINTS:
        return np.arange(len(y))
    edges = np.linspace(0, len(y), MOST_POINTS // 2 + 1).astype(int)
    kept = set()
    for start, end in pairwise(edges):
        part = y[start:end]
        finite = np.flatnonzero(np.isfinite(part))
        if finite.size:
            numbers = part[finite]
            kept |= {start + finite[numbers.argmin()], start + finite[numbers.argmax()]}
        else:
            kept.add(start)  # a gap stays one
    return np.array(sorted(kept | {0, len(y) - 1}))


def floats(content: bytes) -> Array:
    """Return the numbers that a series holds as bytes."""
    return np.frombuffer(content, "<f8")
