"""The device of programs that name none: pinned, measured once, remembered, explained."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
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
from playgrad.devices.this_host import this_host
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


def seconds(cpu: float, gpu: float, calm: bool = True, age: float = 1.0) -> DeviceTimes:
    """Times that were measured ``age`` seconds ago."""
    return DeviceTimes(cpu, gpu, calm, time.time() - age)


def passing_for(monkeypatch: pytest.MonkeyPatch, is_software: bool) -> AdapterInfo:
    (info, *rest) = registry.gpu_adapters()
    info = replace(info, is_software=is_software)
    monkeypatch.setattr(registry, "gpu_adapters", lambda: [info, *rest])
    return info


@pytest.fixture
def as_hardware(monkeypatch: pytest.MonkeyPatch) -> AdapterInfo:
    """The GPU, which passes for hardware."""
    return passing_for(monkeypatch, is_software=False)


@pytest.fixture
def as_software(monkeypatch: pytest.MonkeyPatch) -> AdapterInfo:
    """The GPU, which passes for a software adapter, as it is on most machines with tests."""
    return passing_for(monkeypatch, is_software=True)


# What is saved


INFO = AdapterInfo("a card", vendor="a maker", driver="1.0")
DAY = 86_400


def test_saved_times_are_restored_and_damaged_ones_ignored() -> None:
    known = {"an adapter": DeviceTimes(0.1, 0.2, True, 3.0)}
    text = dump_device_times(known)
    assert parse_device_times(text) == known
    for value, damaged in (
        ("0.1", "0.0"),
        ("0.2", '"2"'),
        ("0.2", "NaN"),
        ("true", "false"),
        ("true", "1.0"),
        ("3.0", "-3.0"),
        ('"when"', '"then"'),
    ):
        assert value in text
        assert parse_device_times(text.replace(value, damaged)) == {}
    for text in ("", "{", "[1]", "null", '{"x": "a"}', '{"x": {"cpu": 1.0, "gpu": 1.0}}'):
        assert parse_device_times(text) == {}


@pytest.mark.parametrize(
    ("age", "calm", "valid"),
    [
        (29 * DAY, True, True),
        (31 * DAY, True, False),
        (-DAY, True, False),  # the clock was wrong
        (30, False, True),
        (90, False, False),
    ],
)
def test_old_times_are_measured_again(age: float, calm: bool, valid: bool) -> None:
    save_device_times(INFO, seconds(1.0, 2.0, calm, age))
    assert (device_times.known_device_times(INFO) is not None) == valid


def test_times_of_a_busy_machine_are_not_saved(cache: Path) -> None:
    save_device_times(INFO, seconds(1.0, 2.0))
    assert len(parse_device_times(cache.read_text())) == 1
    save_device_times(INFO, seconds(1.0, 2.0, calm=False))
    assert not parse_device_times(cache.read_text())
    assert device_times.known_device_times(INFO) is not None
    forget_measured()  # as in another process
    assert device_times.known_device_times(INFO) is None


def test_another_driver_engine_or_processor_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = seconds(1.0, 2.0)
    save_device_times(INFO, times)
    assert device_times.known_device_times(INFO) == times
    assert device_times.known_device_times(replace(INFO, driver="1.1")) is None
    for owner, name, value in (
        (this_host(), "ENGINE", "wgpu-py 99"),
        (device_times.np, "__version__", "99.0"),
        (device_times.os, "cpu_count", lambda: 1000),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            assert device_times.known_device_times(INFO) is None, name


# The environment variable


def test_the_environment_pins_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Measured(monkeypatch, seconds(1.0, 0.1))
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
def test_hardware_is_measured_once(
    monkeypatch: pytest.MonkeyPatch,
    cache: Path,
    as_hardware: AdapterInfo,
    gpu: float,
    device: str,
) -> None:
    cache.write_text('{"damaged": ')  # is ignored, and written again
    measured = Measured(monkeypatch, seconds(0.01, gpu))
    for _ in range(2):
        with pg.Session() as session:
            assert session.device == device
            assert f"{device}, by measurement: a test step takes 10 ms on cpu:0" in (
                session.device_reason
            )
    assert len(parse_device_times(cache.read_text())) == 1
    forget_measured()  # as in another process
    assert default_device("auto").device == device
    assert measured.count == 1
    assert default_device("gpu") == ("gpu:0", "")


@pytest.mark.gpu
@pytest.mark.parametrize("place", ["a file", "no home folder"])
def test_an_unsaved_measurement_holds_for_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_hardware: AdapterInfo, place: str
) -> None:
    measured = Measured(monkeypatch, seconds(1.0, 5.0))
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
def test_a_large_training_takes_hardware_unmeasured_and_says_so(
    monkeypatch: pytest.MonkeyPatch, as_hardware: AdapterInfo
) -> None:
    """The multilayer perceptron of the benchmark; its training is stopped at the first step."""
    measured = Measured(monkeypatch, seconds(1.0, 9.0))
    model = pg.Sequential([pg.nn.Dense(128, "relu"), pg.nn.Dense(10)])
    model.compile("adam", pg.nn.SparseCategoricalCrossentropy(from_logits=True))
    x, y = np.ones((64, 784), np.float32), np.zeros(64, np.int32)
    model.fit(x, y, batch_size=64, epochs=1000, callbacks=[StopsSoon()], verbose=0)
    reason = model.session.device_reason
    assert reason.startswith(f"gpu:0 ({as_hardware.name}), a hardware GPU, since the products of a")
    assert (model.session.device, measured.count) == ("gpu:0", 0)
    model.close()


@pytest.mark.gpu
def test_hardware_that_cannot_be_measured_is_used(
    monkeypatch: pytest.MonkeyPatch, as_hardware: AdapterInfo
) -> None:
    Measured(monkeypatch, KernelError("it does not compile"))
    assert default_device("auto") == ("gpu:0", "")


# A software adapter


HOUR = 3600.0


@pytest.mark.gpu
def test_a_software_adapter_that_cannot_be_measured_is_not_used(
    monkeypatch: pytest.MonkeyPatch, as_software: AdapterInfo
) -> None:
    Measured(monkeypatch, KernelError("it does not compile"))
    reason = f"cpu:0, since gpu:0 ({as_software.name}) failed: it does not compile"
    assert default_device("auto", HOUR) == ("cpu:0", reason)


class StopsSoon(pg.nn.Callback):
    def on_steps_end(self, step: int, logs: dict[str, float]) -> None:
        self.model.stop_training = True


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("epochs", "gpu", "device", "count"),
    [(2, 0.1, "cpu:0", 0), (10**8, 5.0, "cpu:0", 1), (10**8, 0.1, "gpu:0", 1)],
)
def test_a_software_adapter_trains_if_it_wins_time(
    monkeypatch: pytest.MonkeyPatch,
    as_software: AdapterInfo,
    epochs: int,
    gpu: float,
    device: str,
    count: int,
) -> None:
    measured = Measured(monkeypatch, seconds(1.0, gpu))
    model = pg.Sequential([pg.nn.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((6, 2), np.float32)
    model.fit(x, x[:, :1], batch_size=3, epochs=epochs, callbacks=[StopsSoon()], verbose=0)
    assert (model.session.device, measured.count) == (device, count)
    model.close()


@pytest.mark.gpu
def test_a_long_training_measures_a_software_adapter(as_software: AdapterInfo) -> None:
    model = pg.Sequential([pg.nn.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((6, 2), np.float32)
    model.fit(x, x[:, :1], epochs=10**8, callbacks=[StopsSoon()], verbose=0)
    reason = model.session.device_reason
    assert reason.startswith(model.session.device)
    assert "by measurement: a test step takes" in reason or "too busy to measure" in reason
    assert device_times.known_device_times(as_software) is not None
    model.close()


@pytest.mark.gpu
def test_a_real_measurement_leaves_nothing_behind() -> None:
    before = registry.gpu(0).host.stats()
    times = measure_devices()
    assert 0 < times.cpu < 10 and 0 < times.gpu < 10 and times.is_valid
    after = registry.gpu(0).host.stats()
    assert all(after[key] == before[key] for key in ("buffers", "bytes", "programs"))


# The command line


SMALL = """
import numpy as np, playgrad as pg
model = pg.Sequential([pg.nn.Dense(1)])
model.compile('sgd', 'mse')
x = np.ones((6, 2), np.float32)
for _ in range(2):
    model.fit(x, x[:, :1], batch_size=3)
