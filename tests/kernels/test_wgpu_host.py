"""The desktop host: buffers, replays, stops and errors."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import wgpu

from playgrad.devices import _wgpu
from playgrad.devices._wgpu import WgpuHost
from playgrad.devices._wgpu.adapters import adapters
from playgrad.devices.base import Execution
from playgrad.devices.target import Limits
from playgrad.errors import DeviceError, DeviceLostError, KernelError, OutOfMemoryError

pytestmark = pytest.mark.gpu

ADD = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&b)) { b[id.x] += a[id.x]; }
}
"""


def adding_plan(wgsl: str = ADD, **changed: Any) -> dict[str, Any]:
    """Return a plan for four floats each: b += a, then c = b. Segment 1 is only the copy."""
    add = {
        "kernel": 0, "node": "model/add",
        "bindings": [[0, 0, 16], [1, 0, 16]], "workgroups": [1, 1, 1], **changed,
    }  # fmt: skip
    copy = {
        "kernel": 1, "node": "model/copy",
        "bindings": [[1, 0, 16], [2, 0, 16]], "workgroups": [1, 1, 1],
    }  # fmt: skip
    return {
        "version": 2,
        "buffers": [{"id": i, "size": 16, "role": "arena"} for i in range(3)],
        "kernels": [
            {"id": 0, "family": "adder", "params": {}, "wgsl": wgsl,
             "access": ["read", "read_write"]},
            {"id": 1, "family": "copier", "params": {}, "wgsl": ADD.replace("+=", "="),
             "access": ["read", "read_write"]},
        ],
        "segments": [[0, 2], [1, 2]],
        "commands": [add, copy],
    }  # fmt: skip


def test_one_call_replays_writes_and_reads(host: WgpuHost) -> None:
    program = host.load(adding_plan())
    ones = np.ones((2, 2), np.float32)
    result = host.execute(
        Execution(
            program, steps=100, writes=[((program, 0), 0, ones)], reads=[((program, 2), 4, 6)]
        )
    )
    assert result.steps_done == 100
    assert result.data == [np.full(2, 100, np.float32).tobytes()[:6]]
    host.execute(Execution(program, segment=1, writes=[((program, 1), 0, bytes(16))]))
    reads = [((program, 2), 0, 16), ((program, 0), 0, 0)]
    assert host.execute(Execution(reads=reads)).data == [bytes(16), b""]
    host.unload(program)


def test_external_buffers_stay(host: WgpuHost) -> None:
    plan = adding_plan()
    plan["buffers"][1]["external"] = "total"
    mine = host.create_buffer(16)
    for _ in range(2):
        program = host.load(plan, {"total": mine})
        writes = [((program, 0), 0, np.ones(4, np.float32))]
        host.execute(Execution(program, steps=3, writes=writes))
        host.unload(program)
    (data,) = host.execute(Execution(reads=[(mine, 0, 16)])).data
    assert np.frombuffer(data, np.float32).tolist() == [6, 6, 6, 6]
    host.destroy_buffer(mine)


def test_a_stop_ends_the_replays_and_still_reads(host: WgpuHost) -> None:
    program = host.load(adding_plan())
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 7

    host.stop_requested = stop
    try:
        result = host.execute(
            Execution(
                program,
                steps=1000,
                writes=[((program, 0), 0, np.ones(4, np.float32))],
                reads=[((program, 1), 0, 4)],
            )
        )
    finally:
        host.stop_requested = None
    assert 7 <= result.steps_done <= 7 * 8  # polled before each submit of at most eight steps
    assert np.frombuffer(result.data[0], np.float32)[0] == result.steps_done
    host.unload(program)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (adding_plan(ADD.replace("+= a", "+= nothing")), "kernel adder.*nothing"),
        (adding_plan(workgroups=[70_000, 1, 1]), "model/add.*70000.*65535 in one dimension"),
        (adding_plan(bindings=[[0, 0, 16]]), "model/add.*1 bindings given where 2 are declared"),
        (adding_plan(bindings=[[0, 4, 8], [1, 0, 16]]), "model/add.*offset 4.*not aligned"),
        (adding_plan(bindings=[[0, 0, 16], [0, 0, 16]]), "model/add.*kernel adder|execute"),
    ],
)
def test_a_plan_that_breaks_the_rules_leaves_nothing_behind(
    host: WgpuHost, plan: dict[str, Any], words: str
) -> None:
    program = None
    with pytest.raises(KernelError, match=f"(?s){words}"):
        program = host.load(plan)
        host.execute(Execution(program))
    if program is not None:
        host.unload(program)


