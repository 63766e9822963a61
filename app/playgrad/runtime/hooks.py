"""How a training loop talks to whoever is watching: the page, the command line, or nobody."""

from __future__ import annotations

import time
from typing import Any

from playgrad.runtime.trace import Trace

Event = dict[str, Any]
Request = dict[str, Any]


class Hooks:
    """What a watcher may do; this one does nothing. Training calls it between chunks of steps."""

    def emit(self, event: Event) -> None:
        """Take note of an event: ``{"kind": "progress", ...}``."""

    def fitting(self, model: Any) -> None:
        """Training of ``model`` is about to begin; it is compiled and has its variables."""

    def poll(self) -> list[Request]:
        """Requests that have arrived, such as ``{"kind": "pause"}``; returns at once."""
        return []

    def wait(self, timeout: float) -> None:
        """Wait up to ``timeout`` seconds for a request to arrive."""
        time.sleep(timeout)

    def stopped(self) -> bool:
        """Whether training should end; also asked between steps on the device."""
        return False

    def new_trace(self) -> Trace | None:
        """Asked before each chunk of training steps: a trace to collect the next step in (or the
        next few, where they belong together), or None for no more than running them."""
        return None

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        """What ``new_trace`` gave ``trace`` for has ended: so many steps, which took so long."""

    def serve(self, request: Request) -> None:
        """Answer a request that is not about training, such as a prediction."""


_current = Hooks()


def get_hooks() -> Hooks:
    """The hooks in force."""
    return _current


def set_hooks(hooks: Hooks) -> Hooks:
    """Put ``hooks`` in force and return those that were."""
    global _current
    before, _current = _current, hooks
    return before
