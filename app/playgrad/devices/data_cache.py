"""The data cache: buffers with data sets that outlive the session that uploaded them.

A page runs a program again and again, mostly on the same data. The next session takes over the
buffer, and data is uploaded only if it differs from the buffer's content, which is known from a
snapshot: all bytes are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

MIN_BYTES = 1 << 20
"""Smaller buffers are not cached: uploading them again takes no longer than comparing them."""


class Snapshot(Protocol):
    """A copy of bytes at the time they were uploaded."""

    content: Any

    def same(self, data: bytes | memoryview) -> bool:
        """Return whether ``data`` equals the copy."""
        ...


class KeptData(NamedTuple):
    """A data set in a buffer of ``size`` bytes that outlived the interpreter that uploaded it."""

    size: int
    snapshot: Snapshot


@dataclass
class _Entry:
    """A cached buffer.

    ``snapshot`` is its content, if that is known. It is not ``tracked`` once kernels of the session
    that uses it may have modified it: later uploads take no snapshot then.
    """

    size: int
    in_use: bool = True
    tracked: bool = True
    snapshot: Snapshot | None = None


class DataCache:
    """Buffers of one device, each with one data set.

    Args:
        take_snapshot: copies data before its upload.
        capacity: maximum bytes in buffers that no session uses; the oldest are evicted first.
    """

    def __init__(
        self, take_snapshot: Callable[[bytes | memoryview], Snapshot], capacity: int
    ) -> None:
        self._take_snapshot = take_snapshot
        self.capacity = capacity
        self._entries: dict[int, _Entry] = {}

    def __contains__(self, buffer: int) -> bool:
        return buffer in self._entries

    def accepts(self, size: int) -> bool:
        """Return whether buffers of ``size`` bytes are cached."""
        return MIN_BYTES <= size <= self.capacity

    def take(self, size: int) -> int | None:
        """Return an idle buffer of ``size`` bytes, content and all, and mark it as in use."""
        for buffer, entry in self._entries.items():
            if entry.size == size and not entry.in_use:
                entry.in_use = entry.tracked = True
                return buffer
        return None

    def add(self, buffer: int, size: int) -> None:
        """Add a new buffer, which is in use."""
        self._entries[buffer] = _Entry(size)

    def adopt(self, buffer: int, kept: KeptData) -> None:
        """Add a data set that an earlier program left on the device. No session uses it yet."""
        self._entries[buffer] = _Entry(kept.size, in_use=False, snapshot=kept.snapshot)

    def write(self, buffer: int, data: bytes | memoryview, upload: Callable[[Any], object]) -> None:
        """Call ``upload`` with ``data``, the whole content, unless the buffer already has it."""
        entry = self._entries[buffer]
        if entry.snapshot is not None and entry.snapshot.same(data):
            return
        entry.snapshot = None  # stays None if the upload is interrupted
        if not entry.tracked:
            upload(data)
            return
        snapshot = self._take_snapshot(data)
        upload(snapshot.content)
        entry.snapshot = snapshot

    def untrack(self, buffer: int) -> None:
        """Forget the content of a buffer, which kernels of this session may write to."""
        if buffer in self._entries:
            self._entries[buffer].tracked = False
            self._entries[buffer].snapshot = None

    def release(self, buffer: int) -> list[int]:
        """Mark a buffer as idle; return the buffers that are evicted to stay within capacity."""
        self._entries[buffer].in_use = False
        evicted: list[int] = []
        for candidate, entry in list(self._entries.items()):
            if self.idle()[1] <= self.capacity:
                break
            if not entry.in_use:
                del self._entries[candidate]
                evicted.append(candidate)
        return evicted

    def evict_idle(self) -> list[int]:
        """Remove all idle buffers and return them."""
        evicted = [buffer for buffer, entry in self._entries.items() if not entry.in_use]
        for buffer in evicted:
            del self._entries[buffer]
        return evicted

    def idle(self) -> tuple[int, int]:
        """Return the number of idle buffers and their total bytes."""
        sizes = [entry.size for entry in self._entries.values() if not entry.in_use]
        return len(sizes), sum(sizes)
