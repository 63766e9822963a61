"""Silence for tasks and timers that a program leaves behind, once the next one begins.

The next program has an interpreter of its own, unless none could be started.
"""

from __future__ import annotations

import asyncio
import sys
from contextvars import ContextVar
from typing import Any

_program: ContextVar[int | None] = ContextVar("program", default=None)
"""The number of the program that code belongs to: a task has the context of its creation.

None if unknown, as in a thread or in an empty context.
"""
_last = 0
_former: dict[int, dict[str, Any]] = {}
"""The empty namespaces of earlier programs by their ids: a timer of the browser has no context."""
LOOP_IS_OWN = sys.platform == "emscripten"
"""Whether programs have the event loop for themselves; elsewhere others may run tasks in it."""


def begin_program(former: dict[str, Any]) -> None:
    """Cancel the tasks of earlier programs, and let no output of theirs through from now on.

    Args:
        former: the namespace of the last program, which is cleared.
    """
    global _last
    _last += 1
    if former:
        former.clear()
        _former[id(former)] = former
    _program.set(_last)
    if LOOP_IS_OWN:
        loop = asyncio.get_event_loop()  # where JavaScript calls Python, it may not be running
        for task in asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
            task.cancel()


def is_left_behind() -> bool:
    """Return whether the code that runs is known to belong to a program before the last one."""
    return _program.get() not in (None, _last) or (bool(_former) and _runs_in(_former))


def _runs_in(namespaces: dict[int, dict[str, Any]]) -> bool:
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if id(frame.f_globals) in namespaces:
            return True
    return False
