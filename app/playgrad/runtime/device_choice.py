"""The device that "auto" takes, as a function of the facts about the machine and the work.

A GPU must win back the seconds that it needs to compile a training step. A hardware GPU does, for
nearly everything that is worth waiting for, so it is the choice in doubt. A software adapter
computes on the cores of the processor without their matrix libraries, so the processor is
(docs/decisions/028).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from playgrad.devices.device_times import DeviceTimes
from playgrad.devices.kinds import FIRST_GPU, HOST
from playgrad.devices.target import AdapterInfo

COMPILING = 1.0
"""Seconds in which a hardware GPU is opened and has compiled a small training step."""
COMPILING_IN_SOFTWARE = 60.0
"""Seconds that a software adapter has taken to compile a convolutional network."""
UNDERESTIMATE = 10
"""A training may take this many times the estimated seconds."""
SOFTWARE_WORTH = 0.9
"""A software adapter must take less than this share of the processor's time."""
HARDWARE_LIMIT = 4.0
"""A hardware adapter may take this many times the processor's time: the test step is small, and a
GPU gains most on large ones."""


LARGE_STEP = 1.5e-3
"""Seconds of NumPy for the products of a step that a hardware GPU is taken for without measuring.
Those of a network with 784 inputs and 128 units take 2, for 64 samples."""


class DeviceChoice(NamedTuple):
    """A device, and why "auto" took it: a sentence, empty if the user named the device."""

    device: str
    reason: str = ""


def choose_device(
    adapter: AdapterInfo | None,
    seconds: float | None = None,
    times: DeviceTimes | None = None,
    in_page: bool = False,
    step_seconds: float | None = None,
    processor: str = "NumPy",
) -> DeviceChoice | None:
    """Return the device to take; None if that depends on ``times``, which are not measured yet.

    Args:
        adapter: of the GPU, if there is one.
        seconds: about how long the training would take with NumPy; None if that is unknown.
        times: of the test step, on both devices.
        in_page: nothing is measured there. NumPy trains each example as fast as the software
            adapter of a browser (docs/examples.md).
        step_seconds: about how long the products of one step would take with NumPy; None if that is
            unknown.
        processor: what computed the test step on the processor.
    """
    if adapter is None:
        return DeviceChoice(HOST, f"{HOST}, since there is no GPU here.")
    gpu = f"{FIRST_GPU} ({adapter.name})"
    if adapter.is_software:
        return _if_software(gpu, None if in_page else seconds, times, processor)
    if in_page:
        return DeviceChoice(FIRST_GPU, f"{gpu}, since it is faster than the processor in a page.")
    return _if_hardware(gpu, seconds, times, processor, step_seconds or 0.0)


def _if_software(
    gpu: str, seconds: float | None, times: DeviceTimes | None, processor: str
) -> DeviceChoice | None:
    software = f"{HOST}, since {gpu} is a software adapter, which computes on the same cores"
    if seconds is None:
        return DeviceChoice(HOST, f"{software}.")
    if seconds < COMPILING_IN_SOFTWARE:
        return DeviceChoice(
            HOST,
            f"{software}, and may compile for longer than the training takes with NumPy: "
            f"{_about(seconds)}.",
        )
    if times is None:
        return None
    if not times.calm:
        return DeviceChoice(HOST, f"{software}, and {_BUSY} to measure whether it is faster.")
    gain = seconds * (1 - times.gpu / times.cpu)
    if times.gpu < SOFTWARE_WORTH * times.cpu and gain > COMPILING_IN_SOFTWARE:
        return DeviceChoice(FIRST_GPU, _by_measurement(FIRST_GPU, gpu, times, processor))
    return DeviceChoice(HOST, _by_measurement(HOST, gpu, times, processor))


def _if_hardware(
    gpu: str,
    seconds: float | None,
    times: DeviceTimes | None,
    processor: str,
    step_seconds: float,
) -> DeviceChoice | None:
    if seconds is not None and UNDERESTIMATE * seconds < COMPILING:
        return DeviceChoice(
            HOST,
            f"{HOST}, since {gpu} would compile for longer than the training takes with NumPy: "
            f"{_about(seconds)}.",
        )
    if times is None and step_seconds >= LARGE_STEP:
        return DeviceChoice(
            FIRST_GPU,
            f"{gpu}, a hardware GPU, since the products of a step would take NumPy about "
            f"{1000 * step_seconds:.2g} ms.",
        )
    if times is None:
        return None
    if not times.calm:
        return DeviceChoice(FIRST_GPU, f"{gpu}, since {_BUSY} to measure whether NumPy is faster.")
    device = FIRST_GPU if times.gpu < HARDWARE_LIMIT * times.cpu else HOST
    return DeviceChoice(device, _by_measurement(device, gpu, times, processor))


_BUSY = "other programs keep the machine too busy"


def choice_after_failure(adapter: AdapterInfo, problem: str) -> DeviceChoice:
    """Return the device to take if the GPU cannot be measured.

    A session opens a hardware GPU again, and reports what is wrong with it.
    """
    if not adapter.is_software:
        return DeviceChoice(FIRST_GPU)
    return DeviceChoice(HOST, f"{HOST}, since {FIRST_GPU} ({adapter.name}) failed: {problem}")


def _by_measurement(device: str, gpu: str, times: DeviceTimes, processor: str) -> str:
    return (
        f"{device}, by measurement: a test step takes {1e3 * times.cpu:.3g} ms on {HOST} "
        f"({processor}) and {1e3 * times.gpu:.3g} ms on {gpu}."
    )


def _about(seconds: float) -> str:
    return f"about {math.ceil(seconds)} s" if seconds > 1 else "less than 1 s"
