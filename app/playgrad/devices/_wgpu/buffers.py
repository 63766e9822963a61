"""The storage buffers of one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wgpu

from playgrad.devices.base import round_up

STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
STAGING = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
MAX_IDLE_STAGING = 16 << 20
"""A larger staging buffer is freed after each read."""

Span = tuple[Any, int, int]
"""(buffer, byte offset, number of bytes)"""


def padded(size: int) -> int:
    """Round ``size`` up to whole words, the unit of copies and queue writes."""
    return max(round_up(size, 4), 4)


class BufferPool:
    """Storage buffers by id. Ids are never reused.

    Attributes:
        bytes, peak_bytes: total size of all buffers, now and at most, without the staging buffer.
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        self._buffers: dict[int, Any] = {}
        self._next_id = 1
        self._staging: Any = None
        self.bytes = self.peak_bytes = 0

    def __len__(self) -> int:
        return len(self._buffers)

    def __getitem__(self, key: int) -> Any:
        return self._buffers[key]

    def create(self, size: int) -> int:
        """Create a zeroed buffer of ``size`` bytes; return its id."""
        buffer = self._device.create_buffer(size=padded(size), usage=STORAGE)
        key = self._next_id
        self._next_id += 1
        self._buffers[key] = buffer
        self.bytes += buffer.size
        self.peak_bytes = max(self.peak_bytes, self.bytes)
        return key

    def destroy(self, key: int) -> None:
        buffer = self._buffers.pop(key)
        self.bytes -= buffer.size
        buffer.destroy()

    def clear(self) -> None:
        """Destroy all buffers."""
        for key in list(self._buffers):
            self.destroy(key)
        self._drop_staging()

    def write(self, buffer: Any, offset: int, data: Any) -> None:
        view = memoryview(data)
        if view.nbytes % 4:
            view = memoryview(view.tobytes() + bytes(-view.nbytes % 4))
        if view.nbytes:
            self._device.queue.write_buffer(buffer, offset, view)

    def read(self, spans: Sequence[Span], before: Sequence[Any] = ()) -> list[bytes]:
        """Return the bytes of each span, at least one in all, with one copy and one wait.

        Args:
            before: command buffers that are submitted with the copy, in front of it.
        """
        total = sum(round_up(size, 4) for _, _, size in spans)
        staging = self._staging_of(total)
        encoder = self._device.create_command_encoder()
        position = 0
        for buffer, offset, size in spans:
            if size:
                encoder.copy_buffer_to_buffer(buffer, offset, staging, position, round_up(size, 4))
            position += round_up(size, 4)
        self._device.queue.submit([*before, encoder.finish()])
        staging.map_sync(wgpu.MapMode.READ, 0, total)
        everything = staging.read_mapped(0, total)
        staging.unmap()
        if staging.size > MAX_IDLE_STAGING:
            self._drop_staging()
        parts = []
        position = 0
        for _, _, size in spans:
            parts.append(bytes(everything[position : position + size]))
            position += round_up(size, 4)
        return parts

    def _staging_of(self, size: int) -> Any:
        """Return a staging buffer of at least ``size`` bytes, reused from read to read."""
        if self._staging is None or self._staging.size < size:
            self._drop_staging()
            self._staging = self._device.create_buffer(size=size, usage=STAGING)
        return self._staging

    def _drop_staging(self) -> None:
        if self._staging is not None:
            self._staging.destroy()
            self._staging = None
