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
from playgrad.devices._wgpu.timestamps import KernelClock
from playgrad.devices.base import (
    BufferKey,
    ExecuteResult,
    Execution,
    Host,
    Plan,
    Read,
    check_buffer_size,
    check_plan,
)
from playgrad.devices.data_cache import KeptData
from playgrad.devices.pending import Done
from playgrad.devices.target import Limits
from playgrad.errors import DeviceError, DeviceLostError


def open(index: int = 0) -> WgpuHost:
    """Open adapter ``index`` of `list_adapters()`.

    Raises:
        DeviceError: there is no such adapter, or it refuses the limits.
    """
    available = adapters()
    if not 0 <= index < len(available):
        raise DeviceError(f"there is no GPU adapter {index}: {len(available)} found")
    return WgpuHost(available[index])


class WgpuHost(Host):
    """A `Host` on a device that wgpu-py opened.

    ``stop_requested``, if set, is called between submits; replays end once it returns true.
    """

    def __init__(self, adapter: Any) -> None:
        self.info = describe(adapter)
        limits = {
            limit.name.replace("_", "-"): getattr(self.info.limits, limit.name)
            for limit in fields(Limits)
        }
        try:
            self._device = adapter.request_device_sync(
                required_features=extra_features(adapter), required_limits=limits
            )
        except (RuntimeError, wgpu.GPUError) as error:
            raise DeviceError(f"{self.info.name} cannot be opened: {error}") from error
        self.stop_requested: Callable[[], bool] | None = None
        self.kept: dict[int, KeptData] = {}
        self._pool = BufferPool(self._device)
        self._clock: KernelClock | None = None  # until kernels are timed
        self._preparer = Preparer(self._device, self.info.name)
        self._programs: dict[int, ReplayablePlan] = {}
        self._pacers: dict[tuple[int, int], SubmissionPacer] = {}
        self._next_program = 1
        self._destroyed = False
        self._calls = threading.RLock()
        self._fence = self._device.create_buffer(size=4, usage=STORAGE, label="fence")

    # Buffers and programs

    def create_buffer(self, size: int) -> int:
        check_buffer_size(size, self.info)
        with self._errors(f"a buffer of {size:,} bytes"):
            return self._pool.create(size)

    def destroy_buffer(self, buffer: int) -> None:
        with self._errors("a buffer"):
            self._pool.destroy(buffer)

    def expect(self, plan: Plan) -> None:
        """Do nothing: wgpu-py cannot compile in the background."""

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        check_plan(plan, self.info.limits)
        with self._errors("the plan"):
            return self._load(plan, external)

    def _load(self, plan: Plan, external: Mapping[str, int] | None) -> int:
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
        with self._errors("a program"):
            for host_id in self._programs.pop(program).owned:
                self._pool.destroy(host_id)
            for key in [key for key in self._pacers if key[0] == program]:
                del self._pacers[key]

    def _buffer(self, key: BufferKey) -> Any:
        if isinstance(key, tuple):
            return self._programs[key[0]].buffers[key[1]]
        return self._pool[key]

    # Running

    def begin(self, execution: Execution) -> Done[ExecuteResult]:
        """Run ``execution``; callers use a thread for each device to run several at once."""
        started = time.perf_counter()
        done = 0
        held: list[Any] = []
        with self._errors("execute"):
            for key, offset, data in execution.writes:
                self._pool.write(self._buffer(key), offset, data)
            if execution.program is not None:
                done, held = self._replay(execution.program, execution.segment, execution.steps)
            contents = self._read(execution.reads, held)
        return Done(ExecuteResult(done, contents, time.perf_counter() - started))

    def _replay(self, program: int, segment: int, steps: int) -> tuple[int, list[Any]]:
        """Submit replays in groups, and wait for each group but the last; see `SubmissionPacer`.

        Returns:
            The number of replays, which is less than ``steps`` after a stop, and the last commands,
            not submitted: a read shares their submit.
        """
        queue = self._device.queue
        held: list[Any] = []
        commands = self._programs[program].segments[segment]
        pacer = self._pacers.setdefault((program, segment), SubmissionPacer())
        done = 0
        while done < steps:
            started = time.perf_counter()
            first = done
            last = min(first + pacer.group, steps)
            while done < last:
                if self.stop_requested is not None and self.stop_requested():
                    return done, held
                times = min(pacer.submit, last - done)
                if held:
                    queue.submit(held)
                held = [encode(self._device, commands, times)]
                done += times
            if done < steps:
                self._wait(held)
                held = []
                pacer.finished(done - first, time.perf_counter() - started)
        return done, held

    def time_kernels(self, program: int, segment: int) -> list[tuple[float, float]] | None:
        if not KernelClock.is_offered_by(self._device):
            return None
        with self._errors("time kernels"):
            self._clock = self._clock or KernelClock(self._device)
            return self._clock.times(self._programs[program].segments[segment])

    def _wait(self, held: Sequence[Any]) -> None:
        """Submit ``held``, and wait until all that was submitted is done."""
        if held:
            self._device.queue.submit(held)
        self._device.queue.read_buffer(self._fence)  # the queue has no callback

    def _read(self, reads: Sequence[Read], held: Sequence[Any]) -> list[bytes]:
        """Submit ``held``, wait for the device, and return the bytes of each read."""
        if any(size for _, _, size in reads):
            spans = [(self._buffer(key), offset, size) for key, offset, size in reads]
            return self._pool.read(spans, held)
        self._wait(held)
        return [b"" for _ in reads]

    # Life and errors

    def stats(self) -> dict[str, int]:
        with self._errors("stats"):
            self._device.create_command_encoder().finish()  # an error if the device was lost
            return {
                "buffers": len(self._pool),
                "bytes": self._pool.bytes,
                "programs": len(self._programs),
                "peak_bytes": self._pool.peak_bytes,
            }

    def give_up(self) -> None:
        """Do nothing: calls that wait for the device stay blocked."""

    def destroy(self) -> None:
        with self._calls:  # wgpu-native aborts the process if another thread is in a call
            self._programs.clear()
            self._clock = None
            self._preparer = Preparer(self._device, self.info.name)  # drops all pipelines
            self._pool.clear()
            self._device.destroy()
            self._destroyed = True

    def __del__(self) -> None:
        # A garbage collection that finds a session and its host together finalizes wgpu's objects,
        # too. The session is closed afterwards, and must not call them.
        self._destroyed = True

    @contextmanager
    def _errors(self, where: str) -> Iterator[None]:
        """Enclose calls of wgpu: one thread at a time, none after `destroy`, and wgpu's errors
        raised as the library's. A device that is lost within a call may make it fail in any way."""
        with self._calls:
            if self._destroyed:
                raise lost(self.info.name)
            try:
                with translated(self.info.name, where):
                    yield
            except DeviceLostError:
                raise
            except Exception as error:
                if self._is_lost():
                    raise lost(self.info.name) from error
                raise

    def _is_lost(self) -> bool:
        try:
            self._device.create_command_encoder().finish()
        except Exception:
            return True
        return self._destroyed
