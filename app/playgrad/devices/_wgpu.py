"""The desktop host: Plans run through wgpu-py (wgpu-native: Vulkan, Metal, Direct3D 12).

The only file of the library that imports wgpu. The device is opened with the limits a browser
gives by default, so that what runs here runs in a page.
"""

from __future__ import annotations

import base64
import functools
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import wgpu

from playgrad.devices.base import (
    AdapterInfo,
    BufferKey,
    ExecuteResult,
    Limits,
    Plan,
    Read,
    Write,
    check_plan,
    is_software_name,
    round_up,
)
from playgrad.devices.pending import Done
from playgrad.errors import (
    DeviceError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
    PlaygradError,
)

MEBIBYTE = 1 << 20
LARGEST_BUFFER = 1024 * MEBIBYTE
GROUP_SECONDS = 0.025
"""Replays are submitted, and waited for, in groups of about this long."""
LARGEST_GROUP = 64
STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
STAGING = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST

Dispatch = tuple[Any, Any, int, int, int]
"""(pipeline, bind group, x, y, z)"""
Copy = tuple[Any, int, Any, int, int]
"""(source, offset, target, offset, size)"""


@dataclass
class _Program:
    """A loaded plan: its buffers, the ids of those it owns, each segment's passes and copies."""

    buffers: dict[int, Any]
    owned: list[int]
    segments: list[list[list[Dispatch] | Copy]]


@functools.cache
def _adapters() -> tuple[Any, ...]:
    """Adapters able to run playgrad, real GPUs first.

    A device that several backends offer is listed once, by OpenGL only where nothing else has it.
    """
    # Mesa's drivers complain on standard error, once an adapter, where it is not set.
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    usable = [
        adapter
        for adapter in wgpu.gpu.enumerate_adapters_sync()
        if adapter.limits["max-compute-invocations-per-workgroup"] >= 256
        and adapter.limits["max-storage-buffers-per-shader-stage"] >= 8
    ]
    usable.sort(key=lambda a: (_is_software(a), a.info["backend_type"] == "OpenGL"))
    by_name: dict[str, Any] = {}
    for adapter in usable:
        by_name.setdefault(adapter.info["device"], adapter)
    return tuple(by_name.values())


def _is_software(adapter: Any) -> bool:
    info = adapter.info
    return info["adapter_type"] == "CPU" or is_software_name(f"{info['device']} {info['vendor']}")


def _limits(adapter: Any) -> Limits:
    """WebGPU's default limits, except that buffers may be as large as the adapter can, to 1 GiB."""
    return Limits(
        max_buffer_size=min(adapter.limits["max-buffer-size"], LARGEST_BUFFER),
        max_storage_buffer_binding_size=min(
            adapter.limits["max-storage-buffer-binding-size"], LARGEST_BUFFER
        ),
    )


def _describe(adapter: Any) -> AdapterInfo:
    info = adapter.info
    return AdapterInfo(
        name=info["device"],
        vendor=info["vendor"],
        architecture=info["architecture"],
        backend=info["backend_type"],
        is_software=_is_software(adapter),
        limits=_limits(adapter),
        features=tuple(sorted(adapter.features)),
    )


def list_adapters() -> list[AdapterInfo]:
    """What `open` can open, best first; empty where no driver is installed."""
    return [_describe(adapter) for adapter in _adapters()]


def open(index: int = 0) -> WgpuHost:
    """Open adapter `index` of `list_adapters()`, with a device of its own.

    Raises:
        DeviceError: there is no such adapter, or it refuses the limits.
    """
    adapters = _adapters()
    if not 0 <= index < len(adapters):
        raise DeviceError(
            f"there is no GPU adapter {index}: {len(adapters)} found",
            hint="Install a Vulkan driver (mesa-vulkan-drivers is a software one), or use cpu.",
        )
    return WgpuHost(adapters[index])


