"""Whether a program runs faster if threads share its work, found out while it runs.

Sharing never changes a result. It loses where other programs keep the cores busy: a thread that has
taken a chunk may then have to wait for a core.
"""

from __future__ import annotations

from collections import deque
from statistics import median

_WARM_UP = 2
"""Runs of each way that do not count: browsers compile code better once it has run."""
_KEPT = 5
"""Runs of each way that are compared: the last ones."""
_AGAIN = 40
"""Runs after which the way that has lost is tried again."""


class ThreadChoice:
    """Chooses for each run whether threads share it."""

    def __init__(self) -> None:
        self._runs = 0
        self._seconds: dict[bool, deque[float]] = {
            way: deque(maxlen=_KEPT) for way in (True, False)
        }

    def shares(self) -> bool:
        """Return whether threads are to share the next run."""
        if self._runs < 2 * (_WARM_UP + _KEPT):
            return self._runs % 2 == 0
        shared, alone = (median(self._seconds[way]) for way in (True, False))
        return (shared < alone) != (self._runs % _AGAIN == 0)

    def measured(self, shared: bool, seconds: float) -> None:
        """Note how long a step took."""
        if self._runs >= 2 * _WARM_UP:
            self._seconds[shared].append(seconds)
        self._runs += 1
