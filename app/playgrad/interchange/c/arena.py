"""Places in the arena: buffers that are not needed at the same time may share bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Buffer(NamedTuple):
    """Bytes that are needed from the step ``first`` to the step ``last``, both inclusive."""

    size: int
    first: int
    last: int


def places(buffers: Mapping[str, Buffer]) -> tuple[dict[str, int], int]:
    """Return the offset of each buffer, and the size of the arena.

    The largest buffers are placed first, each as low as possible (Pisarchyk & Lee 2020, "Efficient
    memory management for deep neural net inference", greedy by size).
    """
    offsets: dict[str, int] = {}
    for name, buffer in sorted(buffers.items(), key=lambda item: (-item[1].size, item[1].first)):
        taken = sorted(
            (offset, offset + buffers[other].size)
            for other, offset in offsets.items()
            if buffers[other].first <= buffer.last and buffer.first <= buffers[other].last
        )
        offset = 0
        for begin, end in taken:
            if offset + buffer.size <= begin:
                break
            offset = max(offset, end)
        offsets[name] = offset
    return offsets, max((offsets[name] + buffers[name].size for name in buffers), default=0)
