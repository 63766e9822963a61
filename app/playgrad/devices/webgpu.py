"""A GPU: arrays in and out of buffers, and Plans loaded and replayed, on any WebGPU host."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from playgrad.devices.base import ExecuteResult, Execution, Host, Plan, Read, Write
from playgrad.devices.data_cache import DataCache
from playgrad.devices.device import Device, Guarded, Range, ReplayResult
from playgrad.devices.pending import Result, Then
from playgrad.dtypes import dtype, from_device_bytes, to_device_bytes
from playgrad.errors import KernelError, OutOfMemoryError

Array = np.ndarray[Any, Any]
MOST_READ_BYTES = 16 << 20
"""The most that one call reads. In the page, staging buffers up to this size are used again."""
MOST_WRITTEN_BYTES = 16 << 20
"""The most that one call writes, unless one array is larger: each is copied on the way."""


class WebGpuDevice(Device):
    """An opened GPU.

    Args:
        cache: keeps data sets from one session to the next; None to keep none.
    """

    host: Host

    def __init__(self, name: str, host: Host, cache: DataCache | None = None) -> None:
        super().__init__(name, host)
        self._cache = cache
        if cache is not None:
            for buffer, kept in host.kept.items():
                cache.adopt(buffer, kept)

    def write_all(self, writes: Sequence[tuple[int, int, Array]]) -> None:
        """Write several arrays, in as few round trips as their size allows."""
        together: list[Write] = []
        size = 0
        with self.guarded():
            for buffer, offset, array in writes:
                data = to_device_bytes(array)
                if self._cache is not None and buffer in self._cache:
                    self._cache.write(buffer, data, partial(self._upload_alone, buffer, offset))
                    continue
                if together and size + len(data) > MOST_WRITTEN_BYTES:
                    self.host.execute(Execution(writes=together))
                    together, size = [], 0
                together.append((buffer, offset, data))
                size += len(data)
            if together:
                self.host.execute(Execution(writes=together))

    def _upload_alone(self, buffer: int, offset: int, content: Any) -> None:
        self.host.execute(Execution(writes=[(buffer, offset, content)]))

    def read_all(self, ranges: Sequence[Range]) -> list[Array]:
        reads = [
            (each.buffer, each.offset, dtype(each.dtype).device_bytes(math.prod(each.shape)))
            for each in ranges
        ]
        with self.guarded():
            contents = (
                part
                for group in _divided(reads)
                for part in self.host.execute(Execution(reads=group)).data
            )
            arrays = []
            for each, (_, _, size) in zip(ranges, reads, strict=True):
                parts = [next(contents) for _ in _parts(0, size)]
                data = parts[0] if len(parts) == 1 else b"".join(parts)
                arrays.append(from_device_bytes(data, each.dtype, each.shape))
        return arrays

    def expect(self, plan: Plan) -> None:
        with self.guarded():
            self.host.expect(plan)

    def create_buffer(self, size: int) -> int:
        """Create a buffer; cached data sets are freed if there is not enough memory otherwise."""
        try:
            return super().create_buffer(size)
        except OutOfMemoryError:
            if not self.clear_cache():
                raise
            return super().create_buffer(size)

    def create_data_buffer(self, size: int) -> int | None:
        """Create a buffer for one data set, or take a cached one; None if data is not cached."""
        if self._cache is None or not self._cache.accepts(size):
            return None
        buffer = self._cache.take(size)
        if buffer is None:
            buffer = self.create_buffer(size)
            self._cache.add(buffer, size)
        return buffer

    def destroy_buffer(self, buffer: int) -> None:
        """Destroy a buffer, or return it to the data cache."""
        evicted = [buffer]
        if self._cache is not None and buffer in self._cache:
            evicted = self._cache.release(buffer)
        for each in evicted:
            super().destroy_buffer(each)

    def clear_cache(self) -> bool:
        """Free the cached data sets that no session uses; return whether there were any."""
        evicted = [] if self._cache is None else self._cache.evict_idle()
        for buffer in evicted:
            super().destroy_buffer(buffer)
        return bool(evicted)

    def stats(self) -> dict[str, int]:
        """Return the host's statistics, with idle buffers of the data cache counted separately:
        ``cached_buffers``, ``cached_bytes``."""
        stats = self.host.stats()
        buffers, size = (0, 0) if self._cache is None else self._cache.idle()
        stats["buffers"] -= buffers
        stats["bytes"] -= size
        return stats | {"cached_buffers": buffers, "cached_bytes": size}

    def load(self, plan: Plan, external: Mapping[str, int]) -> LoadedPlan:
        if self._cache is not None:
            for key in _written_keys(plan):
                self._cache.untrack(external[key])
        with self.guarded():
            return LoadedPlan(self, plan, self.host.load(plan, external))


def _parts(offset: int, size: int) -> list[tuple[int, int]]:
    """Return offset and size of each part of a read, none larger than ``MOST_READ_BYTES``."""
    starts = range(0, max(size, 1), MOST_READ_BYTES)
    return [(offset + start, min(MOST_READ_BYTES, size - start)) for start in starts]


def _divided(reads: Sequence[tuple[int, int, int]]) -> Iterator[list[Read]]:
    """Divide ``reads`` into groups of at most ``MOST_READ_BYTES``; larger ones into parts."""
    group: list[Read] = []
    total = 0
    for buffer, offset, size in reads:
        for start, length in _parts(offset, size):
            if group and total + length > MOST_READ_BYTES:
                yield group
                group, total = [], 0
            group.append((buffer, start, length))
            total += length
    if group:
        yield group


def _written_keys(plan: Plan) -> set[str]:
    """Return the keys of the external buffers that ``plan`` writes to."""
    keys = {buffer["id"]: buffer["external"] for buffer in plan["buffers"] if "external" in buffer}
    access = {kernel["id"]: kernel["access"] for kernel in plan["kernels"]}
    written = set()
    for command in plan["commands"]:
        bound = zip(command["bindings"], access[command["kernel"]], strict=True)
        written |= {binding[0] for binding, allowed in bound if allowed != "read"}
    return {keys[number] for number in written if number in keys}


class LoadedPlan:
    """A Plan on a GPU, ready to be replayed; implements `playgrad.devices.device.Loaded`."""

    def __init__(self, device: WebGpuDevice, plan: Plan, program: int) -> None:
        self.device = device
        self.plan = plan
        self.program = program
        self.begun: set[int] = set()
        self._unfed: dict[tuple[int | None, tuple[str, ...]], Execution] = {}

    def run(
        self,
        segment: int,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> ReplayResult:
        host = self.device.host
        host.stop_requested = stop
        execution = self._execution(segment, feeds, fetches, steps)
        with self.device.guarded():
            result = host.execute(execution)
        return ReplayResult(self._arrays(fetches, result), result.steps_done, result.seconds)

    def start(self) -> None:
        # Kernels write to variables in place, except where a gate forbids it.
        self.begun.clear()

    def commit(self) -> None:
        """Do nothing: the variables hold what was written already."""

    def begin(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        last: bool = False,
    ) -> Result[dict[str, Array]]:
        host = self.device.host
        host.stop_requested = None
        execution = self._execution(segment, feeds, fetches)
        if segment is not None:
            self.begun.add(segment)
        with self.device.guarded():
            begun = host.begin(execution)
        return Then(Guarded(self.device, begun), lambda result: self._arrays(fetches, result))

    def time_kernels(self, segment: int) -> list[tuple[float, float]] | None:
        """Replay ``segment`` once with timestamps; see `Host.time_kernels`."""
        self.begun.add(segment)
        with self.device.guarded():
            return self.device.host.time_kernels(self.program, segment)

    def _execution(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
    ) -> Execution:
        key = segment, tuple(fetches)
        if not feeds and key in self._unfed:
            unfed = self._unfed[key]
            return unfed if steps == 1 else unfed._replace(steps=steps)
        program, number = (None, 0) if segment is None else (self.program, segment)
        writes, reads = self._writes(feeds), self._reads(fetches)
        if segment is not None:
            writes += [(buffer, offset, bytes(size)) for buffer, offset, size in self._alarms()]
            reads += self._alarms()
        execution = Execution(program, number, 1, writes, reads)
        if not feeds:
            self._unfed[key] = execution
        return execution if steps == 1 else execution._replace(steps=steps)

    def _writes(self, feeds: Mapping[str, Array]) -> list[Write]:
        writes: list[Write] = []
        for name, array in feeds.items():
            slot = self.plan["feeds"][name]
            writes.append(((self.program, slot["buffer"]), slot["offset"], to_device_bytes(array)))
        return writes

    def _reads(self, fetches: Sequence[str]) -> list[Read]:
        slots = [self.plan["fetches"][name] for name in fetches]
        return [((self.program, slot["buffer"]), slot["offset"], _bytes(slot)) for slot in slots]

    def _alarms(self) -> list[Read]:
        return [((self.program, a["buffer"]), a["offset"], 4) for a in self.plan.get("alarms", ())]

    def _arrays(self, fetches: Sequence[str], result: ExecuteResult) -> dict[str, Array]:
        """Return the fetched arrays.

        Raises:
            KernelError: the driver ended the loops of a kernel before their end.
        """
        slots = [self.plan["fetches"][name] for name in fetches]
        fetched, rest = result.data[: len(slots)], result.data[len(slots) :]
        alarms = zip(self.plan.get("alarms", ()), rest, strict=False)  # a run of nothing has none
        for alarm, data in alarms:
            if any(bytes(data)):
                raise KernelError(
                    f"{self.device.host.info.name} ended the loops in the WGSL of {alarm['op']!r} "
                    "before their end, as llvmpipe does after 65,535 rounds. The results, and "
                    "variables that the run updated, are wrong.",
                    op=alarm["node"],
                    hint="Divide the loop among more invocations or operations, or use "
                    "device='cpu'.",
                )
        return {
            name: from_device_bytes(data, slot["dtype"], tuple(slot["shape"]))
            for name, slot, data in zip(fetches, slots, fetched, strict=True)
        }

    def unload(self) -> None:
        self.device.release(lambda: self.device.host.unload(self.program))


def _bytes(slot: Mapping[str, Any]) -> int:
    return dtype(slot["dtype"]).device_bytes(math.prod(slot["shape"]))
