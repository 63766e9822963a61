"""A GPU: arrays in and out of buffers, and Plans loaded and replayed, over any WebGPU host."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.devices.base import ExecuteResult, Host, Plan, Read, Write
from playgrad.devices.data_cache import KeptData
from playgrad.devices.device import Device, Guarded
from playgrad.devices.pending import Result, Then
from playgrad.dtypes import dtype, from_device_bytes, to_device_bytes
from playgrad.errors import OutOfMemoryError

Array = np.ndarray[Any, Any]


class WebGpuDevice(Device):
    """One opened GPU.

    Args:
        kept: holds data sets from one session to the next; None where they are not to stay.
    """

    host: Host

    def __init__(self, name: str, host: Host, kept: KeptData | None = None) -> None:
        super().__init__(name, host)
        self._kept = kept

    def write(self, buffer: int, offset: int, array: Array) -> None:
        def send(content: Any) -> None:
            self.host.execute(None, writes=[(buffer, offset, content)])

        with self.guarded():
            data = to_device_bytes(array)
            if self._kept is not None and buffer in self._kept:
                self._kept.write(buffer, data, send)
            else:
                send(data)

    def read(self, buffer: int, offset: int, shape: tuple[int, ...], name: str) -> Array:
        size = dtype(name).device_bytes(math.prod(shape))
        with self.guarded():
            (data,) = self.host.execute(None, reads=[(buffer, offset, size)]).data
        return from_device_bytes(data, name, shape)

    def expect(self, plan: Plan) -> None:
        with self.guarded():
            self.host.expect(plan)

    def create_buffer(self, size: int) -> int:
        try:
            return super().create_buffer(size)
        except OutOfMemoryError:
            if not self.drop_kept():
                raise
            return super().create_buffer(size)

    def data_buffer(self, size: int) -> int | None:
        """A buffer of ``size`` bytes for one data set, which may stay for the next session when
        this one gives it back; None if such are not kept."""
        if self._kept is None or not self._kept.wants(size):
            return None
        buffer = self._kept.take(size)
        if buffer is None:
            buffer = self.create_buffer(size)
            self._kept.add(buffer, size)
        return buffer

    def destroy_buffer(self, buffer: int) -> None:
        gone = [buffer]
        if self._kept is not None and buffer in self._kept:
            gone = self._kept.release(buffer)
        for each in gone:
            super().destroy_buffer(each)

    def drop_kept(self) -> bool:
        """Free the data sets that no session uses; whether there were any."""
        gone = [] if self._kept is None else self._kept.drop_idle()
        for buffer in gone:
            super().destroy_buffer(buffer)
        return bool(gone)

    def stats(self) -> dict[str, int]:
        """As the host's, but what is only kept counts apart: ``kept_buffers``, ``kept_bytes``."""
        stats = self.host.stats()
        buffers, size = (0, 0) if self._kept is None else self._kept.idle()
        stats["buffers"] -= buffers
        stats["bytes"] -= size
        return stats | {"kept_buffers": buffers, "kept_bytes": size}

    def load(self, plan: Plan, external: Mapping[str, int]) -> LoadedPlan:
        if self._kept is not None:
            for key in _written(plan):
                self._kept.spoil(external[key])
        with self.guarded():
            return LoadedPlan(self, plan, self.host.load(plan, external))


def _written(plan: Plan) -> set[str]:
    """The keys of external buffers that kernels of ``plan`` write."""
    keys = {buffer["id"]: buffer["external"] for buffer in plan["buffers"] if "external" in buffer}
    access = {kernel["id"]: kernel["access"] for kernel in plan["kernels"]}
    written = set()
    for command in plan["commands"]:
        bound = zip(command["bindings"], access[command["kernel"]], strict=True)
        written |= {binding[0] for binding, allowed in bound if allowed != "read"}
    return {keys[number] for number in written if number in keys}


class LoadedPlan:
    """A Plan on a device, ready to be replayed."""

    def __init__(self, device: WebGpuDevice, plan: Plan, program: int) -> None:
        self.device = device
        self.plan = plan
        self.program = program

    def run(
        self,
        segment: int,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> tuple[dict[str, Array], int, float]:
        """Write ``feeds``, replay ``segment`` (until ``stop`` answers true), read ``fetches``.

        Returns:
            The arrays fetched, the number of steps done and the seconds they took.
        """
        self.device.host.stop_requested = stop
        with self.device.guarded():
            result = self.device.host.execute(
                self.program, segment, steps, self._writes(feeds), self._reads(fetches)
            )
        return self._arrays(fetches, result), result.steps_done, result.seconds

    def start(self) -> None:
        """Nothing to forget: kernels write variables in place, and are gated where they may not."""

    def commit(self) -> None:
        """What was written counts already."""

    def begin(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        last: bool = False,
    ) -> Result[dict[str, Array]]:
        """Begin to write ``feeds``, replay ``segment`` once (None: not at all) and read
        ``fetches``; the result is the arrays."""
        host = self.device.host
        host.stop_requested = None
        program, number = (None, 0) if segment is None else (self.program, segment)
        with self.device.guarded():
            begun = host.begin(program, number, 1, self._writes(feeds), self._reads(fetches))
        return Then(Guarded(self.device, begun), lambda result: self._arrays(fetches, result))

    def _writes(self, feeds: Mapping[str, Array]) -> list[Write]:
        writes: list[Write] = []
        for name, array in feeds.items():
            slot = self.plan["feeds"][name]
            writes.append(((self.program, slot["buffer"]), slot["offset"], to_device_bytes(array)))
        return writes

    def _reads(self, fetches: Sequence[str]) -> list[Read]:
        slots = [self.plan["fetches"][name] for name in fetches]
        return [(self._buffer(slot["buffer"]), slot["offset"], _bytes(slot)) for slot in slots]

    def _arrays(self, fetches: Sequence[str], result: ExecuteResult) -> dict[str, Array]:
        slots = [self.plan["fetches"][name] for name in fetches]
        return {
            name: from_device_bytes(data, slot["dtype"], tuple(slot["shape"]))
            for name, slot, data in zip(fetches, slots, result.data, strict=True)
        }

    def _buffer(self, number: int) -> tuple[int, int]:
        return (self.program, number)

    def unload(self) -> None:
        self.device.release(lambda: self.device.host.unload(self.program))


def _bytes(slot: Mapping[str, Any]) -> int:
    return dtype(slot["dtype"]).device_bytes(math.prod(slot["shape"]))
