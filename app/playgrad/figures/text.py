"""Figures as text, for terminals."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.figures.series import floats

Array = np.ndarray[Any, Any]
Figure = dict[str, Any]

_WIDTH, _HEIGHT = 64, 14
_MARKS = "•×+o*#%@"
_SHADES = " .:-=+*#%@"


def as_text(figure: Figure) -> str:
    """Return a figure as lines of text."""
    lines = _plot(figure) if figure["shows"] == "plot" else _picture(figure)
    title = [figure["title"]] if figure["title"] else []
    return "\n".join([*title, *lines])


def describe(figure: Figure) -> str:
    """Return what a figure shows in a sentence."""
    name = f"{figure['title']}: " if figure["title"] else ""
    if figure["shows"] == "plot":
        return name + "; ".join(map(_describe_series, figure["series"]))
    count, height, width = figure["count"], figure["height"], figure["width"]
    size = f"{height} × {width}"
    what = f"a picture of {size}" if count == 1 else f"{count} pictures of {size}"
    ends = f", from {figure['low']:.4g} to {figure['high']:.4g}"
    text = name + what + (" in colour" if figure["scale"] == "colour" else ends)
    return f"{text} ({figure['note']})" if figure["note"] else text


def _describe_series(series: Figure) -> str:
    y = floats(series["y"])
    finite = y[np.isfinite(y)]
    points = f"{series['total']:,} point{'s' if series['total'] != 1 else ''}"
    name = f"{series['label']}, " if series["label"] else ""
    if not finite.size:
        return f"{name}{points}, none of which is a number"
    return f"{name}{points} from {finite.min():.4g} to {finite.max():.4g}, last {finite[-1]:.4g}"


def _plot(figure: Figure) -> list[str]:
    series = [(each["label"], floats(each["x"]), floats(each["y"])) for each in figure["series"]]
    marked = [(label, x, y, np.isfinite(x) & np.isfinite(y)) for label, x, y in series]
    if not any(shown.any() for *_, shown in marked):
        return [describe({**figure, "title": ""})]
    left, right = _ends([x[shown] for _, x, _, shown in marked])
    low, high = _ends([y[shown] for _, _, y, shown in marked])
    canvas = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for number, (_, x, y, shown) in enumerate(marked):
        columns = _cells(x[shown], left, right, _WIDTH)
        rows = _cells(y[shown], low, high, _HEIGHT)
        for column, row in zip(columns, rows, strict=True):
            canvas[_HEIGHT - 1 - row][column] = _MARKS[number % len(_MARKS)]
    labels = [f"{high:.4g}", *[""] * (_HEIGHT - 2), f"{low:.4g}"]
    margin = max(map(len, labels))
    lines = [
        f"{label:>{margin}} │{''.join(row).rstrip()}"
        for label, row in zip(labels, canvas, strict=True)
    ]
    ends = f"{left:.4g}", f"{right:.4g}"
    axis = f"{ends[0]}{figure['x_label']:^{max(1, _WIDTH - len(ends[0]) - len(ends[1]))}}{ends[1]}"
    lines += [f"{'':{margin}} └{'─' * _WIDTH}", f"{'':{margin}}  {axis}"]
    names = [f"{_MARKS[i % len(_MARKS)]} {label}" for i, (label, *_) in enumerate(series) if label]
    return [*lines, "   ".join(names)] if names else lines


def _ends(columns: list[Array]) -> tuple[float, float]:
    numbers = np.concatenate(columns)
    return float(numbers.min()), float(numbers.max())


def _cells(values: Array, low: float, high: float, cells: int) -> Array:
    # Halves, because the difference of the ends may be too large for a float.
    part = (
        (values / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.full(len(values), 0.5)
    )
    return np.clip((part * cells).astype(int), 0, cells - 1)


def _picture(figure: Figure) -> list[str]:
    """Return a sentence, and the first picture in shades of characters."""
    height, width, channels = figure["height"], figure["width"], figure["channels"]
    size = height * width * channels
    first = np.frombuffer(figure["pixels"][:size], np.uint8).reshape(height, width, channels)
    grey = first[..., : min(channels, 3)].mean(axis=2)
    stride = -(-width // (_WIDTH // 2))  # a character is twice as tall as it is wide
    shades = (grey[::stride, ::stride] * len(_SHADES) / 256).astype(int)[: _WIDTH // 2]
    rows = ["".join(_SHADES[shade] * 2 for shade in row).rstrip() for row in shades]
    return [describe({**figure, "title": ""}), *rows]
