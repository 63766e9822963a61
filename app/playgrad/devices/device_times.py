"""Seconds of a test step on the processor and on a GPU, and the device that they speak for.

`playgrad.runtime.default_device` measures them, for each adapter. This module has plain data, what
can be concluded from measurements, and what the host saves.
"""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from playgrad.devices.saved_entries import dump_entries, parse_entries
from playgrad.devices.saved_tunings import adapter_key
from playgrad.devices.target import AdapterInfo
from playgrad.devices.this_host import this_host

WAITING = 1.2
"""NumPy, with one thread, may take this many times its processor time on a calm machine."""
SPREAD = 1.5
"""The median of the times of a GPU may be this many times the least on a calm machine."""
CALM_AGE = 30 * 86_400
"""Seconds after which times are measured again: the machine may have changed unnoticed."""
BUSY_AGE = 60
"""The same, if other programs disturbed the measurement. Such times are not saved."""

_measured: dict[str, DeviceTimes] = {}
"""Times measured in this process, which also hold if they cannot be saved."""


class Timing(NamedTuple):
    """Seconds of one step: on the clock, and of the processor time of the measuring thread."""

    wall: float
    processor: float


@dataclass(frozen=True)
class DeviceTrial:
    """The timings of several rounds, in each of which both devices were measured."""

    cpu: Sequence[Timing]
    gpu: Sequence[Timing]

    @property
    def is_calm(self) -> bool:
        """True if other programs left the processor to this one."""
        waiting = median(timing.wall / timing.processor for timing in self.cpu)
        walls = [timing.wall for timing in self.gpu]
        return waiting <= WAITING and median(walls) <= SPREAD * min(walls)


@dataclass(frozen=True)
class DeviceTimes:
    """Seconds of the test step on ``cpu:0`` and on ``gpu:0``.

    Attributes:
        calm: whether the machine was calm.
        when: seconds since 1970.
    """

    cpu: float
    gpu: float
    calm: bool
    when: float

    @staticmethod
    def of(trials: Sequence[DeviceTrial], when: float) -> DeviceTimes:
        """Return the times of several trials: for each device, the times that favour the GPU least.

        A gain of the GPU thus was measured in every trial. Of NumPy, the processor time counts,
        which other programs hardly change.
        """
        cpu = min(timing.processor for trial in trials for timing in trial.cpu)
        gpu = max(min(timing.wall for timing in trial.gpu) for trial in trials)
        return DeviceTimes(cpu, gpu, all(trial.is_calm for trial in trials), when)

    @property
    def is_valid(self) -> bool:
        """True if the times are recent enough to be believed."""
        return 0 <= time.time() - self.when < (CALM_AGE if self.calm else BUSY_AGE)


def known_device_times(info: AdapterInfo) -> DeviceTimes | None:
    """Return the times measured with this adapter, driver and processor, if any are valid."""
    key = _key(info)
    times = _measured.get(key) or parse_device_times(this_host().recall_device_times()).get(key)
    return times if times is not None and times.is_valid else None


def save_device_times(info: AdapterInfo, times: DeviceTimes | None) -> None:
    """Save the times measured with an adapter, if the machine was calm; None forgets them.

    Raises:
        OSError, PlaygradError: they cannot be saved. They hold for this process.
    """
    key = _key(info)
    saved = parse_device_times(this_host().recall_device_times())
    for known in (_measured, saved):
        known.pop(key, None)
        if times is not None and (times.calm or known is _measured):
            known[key] = times
    this_host().remember_device_times(dump_device_times(saved))


def forget_measured() -> None:
    """Forget the times measured in this process, but not saved ones."""
    _measured.clear()


def _key(info: AdapterInfo) -> str:
    processor = f"{platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}"
    return f"{adapter_key(info)} | {this_host().ENGINE} | {processor}"


def parse_device_times(text: str) -> dict[str, DeviceTimes]:
    """Return times by adapter and processor from the text of `dump_device_times`.

    Entries that are damaged or come from another version are dropped.
    """
    return parse_entries(text, DeviceTimes, _fits)


def _fits(name: str, value: Any) -> bool:
    if name == "calm":
        return value is True
    return isinstance(value, float) and 0 < value < math.inf


def dump_device_times(times: Mapping[str, DeviceTimes]) -> str:
    """Return ``times``, by adapter and processor, as JSON."""
    return dump_entries(times)
