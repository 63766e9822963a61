"""A limit on the figures that a program shows in the page: a loop may show thousands."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

WINDOW_SECONDS = 0.25
MOST_FIGURES = 6
"""The limit in a window of time."""
MOST_BYTES = 3 << 20
"""The limit in a window of time, except for a single figure."""

Figure = dict[str, Any]


class FigureLimit:
    """Passes figures on, and counts the ones that come too fast.

    Args:
        emit: sends a figure to the page.
        say: prints a sentence into the output.
    """

    def __init__(self, emit: Callable[[Figure], None], say: Callable[[str], None]) -> None:
        self._emit = emit
        self._say = say
        self._window = 0.0
        self._count = self._bytes = self._left_out = 0

    def show(self, figure: Figure) -> None:
        """Send a figure, or leave it out."""
        now = time.perf_counter()
        if now - self._window >= WINDOW_SECONDS:
            self.finish()
            self._window, self._count, self._bytes = now, 0, 0
        size = size_of(figure)
        full = self._count >= MOST_FIGURES or self._bytes + size > MOST_BYTES
        if self._left_out or (self._count and full):
            self._left_out += 1
            return
        self._count += 1
        self._bytes += size
        self._emit(figure)

    def finish(self) -> None:
        """Say how many figures were left out since the last one."""
        count, self._left_out = self._left_out, 0
        if count:
            what = f"{count:,} figures" if count > 1 else "a figure"
            self._say(f"… {what} left out: they came too fast …\n")


def size_of(figure: Figure) -> int:
    """Return the bytes of a figure's values."""
    series = sum(len(each["x"]) + len(each["y"]) for each in figure.get("series", ()))
    return series + len(figure.get("pixels", b"")) + len(figure.get("png", b""))
