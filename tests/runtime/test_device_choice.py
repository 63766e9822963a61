"""The choice of "auto", as a function of adapter, length of the training, and measurements."""

from __future__ import annotations

import pytest

import playgrad as pg
from playgrad import nn, paths
from playgrad.devices.device_times import DeviceTimes, DeviceTrial, Timing
from playgrad.devices.target import AdapterInfo
from playgrad.runtime.device_choice import LARGE_STEP, choose_device
from playgrad.training.expected_seconds import arithmetic_seconds, expected_seconds

HARDWARE = AdapterInfo("a card")
SOFTWARE = AdapterInfo("llvmpipe", is_software=True)
UNKNOWN, SHORT, SECONDS, HOUR = None, 0.05, 30.0, 3600.0


def times(cpu: float, gpu: float, calm: bool = True) -> DeviceTimes:
    return DeviceTimes(cpu, gpu, calm, when=0.0)


GAIN, TIE, LOSS, FAR_LOSS = times(1.0, 0.5), times(1.0, 0.95), times(1.0, 3.9), times(1.0, 4.1)
BUSY_GAIN, BUSY_LOSS = times(1.0, 0.1, calm=False), times(1.0, 10.0, calm=False)
MEASURE = None
"""The choice depends on measured times."""


@pytest.mark.parametrize(
    ("adapter", "seconds", "measured", "device", "why"),
    [
        (None, HOUR, None, "cpu:0", "since there is no GPU here"),
        (SOFTWARE, UNKNOWN, None, "cpu:0", "a software adapter, which computes on the same cores."),
        (SOFTWARE, UNKNOWN, GAIN, "cpu:0", "a software adapter"),
        (SOFTWARE, SHORT, None, "cpu:0", "with NumPy: less than 1 s"),
        (SOFTWARE, SECONDS, None, "cpu:0", "may compile for longer than the training takes"),
        (SOFTWARE, SECONDS, GAIN, "cpu:0", "with NumPy: about 30 s"),
        (SOFTWARE, HOUR, None, MEASURE, ""),
        (SOFTWARE, HOUR, GAIN, "gpu:0", "takes 1e+03 ms on cpu:0 (NumPy) and 500 ms on gpu:0 (ll"),
        (SOFTWARE, 100.0, GAIN, "cpu:0", "by measurement"),  # does not win back the compilation
        (SOFTWARE, HOUR, TIE, "cpu:0", "by measurement"),
        (SOFTWARE, HOUR, LOSS, "cpu:0", "by measurement"),
        (SOFTWARE, HOUR, BUSY_GAIN, "cpu:0", "too busy to measure whether it is faster"),
        (HARDWARE, SHORT, None, "cpu:0", "would compile for longer than the training takes"),
        (HARDWARE, SHORT, GAIN, "cpu:0", "would compile for longer than the training takes"),
        (HARDWARE, UNKNOWN, None, MEASURE, ""),
        (HARDWARE, SECONDS, None, MEASURE, ""),
        (HARDWARE, UNKNOWN, GAIN, "gpu:0", "by measurement"),
        (HARDWARE, HOUR, LOSS, "gpu:0", "by measurement"),
        (HARDWARE, HOUR, FAR_LOSS, "cpu:0", "by measurement"),
        (HARDWARE, HOUR, BUSY_LOSS, "gpu:0", "too busy to measure whether NumPy is faster"),
    ],
)
def test_the_choice_follows_from_what_is_known(
    adapter: AdapterInfo | None,
    seconds: float | None,
    measured: DeviceTimes | None,
    device: str | None,
    why: str,
) -> None:
    choice = choose_device(adapter, seconds, measured)
    assert (choice and choice.device) == device
    if choice is not None:
        assert choice.reason.startswith(choice.device) and why in choice.reason


