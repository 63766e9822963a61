"""One device opened through wgpu-py."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import wgpu

from playgrad.devices._wgpu.adapters import adapters, describe, extra_features
from playgrad.devices._wgpu.buffers import STORAGE, BufferPool
from playgrad.devices._wgpu.errors import lost, translated
from playgrad.devices._wgpu.pacing import SubmissionPacer
from playgrad.devices._wgpu.program import Preparer, ReplayablePlan, encode
from playgrad.devices.base import (
    BufferKey,
    ExecuteResult,
    Limits,
    Plan,
    Read,
    Write,
    check_plan,
)
from playgrad.devices.pending import Done
from playgrad.errors import DeviceError, OutOfMemoryError


def open(index: int = 0) -> WgpuHost:
    """Open adapter `index` of `list_adapters()`, with a device of its own.

    Raises:
        DeviceError: there is no such adapter, or it refuses the limits.
    """
    found = adapters()
    if not 0 <= index < len(found):
        raise DeviceError(
            f"there is no GPU adapter {index}: {len(found)} found",
            hint="Install a Vulkan driver (mesa-vulkan-drivers is a software one), or use cpu.",
        )
    return WgpuHost(found[index])


class WgpuHost:
    """One device opened through wgpu-py; implements `playgrad.devices.base.Host`.

    `stop_requested`, when set, is called between submits; replays end once it returns true.
    """

    def __init__(self, adapter: Any) -> None:
        self.info = describe(adapter)
        wanted = {
            item.name.replace("_", "-"): getattr(self.info.limits, item.name)
            for item in fields(Limits)
        }
        try:
            self._device = adapter.request_device_sync(
                required_features=extra_features(adapter), required_limits=wanted
            )
        except (RuntimeError, wgpu.GPUError) as error:
            raise DeviceError(f"{self.info.name} cannot be opened: {error}") from error
        self.stop_requested: Callable[[], bool] | None = None
        self._pool = BufferPool(self._device)
        self._preparer = Preparer(self._device, self.info.name)
        self._programs: dict[int, ReplayablePlan] = {}
        self._paces: dict[tuple[int, int], SubmissionPacer] = {}
        self._next_program = 1
        self._destroyed = False
        self._calls = threading.RLock()
        self._fence = self._device.create_buffer(size=4, usage=STORAGE, label="fence")

    # Buffers and programs

    def create_buffer(self, size: int) -> int:
        if size > self.info.limits.max_buffer_size:
            raise OutOfMemoryError(
                f"a buffer of {size:,} bytes was asked for, but {self.info.name} allows "
                f"{self.info.limits.max_buffer_size:,} in one buffer"
            )
        with self._errors(f"a buffer of {size:,} bytes"):
            return self._pool.create(size)

    def destroy_buffer(self, buffer: int) -> None:
        self._pool.destroy(buffer)

    def expect(self, plan: Plan) -> None:
        """Nothing: here one waits for a kernel while it is compiled."""

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        check_plan(plan, self.info.limits)
        buffers: dict[int, Any] = {}
        owned: list[int] = []
        try:
            for spec in plan["buffers"]:
                key = spec.get("external")
                if key is None:
                    owned.append(self.create_buffer(spec["size"]))
                host_id = owned[-1] if key is None else (external or {})[key]
                buffers[spec["id"]] = buffer = self._pool[host_id]
                if spec.get("data"):
                    self._pool.write(buffer, 0, base64.b64decode(spec["data"]))
            with self._errors("the plan"):
                segments = self._preparer.prepare(plan, buffers)
        except BaseException:
            for host_id in owned:
                self._pool.destroy(host_id)
            raise
        program = self._next_program
        self._next_program += 1
        self._programs[program] = ReplayablePlan(buffers, owned, segments)
        return program

    def unload(self, program: int) -> None:
        for host_id in self._programs.pop(program).owned:
            self._pool.destroy(host_id)
        for key in [key for key in self._paces if key[0] == program]:
            del self._paces[key]

    def _buffer(self, key: BufferKey) -> Any:
        if isinstance(key, tuple):
            return self._programs[key[0]].buffers[key[1]]
        return self._pool[key]

    # Running

    def execute(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> ExecuteResult:
        started = time.perf_counter()
        done = 0
        with self._errors("execute"):
            for key, offset, data in writes:
                self._pool.write(self._buffer(key), offset, data)
            if program is not None:
                done = self._replay(program, segment, steps)
            data_read = self._read(reads)
        return ExecuteResult(done, data_read, time.perf_counter() - started)

    def begin(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> Done[ExecuteResult]:
        # Whoever wants several devices to work at once has a thread for each.
        return Done(self.execute(program, segment, steps, writes, reads))

    def _replay(self, program: int, segment: int, steps: int) -> int:
        """Submit replays, waiting for all groups of them but the last; see `Pace`."""
        prepared = self._programs[program].segments[segment]
        pace = self._paces.setdefault((program, segment), SubmissionPacer())
        done = 0
        while done < steps:
            started = time.perf_counter()
            first = done
            last = min(first + pace.group, steps)
            while done < last:
                if self.stop_requested is not None and self.stop_requested():
                    return done
                several = min(pace.submit, last - done)
                self._device.queue.submit([encode(self._device, prepared, several)])
                done += several
            if done < steps:
                self._wait()
                pace.finished(done - first, time.perf_counter() - started)
        return done

    def _wait(self) -> None:
        """Wait until everything submitted is done (the queue has no callback for it)."""
        self._device.queue.read_buffer(self._fence)

    def _read(self, reads: Sequence[Read]) -> list[bytes]:
        """What is to be read; waits for the device even if that is nothing."""
        if any(size for _, _, size in reads):
            return self._pool.read([(self._buffer(key), offset, n) for key, offset, n in reads])
        self._wait()
        return [b"" for _ in reads]

    # Life and errors

    def stats(self) -> dict[str, int]:
        with self._errors("stats"):
            return {
                "buffers": len(self._pool),
                "bytes": self._pool.bytes,
                "programs": len(self._programs),
                "peak_bytes": self._pool.peak_bytes,
            }

    def give_up(self) -> None:
        """Whoever waits for it is left waiting."""

    def destroy(self) -> None:
        with self._calls:  # not under a call of another thread: wgpu-native aborts the process
            self._programs.clear()
            self._preparer = Preparer(self._device, self.info.name)  # drops all pipelines
            self._pool.clear()
            self._device.destroy()
            self._destroyed = True

    @contextmanager
    def _errors(self, where: str) -> Iterator[None]:
        """One call at a time, wgpu's errors as the library's, and nothing reaches a device that was
        destroyed."""
        with self._calls:
            if self._destroyed:
                raise lost(self.info.name)
            with translated(self.info.name, where):
                yield
