"""Progress of training: a bar on a terminal, and a line for each epoch."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from typing import Any, TextIO

from playgrad.assets.progress import draw_bar

_REDRAW_SECONDS = 0.1
_MAX_WIDTH = 30


class ProgressBar:
    """Shows the events of training on ``stream``."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self.epochs = 1
        self._drawn_at = 0.0
        self._open = False

    def show(self, event: dict[str, Any]) -> None:
        """Update the display after ``event``.

        Training continues if that is impossible, on a full disk for example.
        """
        with suppress(OSError):
            self._show(event)

    def _show(self, event: dict[str, Any]) -> None:
        kind = event["kind"]
        if kind == "fit_begin":
            self.epochs = event["epochs"]
        elif kind == "progress" and self.is_terminal:
            now = time.perf_counter()
            finished = event["step"] == event["total_steps"]
            if finished or now - self._drawn_at >= _REDRAW_SECONDS:
                self._drawn_at = now
                self._draw(progress_line(event, self.epochs, shutil.get_terminal_size().columns))
        elif kind == "epoch_end":
            self.close()
            print(epoch_line(event, self.epochs), file=self.stream, flush=True)
        elif kind == "rating":
            self.close()
            print(rating_line(event), file=self.stream, flush=True)

    def close(self) -> None:
        """Remove the bar from the terminal."""
        if self._open:
            self._open = False
            with suppress(OSError):
                self._write("")

    def _draw(self, text: str) -> None:
        self._open = True
        self._write(text)

    def _write(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()


def progress_line(event: dict[str, Any], epochs: int, columns: int) -> str:
    """Return a line of at most ``columns`` - 1 characters."""
    step, total = event["step"], event["total_steps"]
    _, loss, accuracy = event["points"][-1]
    remaining = event["eta_seconds"]
    facts = [
        f"{step}/{total}" if total else f"step {step}",
        f"loss {loss:.4f}",
        *([] if accuracy is None else [f"accuracy {accuracy:.3f}"]),
        f"{event['steps_per_second']:.1f} steps/s",
        *([] if remaining is None else [f"{clock(remaining)} left"]),
    ]
    head, tail = f"epoch {event['epoch']}/{epochs} ", "  ".join(facts)
    width = min(columns - len(head) - len(tail) - 4, _MAX_WIDTH)
    if width < 5 or not total:
        return f"{head}{tail}"[: columns - 1]
    return f"{head}{draw_bar(step, total, width)} {tail}"


def epoch_line(event: dict[str, Any], epochs: int) -> str:
    """Return a line with the losses and metrics of an epoch."""
    names = ("loss", "accuracy", "test_loss", "test_accuracy")
    numbers = [
        f"{name.replace('_', ' ')} {event[name]:.4f}" for name in names if event[name] is not None
    ]
    return f"epoch {event['epoch']}/{epochs}: {', '.join(numbers)} ({event['seconds']:.1f} s)"


def clock(seconds: float) -> str:
    """Return minutes and seconds, ``1:05``, or hours, minutes and seconds, ``1:00:05``."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rating_line(event: dict[str, Any]) -> str:
    """Return a line about a match of a player that learns from its own games."""
    best = ", the best so far" if event["is_best"] else ""
    generation, games = f"{event['generation']:,}", f"{event['games']:,}"
    return f"Elo {round(event['elo'])} after generation {generation}, {games} games{best}"
