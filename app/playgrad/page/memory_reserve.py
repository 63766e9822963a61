"""Memory that is reserved for the work after a program, or made ready for the next one."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

_BYTES = 32 << 20
_PAGE_BYTES = 4096


class MemoryReserve:
    """Holds memory while the program runs, and lets go of it at the end.

    A program can fill all of Python's memory and keep it. The page is still told of the error, and
    its questions about the trained model are still answered.
    """

    def __enter__(self) -> None:
        self._held: object = np.empty(_BYTES, np.uint8)

    def __exit__(self, *error: object) -> None:
        self._held = None


def touch_memory(size: int) -> None:
    """Let the operating system provide ``size`` bytes for the next program's data.

    The first access to each page is slow: several times as slow as copying data into it. If there
    is not as much memory, nothing happens.
    """
    with suppress(MemoryError), MemoryReserve():
        np.empty(size, np.uint8)[::_PAGE_BYTES] = 0
