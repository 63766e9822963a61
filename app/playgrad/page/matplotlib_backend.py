"""matplotlib's backend in the page: Agg draws the figures, and `show` puts them into the output.

matplotlib imports it by the name in ``MPLBACKEND`` (`packages`).
"""

from __future__ import annotations

import io
import math
from typing import Any

# matplotlib is in the page only, once a program imports it.
from matplotlib._pylab_helpers import Gcf  # type: ignore[import-not-found]
from matplotlib.backend_bases import FigureManagerBase  # type: ignore[import-not-found]
from matplotlib.backends.backend_agg import FigureCanvasAgg  # type: ignore[import-not-found]
from matplotlib.collections import PathCollection  # type: ignore[import-not-found]

from playgrad.runtime.hooks import get_hooks

_SCALE = 2.0
"""Pixels for each one of the figure, for screens that have them."""
_MOST_PIXELS = 4e6
_MOST_BYTES = 4 << 20
_MOST_AXES = 100
_MOST_LABELS = 20


class FigureManager(FigureManagerBase):
    """Shows figures in the output."""

    def show(self) -> None:
        get_hooks().figure(described(self.canvas.figure))

    @classmethod
    def pyplot_show(cls, *, block: bool | None = None) -> None:
        """Show all figures, and close them, as their windows would be."""
        for manager in Gcf.get_all_fig_managers():
            manager.show()
        if block is not False:
            Gcf.destroy_all()


class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager


def show_open_figures() -> None:
    """Show figures that the program has not shown, as a notebook does at the end of a cell."""
    FigureManager.pyplot_show()


def described(figure: Any) -> dict[str, Any]:
    """Return a figure as the page draws it: a PNG, and a description of its content."""
    width, height = figure.get_size_inches() * figure.dpi
    scale = min(_SCALE, math.sqrt(_MOST_PIXELS / (width * height)))
    png = _drawn(figure, scale)
    while len(png) > _MOST_BYTES:  # noise, which does not compress
        scale /= 2
        png = _drawn(figure, scale)
    return {
        "shows": "image",
        "title": figure.get_suptitle(),
        "width": round(width),
        "height": round(height),
        "axes": [_axes(each) for each in figure.axes[:_MOST_AXES]],
        "png": png,
    }


def _drawn(figure: Any, scale: float) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=scale * figure.dpi)
    return content.getvalue()


def _axes(axes: Any) -> dict[str, Any]:
    """Return the texts of one plot, and how much of each kind is in it."""
    points = [each for each in axes.collections if isinstance(each, PathCollection)]
    counts = {
        "lines": len(axes.lines),
        "images": len(axes.images),
        "points": sum(len(each.get_offsets()) for each in points),
        "shapes": len(axes.patches) + len(axes.collections) - len(points),
    }
    labels = axes.get_legend_handles_labels()[1][:_MOST_LABELS]
    title, x_label, y_label = axes.get_title(), axes.get_xlabel(), axes.get_ylabel()
    return {"title": title, "x_label": x_label, "y_label": y_label, **counts, "labels": labels}
