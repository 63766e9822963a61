"""Tasks that a program leaves in the event loop: when the next one begins, they end unheard.

The next program has an interpreter of its own, unless none could be started.
"""

from __future__ import annotations

import asyncio
import sys
from contextvars import ContextVar

_program: ContextVar[int] = ContextVar("program", default=0)
"""The number of the program that code belongs to: a task has the context of its creation."""
_last = 0
LOOP_IS_OWN = sys.platform == "emscripten"
"""Whether programs have the event loop for themselves; elsewhere others may run tasks in it."""


def begin_program() -> None:
    """Cancel the tasks of earlier programs, and let no output of theirs through from now on."""
    global _last
    _last += 1
    _program.set(_last)
    if LOOP_IS_OWN:
        loop = asyncio.get_event_loop()  # where JavaScript calls Python, it may not be running
        for task in asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
            task.cancel()


def is_of_last_program() -> bool:
    """Return whether the code that runs belongs to the program that began last."""
    return _program.get() == _last
