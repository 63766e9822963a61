"""The processor time of a process and of all that it started, from Linux's ``/proc``."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_PARENT, _USER, _SYSTEM = 1, 11, 12
"""Fields of ``/proc/<pid>/stat`` after the name; see proc(5)."""


def processor_seconds() -> float | None:
    """Return the seconds of this process' descendants that run; None on other systems."""
    if not Path("/proc/self/stat").exists():
        return None
    children: dict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                children[int(fields[_PARENT])].append(int(entry.name))
                ticks[int(entry.name)] = int(fields[_USER]) + int(fields[_SYSTEM])
    waiting, total = list(children[os.getpid()]), 0
    while waiting:
        process = waiting.pop()
        total += ticks[process]
        waiting += children[process]
    return total / os.sysconf("SC_CLK_TCK")