@pytest.mark.parametrize(
    ("adapter", "device", "why"),
    [
        (None, "cpu:0", "there is no GPU here."),
        (
            SOFTWARE,
            "cpu:0",
            "gpu:0 (llvmpipe) is a software adapter, which computes on the same cores.",
        ),
        (HARDWARE, "gpu:0 (a card)", "it is faster than the processor in a page."),
    ],
)
def test_a_page_takes_a_hardware_gpu_unmeasured(
    adapter: AdapterInfo | None, device: str, why: str
) -> None:
    reason = f"{device}, since {why}"
    for seconds in (UNKNOWN, SHORT, HOUR):
        assert choose_device(adapter, seconds, in_page=True) == (device.split()[0], reason)
    page = (paths.static() / "js" / "messages" / "en.js").read_text(encoding="utf-8")
    assert (reason.replace(adapter.name, "${name}") if adapter else reason) in page


@pytest.mark.parametrize(
    ("step", "measured", "device", "why"),
    [
        (
            LARGE_STEP,
            None,
            "gpu:0",
            "a hardware GPU, since the products of a step would take NumPy",
        ),
        (0.9 * LARGE_STEP, None, MEASURE, ""),
        (LARGE_STEP, FAR_LOSS, "cpu:0", "by measurement"),
    ],
)
def test_a_large_step_takes_a_hardware_gpu_at_once(
    step: float, measured: DeviceTimes | None, device: str | None, why: str
) -> None:
    choice = choose_device(HARDWARE, SECONDS, measured, step_seconds=step)
    assert (choice and choice.device) == device
    assert choice is None or why in choice.reason
    software = choose_device(SOFTWARE, SECONDS, measured, step_seconds=step)
    assert software is not None and software.device == "cpu:0"


def test_the_multilayer_perceptron_of_the_benchmark_has_a_large_step() -> None:
    model = pg.Sequential([pg.Input((784,)), nn.Dense(128), nn.Dense(10)])
    assert arithmetic_seconds(model, batch=64) >= LARGE_STEP
    assert arithmetic_seconds(model, batch=32) < LARGE_STEP


# What measurements say


def trial(cpu: list[tuple[float, float]], gpu: list[float]) -> DeviceTrial:
    timings = [Timing(*each) for each in cpu]
    return DeviceTrial(timings, [Timing(wall, 0.1) for wall in gpu])


CALM = trial([(1.0, 1.0), (1.1, 1.0), (9.0, 1.0)], [2.0, 2.1, 8.0])


@pytest.mark.parametrize(
    ("measured", "calm"),
    [
        (CALM, True),
        (trial([(1.3, 1.0), (1.4, 1.0), (1.0, 1.0)], [2.0, 2.0, 2.0]), False),  # NumPy waits
        (trial([(1.0, 1.0)] * 3, [1.0, 1.6, 1.6]), False),  # the GPU's times are spread
        (trial([(0.5, 1.0)] * 3, [1.0, 1.4, 9.0]), True),
    ],
)
def test_a_busy_machine_is_recognised(measured: DeviceTrial, calm: bool) -> None:
    assert measured.is_calm == calm


def test_a_gain_must_show_in_each_trial() -> None:
    slow, fast = [(20.0, 2.0)], [(3.0, 1.0)]
    both = [trial(slow, [0.5, 0.4]), trial(fast, [3.0])]
    assert DeviceTimes.of(both, 7.0) == DeviceTimes(1.0, 3.0, False, 7.0)
    assert DeviceTimes.of([CALM, CALM], 7.0) == DeviceTimes(1.0, 2.0, True, 7.0)


# The length of a training


def test_the_expected_seconds_grow_with_the_work() -> None:
    def model(units: int) -> pg.Sequential:
        return pg.Sequential([pg.Input((100,)), nn.Dense(units), nn.Dense(1)])

    assert expected_seconds(model(10), steps=0, batch=32) is None
    least = expected_seconds(model(10), steps=100, batch=32)
    assert least is not None
    products = 2 * 32 * (100 * 1000 + 1000)  # of a forward pass
    for seconds, expected in (
        (expected_seconds(model(10), steps=1000, batch=32), 10 * least),
        (expected_seconds(model(1000), steps=100, batch=32), 100 * 3 * products / 2e10),
    ):
        assert seconds is not None and 0.9 < seconds / expected < 1.3
