"""Output streams of the user's program, sent to the page in portions of bounded size."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

from playgrad.page.left_behind import is_left_behind

HOLD_SECONDS = 0.03
"""Otherwise a program that prints in a loop would post tens of thousands of messages a second."""
WINDOW_SECONDS = 0.25
FIRST_CHARACTERS = 200_000
"""The most that is sent at once in a window of time. Of more, the last part follows at its end."""
LAST_CHARACTERS = 50_000
MOST_FLUSHES = 20
"""The most messages in a window that the program can force by flushing."""

Emit = Callable[[dict[str, Any]], None]


class Stream(io.TextIOBase):
    """A stream that sends text to the page at once, but at most every ``HOLD_SECONDS``.

    Of a flood, the page gets the first and the last part of each window of time, and the number of
    characters between them. No more than that is held in memory.

    Args:
        kind: "stdout" or "stderr".
    """

    def __init__(self, kind: str, emit: Emit) -> None:
        self.kind = kind
        self._emit = emit
        self._first: list[str] = []
        self._last = ""
        self._left_out = 0  # characters between `_first` and `_last`
        self._room = FIRST_CHARACTERS
        self._window = 0.0
        self._sent = 0.0
        self._flushes = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        """Send or hold ``text``, unless it is of a program before the last one.

        Raises:
            TypeError: it is not a string.
        """
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        text = str.__str__(text)  # a subclass may do anything
        if is_left_behind():
            return len(text)
        now = time.perf_counter()
        if now - self._window >= WINDOW_SECONDS:
            self._begin_window(now)
        self._hold(text)
        if not self._last and now - self._sent >= HOLD_SECONDS:
            self.send()
        return len(text)

    def flush(self) -> None:
        """Send the text held back, unless the program flushes all the time."""
        if not self._last and self._flushes < MOST_FLUSHES:
            self._flushes += 1
            self.send()

    def send(self) -> None:
        """Send the text held back."""
        if not self._first and not self._last:
            return
        event: dict[str, Any] = {"kind": self.kind, "text": "".join(self._first)}
        if self._left_out:
            event |= {"left_out": self._left_out, "end": self._last}
        else:
            event["text"] += self._last
        self._first, self._last, self._left_out = [], "", 0
        self._sent = time.perf_counter()
        self._emit(event)

    def _begin_window(self, now: float) -> None:
        # After a flood the next window gives no room: if it continues, its end is enough.
        is_flood = self._left_out > 0
        self.send()
        self._room = 0 if is_flood else FIRST_CHARACTERS
        self._window, self._flushes = now, 0

    def _hold(self, text: str) -> None:
        room = self._room
        if room:
            self._first.append(text[:room])
            self._room -= len(self._first[-1])
        excess = len(text) - room
        if excess > LAST_CHARACTERS:
            self._left_out += len(self._last) + excess - LAST_CHARACTERS
            self._last = text[-LAST_CHARACTERS:]
        elif excess > 0:
            last = self._last + text[room:]
            if len(last) > 2 * LAST_CHARACTERS:
                self._left_out += len(last) - LAST_CHARACTERS
                last = last[-LAST_CHARACTERS:]
            self._last = last
