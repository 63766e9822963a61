"""The memory that this process can still get from the system."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

MEMORY_OF = "this machine"
"""The owner of the memory, for messages."""

_GROUP = Path("/sys/fs/cgroup")
_NO_LIMIT = 1 << 60


def free_memory(needed: int) -> int | None:
    """Return the bytes that this process can still get; None if the system does not tell.

    It is the least of the free memory and of the memory that limits leave, of a container or of
    the process (``ulimit -v``).

    Args:
        needed: ignored; other hosts have to ask for memory to find out.
    """
    return min(_amounts(), default=None)


def _amounts() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, KeyError):
        fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        yield 1024 * int(fields["MemAvailable"].split()[0])
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):  # ValueError: "max", without limit
            most = int((_GROUP / limit).read_text())
            if most < _NO_LIMIT:
                yield most - int((_GROUP / used).read_text()) + _reclaimable((_GROUP / used).parent)
    yield from _left_by_limits()
    if sys.platform != "linux":
        with contextlib.suppress(OSError, ValueError, AttributeError):
            # Free memory has no portable name; what the machine has at all is an upper bound.
            yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _reclaimable(group: Path) -> int:
    """Return the bytes of the group's file cache, which the system gives up when asked."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        fields = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return int(fields["inactive_file"])
    return 0


def _left_by_limits() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        with contextlib.suppress(OSError, ValueError):
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield most - pages * resource.getpagesize()
