"""Data sets that stay on a device when the session that put them there is closed.

A page runs a program again and again, mostly on the same data. The next session takes the buffer,
and what it writes is sent only if it differs from what is there: all bytes are compared with a
copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

LEAST_BYTES = 1 << 20
"""Less is sent again as fast as it is compared."""


class Snapshot(Protocol):
    """A copy of bytes, as they were written."""

    content: Any

    def same(self, data: bytes | memoryview) -> bool:
        """Whether ``data`` is just that."""
        ...


@dataclass
class _Held:
    size: int
    in_use: bool = True
    trusted: bool = True
    snapshot: Snapshot | None = None


class KeptData:
    """Buffers of one device, each for one array.

    Args:
        take_snapshot: copies what is going to be written.
        room: bytes that may be held for no session; what was held longest goes first.
    """

    def __init__(self, take_snapshot: Callable[[bytes | memoryview], Snapshot], room: int) -> None:
        self._take_snapshot = take_snapshot
        self.room = room
        self._held: dict[int, _Held] = {}

    def __contains__(self, buffer: int) -> bool:
        return buffer in self._held

    def wants(self, size: int) -> bool:
        """Whether a buffer of ``size`` bytes is worth keeping."""
        return LEAST_BYTES <= size <= self.room

    def take(self, size: int) -> int | None:
        """A buffer of ``size`` bytes that no session uses, with whatever is in it."""
        for buffer, held in self._held.items():
            if held.size == size and not held.in_use:
                held.in_use = held.trusted = True
                return buffer
        return None

    def add(self, buffer: int, size: int) -> None:
        """Take note of a new buffer, in use."""
        self._held[buffer] = _Held(size)

    def write(self, buffer: int, data: bytes | memoryview, send: Callable[[Any], object]) -> None:
        """Have ``data``, all of the buffer, sent if it is not there already."""
        held = self._held[buffer]
        if held.snapshot is not None and held.snapshot.same(data):
            return
        held.snapshot = None  # whatever interrupts what follows
        if not held.trusted:
            send(data)
            return
        snapshot = self._take_snapshot(data)
        send(snapshot.content)
        held.snapshot = snapshot

    def spoil(self, buffer: int) -> None:
        """Kernels of this session may write to it: nobody knows what is there."""
        if buffer in self._held:
            self._held[buffer].trusted = False
            self._held[buffer].snapshot = None

    def release(self, buffer: int) -> list[int]:
        """The session that used a buffer is done with it; returns buffers that are to go for it."""
        self._held[buffer].in_use = False
        gone: list[int] = []
        for candidate, held in list(self._held.items()):
            if self.idle()[1] <= self.room:
                break
            if not held.in_use:
                del self._held[candidate]
                gone.append(candidate)
        return gone

    def drop_idle(self) -> list[int]:
        """Give up what no session uses; returns the buffers."""
        gone = [buffer for buffer, held in self._held.items() if not held.in_use]
        for buffer in gone:
            del self._held[buffer]
        return gone

    def idle(self) -> tuple[int, int]:
        """How many buffers no session uses, and their bytes."""
        sizes = [held.size for held in self._held.values() if not held.in_use]
        return len(sizes), sum(sizes)