"""


@pytest.mark.gpu
def test_the_command_line_gives_the_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, as_software: AdapterInfo
) -> None:
    software = f"cpu:0, since gpu:0 ({as_software.name}) is a software adapter, which computes on "
    assert f"auto is {software}" in run(capsys, "devices")[1]
    flags = {row["device"]: row["auto"] for row in result_of(run(capsys, "devices", "--json"))}
    assert flags["cpu:0"] and not flags["gpu:0"]
    program = tmp_path / "small.py"
    program.write_text(SMALL)
    code, out, err = run(capsys, "train", program)
    assert code == 0 and "on cpu:0 (NumPy)" in out
    assert err.count(f"playgrad: training on {software}") == 1
    _, out, err = run(capsys, "train", program, "--device", "gpu")
    assert "on gpu:0" in out and "training on" not in err


@pytest.mark.gpu
def test_the_command_line_reports_measured_times(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cache: Path,
    as_hardware: AdapterInfo,
) -> None:
    Measured(monkeypatch, seconds(0.001, 0.005))
    line = "cpu:0, by measurement: a test step takes 1 ms on cpu:0 (NumPy) and 5 ms on gpu:0 ("
    assert f"auto is {line}" in run(capsys, "devices")[1]
    assert parse_device_times(cache.read_text())
    monkeypatch.undo()  # of `as_hardware`, too
    monkeypatch.setenv("PLAYGRAD_CACHE", str(cache.parent))
    run(capsys, "tune", "--forget")
    assert not parse_device_times(cache.read_text())


def test_a_session_on_auto_uses_the_device_of_the_host() -> None:
    with options_set(Options(device="cpu")), pg.Session() as session:
        assert session.device == "cpu:0"


@pytest.mark.gpu
def test_a_device_named_by_a_session_is_kept() -> None:
    with options_set(Options(device="cpu")), pg.Session(device="gpu") as session:
        assert session.device == "gpu:0"
    with options_set(Options(device="gpu")), pg.Session() as session:
        assert session.device == "gpu:0"


def test_no_driver_is_loaded_for_a_training_on_the_cpu() -> None:
    """Drivers of GPUs took more memory than all of a small training."""
    program = """
        import sys
        import numpy as np
        import playgrad as pg
        model = pg.Sequential([pg.nn.Dense(8, "tanh"), pg.nn.Dense(1)])
        model.compile("sgd", "mse", device="cpu")
        model.fit(np.ones((64, 2)), np.ones(64), verbose=0)
        model.predict(np.ones((3, 2)))
        assert "wgpu" not in sys.modules
        try:
            model.compile("sgd", "mse", device="gpu:77")
            model.fit(np.ones((64, 2)), np.ones(64), verbose=0)
        except pg.errors.DeviceError as error:
            print(error, "wgpu" in sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "gpu:77" in ran.stdout and ran.stdout.endswith("True\n")
