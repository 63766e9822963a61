"""Output streams of the user's program, sent to the page in portions."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

HOLD_SECONDS = 0.03
"""Otherwise a program that prints in a loop would post tens of thousands of messages a second."""

Emit = Callable[[dict[str, Any]], None]


class Stream(io.TextIOBase):
    """A stream that sends text to the page at once, but at most every ``HOLD_SECONDS``.

    Args:
        kind: "stdout" or "stderr".
    """

    def __init__(self, kind: str, emit: Emit) -> None:
        self.kind = kind
        self._emit = emit
        self._held: list[str] = []
        self._sent = 0.0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self._held.append(text)
            if time.perf_counter() - self._sent >= HOLD_SECONDS:
                self.flush()
        return len(text)

    def flush(self) -> None:
        """Send the text held back."""
        if self._held:
            text, self._held = "".join(self._held), []
            self._sent = time.perf_counter()
            self._emit({"kind": self.kind, "text": text})