class WgpuHost:
    """One device opened through wgpu-py; implements `playgrad.devices.base.Host`.

    `stop_requested`, when set, is called between steps; replays end once it returns true.
    """

    def __init__(self, adapter: Any) -> None:
        self.info = _describe(adapter)
        wanted = {
            item.name.replace("_", "-"): getattr(self.info.limits, item.name)
            for item in fields(Limits)
        }
        try:
            self._device = adapter.request_device_sync(required_limits=wanted)
        except (RuntimeError, wgpu.GPUError) as error:
            raise DeviceError(f"{self.info.name} cannot be opened: {error}") from error
        self.stop_requested: Callable[[], bool] | None = None
        self._buffers: dict[int, Any] = {}
        self._programs: dict[int, _Program] = {}
        self._pipelines: dict[tuple[str, tuple[str, ...]], tuple[Any, Any]] = {}
        self._destroyed = False
        self._calls = threading.RLock()
        self._next_id = 1
        self._bytes = self._peak_bytes = 0
        self._fence = self._device.create_buffer(size=4, usage=STORAGE, label="fence")
        self._group_sizes: dict[tuple[int, int], int] = {}

    # Buffers

    def create_buffer(self, size: int) -> int:
        size = max(round_up(size, 4), 4)
        if size > self.info.limits.max_buffer_size:
            raise OutOfMemoryError(
                f"a buffer of {size:,} bytes was asked for, but {self.info.name} allows "
                f"{self.info.limits.max_buffer_size:,} in one buffer"
            )
        with self._errors(f"a buffer of {size:,} bytes"):
            buffer = self._device.create_buffer(size=size, usage=STORAGE)
        key = self._new_id()
        self._buffers[key] = buffer
        self._bytes += size
        self._peak_bytes = max(self._peak_bytes, self._bytes)
        return key

    def destroy_buffer(self, buffer: int) -> None:
        gone = self._buffers.pop(buffer)
        self._bytes -= gone.size
        gone.destroy()

    def _buffer(self, key: BufferKey) -> Any:
        if isinstance(key, tuple):
            return self._programs[key[0]].buffers[key[1]]
        return self._buffers[key]

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    # Programs

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        check_plan(plan, self.info.limits)
        buffers: dict[int, Any] = {}
        owned: list[int] = []
        try:
            for spec in plan["buffers"]:
                key = spec.get("external")
                if key is not None:
                    host_id = (external or {})[key]
                else:
                    host_id = self.create_buffer(spec["size"])
                    owned.append(host_id)
                buffers[spec["id"]] = self._buffers[host_id]
                if spec.get("data"):
                    self._write(buffers[spec["id"]], 0, base64.b64decode(spec["data"]))
            pipelines = {kernel["id"]: self._pipeline(kernel) for kernel in plan["kernels"]}
            families = {kernel["id"]: kernel["family"] for kernel in plan["kernels"]}
            steps = [
                self._prepare(step, buffers, pipelines, families.get(step.get("kernel")))
                for step in plan["steps"]
            ]
        except BaseException:
            for host_id in owned:
                self.destroy_buffer(host_id)
            raise
        program = self._new_id()
        segments = [_group_passes(steps[first:last]) for first, last in plan["segments"]]
        self._programs[program] = _Program(buffers, owned, segments)
        return program

    def unload(self, program: int) -> None:
        for host_id in self._programs.pop(program).owned:
            self.destroy_buffer(host_id)
        self._group_sizes = {k: v for k, v in self._group_sizes.items() if k[0] != program}

    def _pipeline(self, kernel: dict[str, Any]) -> tuple[Any, Any]:
        """(bind group layout, pipeline) of a kernel, cached by its text and access."""
        key = (kernel["wgsl"], tuple(kernel["access"]))
        if key in self._pipelines:
            return self._pipelines[key]
        types = {"read": "read-only-storage", "read_write": "storage"}
        entries = [
            {
                "binding": i,
                "visibility": wgpu.ShaderStage.COMPUTE,
                "buffer": {"type": types[access]},
            }
            for i, access in enumerate(kernel["access"])
        ]
        with self._errors(f"kernel {kernel['family']} {kernel.get('params', '')}"):
            layout = self._device.create_bind_group_layout(entries=entries)
            pipeline = self._device.create_compute_pipeline(
                layout=self._device.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={
                    "module": self._device.create_shader_module(code=kernel["wgsl"]),
                    "entry_point": "main",
                },
            )
        self._pipelines[key] = (layout, pipeline)
        return layout, pipeline

    def _prepare(
        self,
        step: dict[str, Any],
        buffers: dict[int, Any],
        pipelines: dict[int, tuple[Any, Any]],
        family: str | None,
    ) -> Dispatch | Copy:
        if step["kind"] == "copy":
            (source, start), (target, end) = step["source"], step["target"]
            return buffers[source], start, buffers[target], end, step["size"]
        layout, pipeline = pipelines[step["kernel"]]
        entries = [
            {"binding": i, "resource": {"buffer": buffers[b], "offset": offset, "size": size}}
            for i, (b, offset, size) in enumerate(step["bindings"])
        ]
        with self._errors(f"kernel {family}", node=step["node"]):
            group = self._device.create_bind_group(layout=layout, entries=entries)
        x, y, z = step["workgroups"]
        return pipeline, group, x, y, z

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
                self._write(self._buffer(key), offset, data)
            if program is not None:
                done = self._replay(program, segment, steps)
            data_read = self._read(reads)
        return ExecuteResult(done, data_read, time.perf_counter() - started)

    def _replay(self, program: int, segment: int, steps: int) -> int:
        """Submit replays in groups of about GROUP_SECONDS, waiting for all groups but the last.

        What is in flight is thereby bounded, a stop is answered within a group's time, and a
        wait's cost is shared by the group.
        """
        passes = self._programs[program].segments[segment]
        group = self._group_sizes.get((program, segment), 1)
        done = 0
        while done < steps:
            started = time.perf_counter()
            first = done
            while done < min(first + group, steps):
                if self.stop_requested is not None and self.stop_requested():
                    return done
                self._device.queue.submit([self._encode(passes)])
                done += 1
            if done == steps:
                break
            self._wait()
            seconds = (time.perf_counter() - started) / (done - first)
            group = max(1, min(int(GROUP_SECONDS / seconds), 4 * group, LARGEST_GROUP))
        self._group_sizes[(program, segment)] = group
        return done

    def _encode(self, passes: list[list[Dispatch] | Copy]) -> Any:
        encoder = self._device.create_command_encoder()
        for item in passes:
            if isinstance(item, tuple):
                encoder.copy_buffer_to_buffer(*item)
                continue
            compute = encoder.begin_compute_pass()
            current = None
            for pipeline, group, x, y, z in item:
                if pipeline is not current:
                    compute.set_pipeline(pipeline)
                    current = pipeline
                compute.set_bind_group(0, group)
                compute.dispatch_workgroups(x, y, z)
            compute.end()
        return encoder.finish()

    def _wait(self) -> None:
        """Wait until everything submitted is done (the queue has no callback for it)."""
        self._device.queue.read_buffer(self._fence)

    def _write(self, buffer: Any, offset: int, data: Any) -> None:
        view = memoryview(data)
        if view.nbytes % 4:
            view = memoryview(view.tobytes() + bytes(-view.nbytes % 4))
        if view.nbytes:
            self._device.queue.write_buffer(buffer, offset, view)

    def _read(self, reads: Sequence[Read]) -> list[bytes]:
        """Read everything through one staging buffer and one wait; waits even for no reads."""
        sizes = [round_up(size, 4) for _, _, size in reads]
        if not sum(sizes):
            self._wait()
            return [b"" for _ in reads]
        staging = self._device.create_buffer(size=sum(sizes), usage=STAGING)
        encoder = self._device.create_command_encoder()
        position = 0
        for (key, offset, _), size in zip(reads, sizes, strict=True):
            if size:
                encoder.copy_buffer_to_buffer(self._buffer(key), offset, staging, position, size)
            position += size
        self._device.queue.submit([encoder.finish()])
        staging.map_sync(wgpu.MapMode.READ)
        everything = bytes(staging.read_mapped())
        staging.destroy()
        result = []
        position = 0
        for (_, _, wanted), size in zip(reads, sizes, strict=True):
            result.append(everything[position : position + wanted])
            position += size
        return result

    # Life and errors

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

    def stats(self) -> dict[str, int]:
        with self._errors("stats"):
            pass
        return {
            "buffers": len(self._buffers),
            "bytes": self._bytes,
            "programs": len(self._programs),
            "peak_bytes": self._peak_bytes,
        }

    def give_up(self) -> None:
        """Whoever waits for it is left waiting."""

    def destroy(self) -> None:
        with self._calls:  # not under a call of another thread: wgpu-native aborts the process
            self._programs.clear()
            self._pipelines.clear()
            for buffer in self._buffers.values():
                buffer.destroy()
            self._buffers.clear()
            self._bytes = 0
            self._device.destroy()
            self._destroyed = True

    @contextmanager
    def _errors(self, where: str, node: str | None = None) -> Iterator[None]:
        """Turn wgpu's errors into the library's, saying where they arose."""
        with self._calls, self._translated(where, node):
            yield

    @contextmanager
    def _translated(self, where: str, node: str | None) -> Iterator[None]:
        if self._destroyed:
            raise DeviceLostError(
                f"the device {self.info.name} was lost.", op=node, hint="Open it again."
            )
        try:
            yield
        except wgpu.GPUOutOfMemoryError as error:
            raise OutOfMemoryError(
                f"{self.info.name} has no room for {where}.",
                op=node,
                hint="Use a smaller batch or a smaller network.",
            ) from error
        except (wgpu.GPUError, RuntimeError) as error:
            if isinstance(error, PlaygradError):
                raise
            text = str(error).strip()
            if _LOST.search(text):
                raise DeviceLostError(
                    f"the device {self.info.name} was lost.", op=node, hint="Open it again."
                ) from error
            raise KernelError(f"{where}: {text}", op=node) from error


_LOST = re.compile(r"device is lost|device was lost|Parent device|DeviceLost|destroyed", re.I)


def _group_passes(steps: list[Dispatch | Copy]) -> list[list[Dispatch] | Copy]:
    """Runs of dispatches as one compute pass each; copies stand alone between them."""
    passes: list[list[Dispatch] | Copy] = []
    for step in steps:
        if len(step) == 5 and isinstance(step[1], int):
            passes.append(step)
        elif passes and isinstance(passes[-1], list):
            passes[-1].append(step)
        else:
            passes.append([step])
    return passes