def test_oversized_buffers_are_refused_before_allocation(host: WgpuHost) -> None:
    with pytest.raises(OutOfMemoryError, match="1,099,511,627,776 bytes"):
        host.create_buffer(1 << 40)
    plan = adding_plan()
    plan["buffers"][2]["size"] = 1 << 40
    with pytest.raises(OutOfMemoryError, match=r"arena buffer needs.*allows"):
        host.load(plan)
    with pytest.raises(OutOfMemoryError, match="model/add: a tensor needs"):
        host.load(adding_plan(bindings=[[0, 0, 1 << 31], [1, 0, 16]]))


def test_a_nonexistent_adapter_is_refused() -> None:
    with pytest.raises(DeviceError, match="no GPU adapter 99"):
        _wgpu.open(99)


def test_real_adapters_come_first_and_browsers_limits_hold() -> None:
    adapters = _wgpu.list_adapters()
    assert [info.is_software for info in adapters] == sorted(info.is_software for info in adapters)
    assert all(info.limits.max_storage_buffers_per_shader_stage == 8 for info in adapters)
    assert all(info.limits.max_compute_workgroup_storage_size == 16_384 for info in adapters)


class Adapter:
    """An adapter as wgpu lists it."""

    def __init__(self, device: str, ids: tuple[int, int], backend: str, driver: str) -> None:
        self.info = {"vendor": "", "device": device, "adapter_type": "Unknown"}
        self.info |= {"description": driver, "backend_type": backend}
        self.info |= dict(zip(("vendor_id", "device_id"), ids, strict=True))
        self.limits = {name.replace("_", "-"): value for name, value in asdict(Limits()).items()}
        self.features: set[str] = set()

    def limited(self, limit: str, value: int) -> Adapter:
        self.limits[limit] = value
        return self


CARD = Adapter("A card", (4318, 9000), "Vulkan", "580.1")
OPENGL = Adapter("A card/PCIe/SSE2", (4318, 0), "OpenGL", "4.6.0 A vendor 580.1")
LLVMPIPE = Adapter("llvmpipe (LLVM 15)", (65541, 0), "Vulkan", "Mesa 22")


@pytest.mark.parametrize(
    ("offered", "listed"),
    [
        ([OPENGL, LLVMPIPE, CARD], [CARD, LLVMPIPE]),
        ([CARD, Adapter("A card", (4318, 9000), "D3D12", "31.0")], [CARD]),
        ([CARD, CARD, OPENGL], [CARD, CARD]),
        ([CARD, other := Adapter("B card", (4318, 9001), "Vulkan", "580.1")], [CARD, other]),
        ([CARD, Adapter("A card (open)", (4318, 9000), "Vulkan", "Mesa 25")], [CARD]),
        ([LLVMPIPE, Adapter("llvmpipe (LLVM 15)", (65541, 0), "OpenGL", "4.5 Mesa")], [LLVMPIPE]),
        ([OPENGL], [OPENGL]),
        ([Adapter("A card/PCIe/SSE2", (4318, 0), "OpenGL", "3.3.0 A vendor 580.1")], []),
        ([es := Adapter("A phone", (5045, 0), "OpenGL", "OpenGL ES 3.2 v1.r38")], [es]),
        ([Adapter("A phone", (5045, 0), "OpenGL", "OpenGL ES 3.0 v1.r38")], []),
        ([Adapter("old", (1, 1), "Vulkan", "").limited("max-buffer-size", 1 << 20)], []),
        (
            [Adapter("odd", (1, 1), "Vulkan", "").limited(
                "min-storage-buffer-offset-alignment", 512
            )],
            [],
        ),
    ],
)  # fmt: skip
def test_a_gpu_is_listed_once_and_if_it_suffices(
    monkeypatch: pytest.MonkeyPatch, offered: list[Adapter], listed: list[Adapter]
) -> None:
    monkeypatch.setattr(wgpu.gpu, "enumerate_adapters_sync", lambda: offered)
    assert list(adapters.__wrapped__()) == listed


def test_a_lost_device_raises_an_error_and_can_be_reopened() -> None:
    host = _wgpu.open()
    program = host.load(adding_plan())
    host._device.destroy()
    with pytest.raises(DeviceLostError, match=r"was lost\. Open it again"):
        host.execute(Execution(program, reads=[((program, 1), 0, 16)]))
    host.destroy()
    fresh = _wgpu.open()
    program = fresh.load(adding_plan())
    assert fresh.execute(Execution(program, steps=2)).steps_done == 2
    fresh.unload(program)
    assert fresh.stats()["buffers"] == fresh.stats()["programs"] == 0
    fresh.destroy()
