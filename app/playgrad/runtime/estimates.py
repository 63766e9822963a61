"""Estimates of the memory that work needs, before it begins.

Without them a network that is too large fails late: the system ends the process, or the page's
Python runs out of memory after minutes of work.
"""

from __future__ import annotations

import gc

from playgrad.devices.this_host import this_host
from playgrad.errors import OutOfMemoryError
from playgrad.runtime.open_sessions import close_abandoned, open_sessions

_ALWAYS = 1 << 26
"""Work that needs no more than these bytes is not checked."""


def check_memory(needed: int, work: str, hint: str) -> None:
    """Check that ``needed`` bytes of the host's memory are free.

    Args:
        work: what needs them, the subject of the message.
        hint: what to do if they are not free.

    Raises:
        OutOfMemoryError: they are not, even after everything unused has been freed.
    """
    if needed <= _ALWAYS or _free(needed) >= needed:
        return
    gc.collect()
    close_abandoned()
    free = _free(needed)
    if free >= needed:
        return
    raise OutOfMemoryError(
        f"{work} takes about {size_text(needed)} of memory, but {this_host().MEMORY_OF} has "
        f"{size_text(max(free, 0))} left.",
        hint=f"{hint}{_sessions_text()}",
    )


def _free(needed: int) -> int:
    free: int | None = this_host().free_memory(needed)
    return needed if free is None else free


def _sessions_text() -> str:
    count = len(open_sessions)
    if count < 2:
        return ""
    return f" {count} sessions are open: close() the ones that are no longer needed."


def size_text(size: int) -> str:
    """Return a number of bytes with its unit, such as ``6.2 GB``."""
    if size >= 10**9:
        return f"{size / 1e9:,.1f} GB"
    return f"{size / 1e6:,.0f} MB" if size >= 10**6 else f"{size / 1e3:,.0f} kB"
