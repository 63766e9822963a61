"""A GPU that nobody has measured: the first choice at once, and measuring while it trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices import registry
from playgrad.devices.first_choices import FIRST_CHOICES, first_choice, unmeasured_tuning
from playgrad.devices.saved_tunings import adapter_key, parse_tunings
from playgrad.devices.target import AdapterInfo
from playgrad.devices.tuning import HARDWARE, PRODUCTS, QUADS, SOFTWARE
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import DeviceLostError
from playgrad.runtime import gradual_tuning
from playgrad.runtime.gradual_tuning import note_use, tune_a_little
from playgrad.runtime.tuner import Tuner
from tests.runtime.test_tuner import SMALL


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, from which devices are opened anew, and short probes."""
    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(gradual_tuning, "_under_way", None)
    monkeypatch.setattr("playgrad.runtime.tuner.PROBES", (SMALL,))
    registry.close_gpus()
    yield tmp_path / "cache" / "tunings.json"
    if gradual_tuning._under_way is not None:
        gradual_tuning._under_way.close()
    registry.close_gpus()


def passing_for_hardware() -> WebGpuDevice:
    """The software adapter, which claims to be hardware: it is treated like any other."""
    device = registry.gpu(0)
    device.host.info = replace(device.host.info, is_software=False)  # type: ignore[misc]
    first = unmeasured_tuning(device.host.info)
    device.target = replace(device.target, is_software=False, first_choice=first)
    return device


def train(steps: int, inputs: int = 4, units: int = 1) -> list[str]:
    """Train on the GPU; return the families of the kernels of the step."""
    model = pg.Sequential([pg.nn.Dense(units)])
    model.compile(pg.optim.SGD(1e-4), "mse", device="gpu")
    x, y = np.ones((64, inputs), np.float32), np.ones((64, units), np.float32)
    each_alone = pg.nn.LambdaCallback(on_epoch_end=lambda epoch, logs: None)
    model.fit(x, y, batch_size=64, epochs=steps, callbacks=[each_alone], verbose=0)
    families = [
        kernel["family"]
        for loaded in model.session.compiled(model.training_targets).plans.values()
        for kernel in loaded.plan["kernels"]
    ]
    model.close()
    return families


# The first choice


@pytest.mark.parametrize(
    ("info", "tuning"),
    [
        (AdapterInfo("llvmpipe", system="Vulkan", is_software=True), SOFTWARE),
        (AdapterInfo("SwiftShader", is_software=True, has_quads=True), QUADS),
        (AdapterInfo("a card"), HARDWARE),
        (AdapterInfo("Mali-G78", vendor="arm", system="Vulkan"), None),
    ],
)
def test_the_maker_and_the_system_choose(info: AdapterInfo, tuning: object) -> None:
    assert unmeasured_tuning(info) == (
        tuning or replace(HARDWARE, product="registers_4x4", convolution="registers_4x4")
    )
    assert (first_choice(info) is None) == (tuning is not None)


def test_each_row_says_where_it_comes_from_and_runs_everywhere() -> None:
    for row in FIRST_CHOICES:
        assert len(row.source) > 20
        assert row.products[-1] in PRODUCTS and row.products[-1] != "quads_8x8"
    systems = {row.system for row in FIRST_CHOICES if not row.vendor}
    assert systems == {"D3D12", "Metal", "Vulkan"}


@pytest.mark.gpu
def test_the_first_choice_is_what_an_unmeasured_gpu_compiles() -> None:
    device = passing_for_hardware()
    expected = unmeasured_tuning(device.host.info)
    assert device.target.measured is None and device.target.tuning == expected
    device.target = replace(device.target, first_choice=replace(expected, product="registers_4x4"))
    assert "matmul_register" in train(1, inputs=784, units=128)


# Measuring while it trains


@pytest.mark.gpu
def test_nothing_is_measured_before_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    passing_for_hardware()

    def measured(self: Tuner) -> None:
        raise AssertionError("a step waits for the tuner")

    monkeypatch.setattr(Tuner, "advance", measured)
    train(1)


@pytest.mark.gpu
def test_it_is_measured_between_chunks_and_holds_from_the_next_process_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = passing_for_hardware()
    before = device.host.stats()
    monkeypatch.setattr(gradual_tuning, "SHARE", 1e9)
    families = train(40)
    (key, tuning), *_ = parse_tunings(cache.read_text()).items()
    assert key == adapter_key(device.host.info)
    assert device.target.measured is None and registry.known_tuning(device.host.info) is None
    assert train(1) == families, "a process keeps its kernels"
    after = device.host.stats()
    assert all(after[key] == before[key] for key in ("buffers", "bytes", "programs"))
    cache.unlink()
    train(40)
    assert not cache.exists(), "it was measured again"
    # Another process.
    registry.save_for_next_process(device, tuning)
    registry.close_gpus()
    assert registry.known_tuning(device.host.info) == tuning


@pytest.mark.gpu
def test_measuring_takes_a_small_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    device = passing_for_hardware()
    clock = [100.0]
    monkeypatch.setattr(gradual_tuning.time, "perf_counter", lambda: clock[0])
    note_use(device)
    work = gradual_tuning._under_way
    assert work is not None

    def piece(self: Tuner) -> None:
        clock[0] += 0.3

    monkeypatch.setattr(Tuner, "advance", piece)
    for _ in range(2000):
        clock[0] += 0.1
        tune_a_little()
    assert 0.02 < work.spent / work.trained < 0.035
    spent = work.spent
    clock[0] += 3600.0  # a pause is no training
    for _ in range(3):
        tune_a_little()
    assert work.spent < spent + 0.7


@pytest.mark.gpu
def test_a_tuner_that_breaks_its_device_breaks_nothing_else(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = passing_for_hardware()
    monkeypatch.setattr(gradual_tuning, "SHARE", 1e9)

    def lost(self: Tuner) -> None:
        assert self.device is not device
        raise DeviceLostError("gpu:1: it hung")

    monkeypatch.setattr(Tuner, "advance", lost)
    train(20)
    assert not device.lost
    assert list(parse_tunings(cache.read_text()).values()) == [device.target.tuning]


@pytest.mark.gpu
def test_a_software_adapter_is_not_measured_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    device = registry.gpu(0)
    device.host.info = replace(device.host.info, is_software=True)  # type: ignore[misc]
    note_use(device)
    assert gradual_tuning._under_way is None
