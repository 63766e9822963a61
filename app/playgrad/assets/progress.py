"""Progress of downloads: a bar on a terminal, elsewhere a line for each file."""

from __future__ import annotations

import shutil
import time
from typing import TextIO

_REDRAW_SECONDS = 0.1
_WIDTH = 30


class DownloadProgress:
    """Shows on ``stream`` how many bytes of an asset have arrived."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self._total = 0
        self._finished = 0
        self._drawn_at = 0.0
        self._open = False

    def begin(self, title: str, source: str, size: int) -> None:
        """Announce that ``size`` bytes of ``title`` are fetched from ``source``."""
        self._total, self._finished = size, 0
        self.note(f"fetching {title} ({size_text(size)}) from {source}")

    def advance(self, name: str, received: int) -> None:
        """Draw the bar with ``received`` bytes of the file ``name``."""
        now = time.perf_counter()
        if not self.is_terminal or now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._drawn_at = now
        self._draw(name, self._finished + received)

    def finish(self, name: str, size: int) -> None:
        """Count the file ``name`` of ``size`` bytes as done."""
        self._finished += size
        if self.is_terminal:
            self._draw(name, self._finished)
        else:
            print(f"  {name} ({size_text(size)})", file=self.stream, flush=True)

    def note(self, text: str) -> None:
        """Print a line of ``text``."""
        self.close()
        print(f"playgrad: {text}", file=self.stream, flush=True)

    def close(self) -> None:
        """Remove the bar from the terminal."""
        if self._open:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self._open = False

    def _draw(self, name: str, received: int) -> None:
        self._open = True
        sizes = f"{received / 1e6:.1f}/{size_text(self._total)}"
        line = f"{draw_bar(received, self._total, _WIDTH)} {sizes}  {name}"
        self.stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
        self.stream.flush()


def draw_bar(done: int, total: int, width: int) -> str:
    """``[###.....]``, ``width`` characters between the brackets."""
    full = width * done // total
    return f"[{'#' * full}{'.' * (width - full)}]"


def size_text(size: int) -> str:
    """``9.6 MB`` or ``18 kB``."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
