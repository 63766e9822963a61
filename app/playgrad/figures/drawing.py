"""`show` and `plot`: the functions that programs call."""

from __future__ import annotations

import os
from typing import Any, Literal

from playgrad.figures.pictures import pictures
from playgrad.figures.png import png_of
from playgrad.figures.series import series_plot
from playgrad.figures.svg import svg_of
from playgrad.figures.text import as_text
from playgrad.figures.values import as_numbers
from playgrad.io.whole_files import write_whole
from playgrad.io.writing import writing
from playgrad.runtime.hooks import get_hooks

Path = str | os.PathLike[str]


def show(
    array: Any,
    title: str = "",
    *,
    colours: Literal["auto", "grey", "diverging"] = "auto",
    low: float | None = None,
    high: float | None = None,
    save: Path | None = None,
) -> None:
    """Show an array or a tensor as a picture.

    In the page, the picture appears in the output, in order with the printed text. In a terminal,
    it is printed in shades of characters, and ``save`` writes it to a file.

    Args:
        array: ``(height, width)`` for one picture, ``(height, width, 3)`` or ``(…, 4)`` for one in
            colour (with opacity), ``(pictures, height, width)`` or ``(pictures, height, width,
            channels)`` for a grid; one dimension is a row. Colours are from 0 to 1 in floats, and
            from 0 to 255 in others.
        title: a line above the picture.
        colours: "grey" from black to white; "diverging" from negative to positive, with 0 in the
            middle; "auto" is "diverging" if there are negative values.
        low: the value that is black; by default the smallest, or 0 for bytes.
        high: the value that is white; by default the largest, or 255 for bytes.
        save: the name of a PNG file to write.

    Raises:
        ShapeError: the array is not a picture, or empty.
        DTypeError: it has values that are not real numbers.
        FeedError: the tensor depends on a placeholder.
        ValueError: an argument is not possible.
    """
    _check_file(save, ".png", "show")
    figure = pictures(as_numbers(array, "the array"), str(title), colours, low, high)
    if save is not None:
        _write(save, png_of(figure))
    _put_out(figure)


def plot(
    x: Any,
    y: Any = None,
    *,
    label: Any = None,
    title: str = "",
    style: Literal["line", "points"] = "line",
    x_label: str = "",
    y_label: str = "",
    save: Path | None = None,
) -> None:
    """Plot numbers as lines or points.

    In the page, the plot appears in the output, in order with the printed text. In a terminal, it
    is printed as text, and ``save`` writes it to a file. ``plot(y)`` counts its points from 0;
    ``plot(history.history)`` draws what ``fit`` returned.

    Args:
        x: the places of the points; without ``y``, the values.
        y: the values: ``(points,)``, ``(points, series)``, or a dict of several series by name. NaN
            and None leave a gap.
        label: the name of the series, or a list of names.
        title: a line above the plot.
        style: "line" or "points".
        x_label: the name of the horizontal axis.
        y_label: the name of the vertical axis.
        save: the name of an SVG file to write.

    Raises:
        ShapeError: ``x`` and ``y`` have different lengths, or there are too many series.
        DTypeError: there are values that are not real numbers.
        FeedError: a tensor depends on a placeholder.
        ValueError: an argument is not possible.
    """
    _check_file(save, ".svg", "plot")
    if y is None:
        x, y = None, x
    figure = series_plot(x, y, label, str(title), style, str(x_label), str(y_label))
    if save is not None:
        _write(save, svg_of(figure).encode())
    _put_out(figure)


def _check_file(name: Path | None, ending: str, function: str) -> None:
    if name is not None and not os.fspath(name).lower().endswith(ending):
        raise ValueError(f"{function} writes {ending} files, got save={os.fspath(name)!r}.")


def _write(name: Path, content: bytes) -> None:
    writing.once(lambda: write_whole(os.fspath(name), content))


def _put_out(figure: dict[str, Any]) -> None:
    """Have the observer show the figure; print it if there is none that can."""
    if not get_hooks().figure(figure):
        print(as_text(figure))
