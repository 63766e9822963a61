"""Times of kernels, from timestamps that the GPU writes around each of them."""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from typing import Any

import wgpu

from playgrad.devices._wgpu.program import Dispatch

FEATURE = "timestamp-query"
MOST_QUERIES = 4096
"""The most timestamps in one query set, by WebGPU's rules."""
_CALIBRATION_SECONDS = 0.02
_EXACT = 0.05
"""Share by which a tick may differ from a nanosecond, WebGPU's unit, and be taken for one."""


class KernelClock:
    """The clock of one GPU.

    wgpu-native passes on the GPU's ticks, which are nanoseconds on most GPUs, but not on all, and
    does not say how long they are. So their length is measured.
    """

    def __init__(self, device: Any) -> None:
        self._device = device
        self._seconds_of_tick = self._calibrated()

    @staticmethod
    def is_offered_by(device: Any) -> bool:
        return FEATURE in device.features

    def times(self, dispatches: Sequence[Dispatch]) -> list[tuple[float, float]]:
        """Run ``dispatches`` in order; return the beginning and the end of each, in seconds."""
        times: list[tuple[float, float]] = []
        most = MOST_QUERIES // 2
        for first in range(0, len(dispatches), most):
            times += self._timed(dispatches[first : first + most])
        return times

    def _timed(self, dispatches: Sequence[Dispatch]) -> list[tuple[float, float]]:
        ticks = self._ticks(dispatches)
        seconds = [tick * self._seconds_of_tick for tick in ticks]
        return list(zip(seconds[::2], seconds[1::2], strict=True))

    def _ticks(self, dispatches: Sequence[Dispatch | None]) -> Sequence[int]:
        """Run each of ``dispatches`` in a pass between two timestamps, which are returned; a pass
        for None is empty."""
        count = 2 * len(dispatches)
        device = self._device
        queries = device.create_query_set(type=wgpu.QueryType.timestamp, count=count)
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        resolved = device.create_buffer(size=8 * count, usage=usage)
        try:
            encoder = device.create_command_encoder()
            for number, dispatch in enumerate(dispatches):
                compute = encoder.begin_compute_pass(
                    timestamp_writes={
                        "query_set": queries,
                        "beginning_of_pass_write_index": 2 * number,
                        "end_of_pass_write_index": 2 * number + 1,
                    }
                )
                if dispatch is not None:
                    pipeline, group, x, y, z = dispatch
                    compute.set_pipeline(pipeline)
                    compute.set_bind_group(0, group)
                    compute.dispatch_workgroups(x, y, z)
                compute.end()
            encoder.resolve_query_set(queries, 0, count, resolved, 0)
            device.queue.submit([encoder.finish()])
            return struct.unpack(f"<{count}Q", device.queue.read_buffer(resolved))
        finally:
            resolved.destroy()
            queries.destroy()

    def _calibrated(self) -> float:
        """Return the seconds of a tick."""
        self._ticks([None])  # the first one takes longer
        before = time.perf_counter()
        first = self._ticks([None])[1]
        between = time.perf_counter()
        time.sleep(_CALIBRATION_SECONDS)
        last = self._ticks([None])[1]
        after = time.perf_counter()
        ticks = last - first
        if ticks <= 0:
            return 1e-9
        longest, shortest = (after - before) / ticks, _CALIBRATION_SECONDS / ticks
        if shortest * (1 - _EXACT) <= 1e-9 <= longest * (1 + _EXACT):
            return 1e-9
        return (after - between) / ticks
