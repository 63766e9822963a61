"""The device of programs that name none: pinned, measured once, remembered, explained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import playgrad as pg
from playgrad import paths
from playgrad.devices import device_times, registry
from playgrad.devices.device_times import (
    DeviceTimes,
    dump_device_times,
    forget_measured,
    parse_device_times,
    save_device_times,
)
from playgrad.devices.target import AdapterInfo
from playgrad.errors import DeviceError, KernelError
from playgrad.runtime import default_device as module
from playgrad.runtime.default_device import default_device, measure_devices
from playgrad.runtime.options import Options, options_set
from tests.cli.running import result_of, run


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing is pinned and nothing was measured."""
    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path))
    monkeypatch.delenv("PLAYGRAD_DEVICE")
    forget_measured()
    yield tmp_path / "device_times.json"
    forget_measured()


class Measured:
    """Stands in for the measurement, and counts how often it is made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, result: DeviceTimes | Exception) -> None:
        self.count = 0
        self.result = result
        monkeypatch.setattr(module, "measure_devices", self)

    def __call__(self) -> DeviceTimes:
        self.count += 1
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


# The decision


@pytest.mark.parametrize(
    ("cpu", "gpu", "software", "hardware"),
    [
        (1.0, 0.1, True, True),
        (1.0, 0.89, True, True),
        (1.0, 0.91, False, True),
        (1.0, 3.9, False, True),
        (1.0, 4.1, False, False),
    ],
)
def test_the_faster_device_is_favoured(
    cpu: float, gpu: float, software: bool, hardware: bool
) -> None:
    times = DeviceTimes(cpu, gpu)
    assert times.favours_gpu(is_software=True) == software
    assert times.favours_gpu(is_software=False) == hardware


def test_saved_times_are_restored_and_damaged_ones_ignored() -> None:
    known = {"an adapter": DeviceTimes(0.1, 0.2)}
    assert parse_device_times(dump_device_times(known)) == known
    for entry in ('"a"', '{"cpu": 1.0}', '{"cpu": 1.0, "gpu": "2"}', '{"cpu": 0.0, "gpu": 1.0}'):
        assert parse_device_times(f'{{"x": {entry}}}') == {}
    for text in ("", "{", "[1]", "null"):
        assert parse_device_times(text) == {}


def test_another_driver_and_another_processor_are_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    info = AdapterInfo("a card", vendor="a maker", driver="1.0")
    save_device_times(info, DeviceTimes(1.0, 2.0))
    assert device_times.known_device_times(info) == DeviceTimes(1.0, 2.0)
    assert device_times.known_device_times(replace(info, driver="1.1")) is None
    monkeypatch.setattr(device_times.os, "cpu_count", lambda: 1000)
    assert device_times.known_device_times(info) is None


# The environment variable


def test_the_environment_pins_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured(monkeypatch, DeviceTimes(1.0, 0.1))
    monkeypatch.setenv("PLAYGRAD_DEVICE", "cpu")
    assert default_device("auto") == ("cpu:0", "")
    with pg.Session() as session:
        assert (session.device, session.device_reason) == ("cpu:0", "")
    assert measured.count == 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("fast", "PLAYGRAD_DEVICE is 'fast': 'fast' is not a device. Write cpu"),
        ("cpu:7", "PLAYGRAD_DEVICE is 'cpu:7': there is no cpu:7 here. Available: cpu:0"),
    ],
)
def test_an_impossible_pin_is_an_error(
    monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    monkeypatch.setenv("PLAYGRAD_DEVICE", value)
    assert default_device("cpu").device == "cpu:0"  # a device that is named is not affected
    with pytest.raises(DeviceError) as caught:
        default_device("auto")
    assert words in str(caught.value)


# Measured once, and remembered


@pytest.mark.gpu
@pytest.mark.parametrize(("gpu", "device"), [(1.0, "cpu:0"), (0.001, "gpu:0")])
def test_the_default_device_is_measured_once(
    monkeypatch: pytest.MonkeyPatch, cache: Path, gpu: float, device: str
) -> None:
    measured = Measured(monkeypatch, DeviceTimes(0.01, gpu))
    for _ in range(2):
        with pg.Session() as session:
            assert session.device == device
            assert f"{device}, by measurement: a test step takes 10 ms on cpu:0" in (
                session.device_reason
            )
    forget_measured()  # as in another process
    assert default_device("auto").device == device
    assert measured.count == 1 and cache.exists()
    assert default_device("gpu") == ("gpu:0", "")


@pytest.mark.gpu
@pytest.mark.parametrize("place", ["a file", "no home folder"])
def test_an_unsaved_measurement_holds_for_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
) -> None:
    measured = Measured(monkeypatch, DeviceTimes(1.0, 5.0))
    if place == "a file":
        (tmp_path / "file").write_text("not a folder")
        monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path / "file"))
    else:
        for name in ("PLAYGRAD_CACHE", "XDG_CACHE_HOME", "HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(paths, "_home_of_user", lambda: None)
    assert [default_device("auto").device for _ in range(2)] == ["cpu:0", "cpu:0"]
    assert measured.count == 1


@pytest.mark.gpu
def test_an_unmeasurable_gpu_is_used_only_if_it_is_hardware(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Measured(monkeypatch, KernelError("it does not compile"))
    (info, *rest) = registry.gpu_adapters()
    monkeypatch.setattr(registry, "gpu_adapters", lambda: [replace(info, is_software=True), *rest])
    choice = default_device("auto")
    assert choice.device == "cpu:0"
    assert choice.reason == f"cpu:0, since gpu:0 ({info.name}) failed: it does not compile"
    monkeypatch.setattr(registry, "gpu_adapters", lambda: [replace(info, is_software=False), *rest])
    assert default_device("auto") == ("gpu:0", "")


@pytest.mark.gpu
def test_a_real_measurement_leaves_nothing_behind() -> None:
    before = registry.gpu(0).host.stats()
    times = measure_devices()
    assert 0 < times.cpu < 10 and 0 < times.gpu < 10
    after = registry.gpu(0).host.stats()
    assert all(after[key] == before[key] for key in ("buffers", "bytes", "programs"))


# The command line


@pytest.mark.gpu
def test_the_command_line_reports_the_measured_choice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Measured(monkeypatch, DeviceTimes(0.001, 0.005))
    line = "cpu:0, by measurement: a test step takes 1 ms on cpu:0 (NumPy) and 5 ms on gpu:0 ("
    assert f"auto is {line}" in run(capsys, "devices")[1]
    flags = {row["device"]: row["auto"] for row in result_of(run(capsys, "devices", "--json"))}
    assert flags["cpu:0"] and not flags["gpu:0"]
    program = tmp_path / "small.py"
    program.write_text(
        "import numpy as np, playgrad as pg\n"
        "model = pg.Sequential([pg.nn.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "x = np.ones((6, 2), np.float32)\n"
        "for _ in range(2):\n"
        "    model.fit(x, x[:, :1], batch_size=3)\n"
    )
    code, out, err = run(capsys, "train", program)
    assert code == 0 and "on cpu:0 (NumPy)" in out
    assert err.count(f"playgrad: training on {line}") == 1
    _, out, err = run(capsys, "train", program, "--device", "gpu")
    assert "on gpu:0" in out and "by measurement" not in err
    run(capsys, "tune", "--forget")
    assert not parse_device_times((tmp_path / "device_times.json").read_text())


def test_a_session_on_auto_uses_the_device_of_the_host() -> None:
    with options_set(Options(device="cpu")), pg.Session() as session:
        assert session.device == "cpu:0"


@pytest.mark.gpu
def test_a_device_named_by_a_session_is_kept() -> None:
    with options_set(Options(device="cpu")), pg.Session(device="gpu") as session:
        assert session.device == "gpu:0"
    with options_set(Options(device="gpu")), pg.Session() as session:
        assert session.device == "gpu:0"
