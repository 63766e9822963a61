"""A GPU: arrays in and out of buffers, and Plans loaded and replayed, over any WebGPU host."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.devices.base import ExecuteResult, Host, Plan, Read, Write
from playgrad.devices.device import Device, Guarded
from playgrad.devices.pending import Result, Then
from playgrad.dtypes import dtype, from_device_bytes, to_device_bytes

Array = np.ndarray[Any, Any]


class WebGpuDevice(Device):
    """One opened GPU."""

    host: Host

    def __init__(self, name: str, host: Host) -> None:
        super().__init__(name, host)

    def write(self, buffer: int, offset: int, array: Array) -> None:
        with self.guarded():
            self.host.execute(None, writes=[(buffer, offset, to_device_bytes(array))])

    def read(self, buffer: int, offset: int, shape: tuple[int, ...], name: str) -> Array:
        size = dtype(name).device_bytes(math.prod(shape))
        with self.guarded():
            (data,) = self.host.execute(None, reads=[(buffer, offset, size)]).data
        return from_device_bytes(data, name, shape)

    def load(self, plan: Plan, external: Mapping[str, int]) -> LoadedPlan:
        with self.guarded():
            return LoadedPlan(self, plan, self.host.load(plan, external))


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
        if not self.device.lost:
            self.device.host.unload(self.program)


def _bytes(slot: Mapping[str, Any]) -> int:
    return dtype(slot["dtype"]).device_bytes(math.prod(slot["shape"]))
