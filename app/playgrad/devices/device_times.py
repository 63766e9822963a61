"""Seconds of a test step on the processor and on a GPU, and the device that they speak for.

`playgrad.runtime.default_device` measures them, once for each adapter. This module has plain data,
the decision, and what the host saves.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.devices.saved_entries import dump_entries, parse_entries
from playgrad.devices.saved_tunings import adapter_key
from playgrad.devices.target import AdapterInfo
from playgrad.devices.this_host import this_host

SOFTWARE_WORTH = 0.9
"""A software adapter must take less than this share of the processor's time. It computes on the
same cores, so a near tie gains nothing."""
HARDWARE_LIMIT = 4.0
"""A hardware adapter may take this many times the processor's time: the test step is small, and a
GPU gains most on large ones."""

_measured: dict[str, DeviceTimes] = {}
"""Times measured in this process, which also hold if they cannot be saved."""


@dataclass(frozen=True)
class DeviceTimes:
    """Seconds of the test step on ``cpu:0`` and on ``gpu:0``."""

    cpu: float
    gpu: float

    def favours_gpu(self, is_software: bool) -> bool:
        """Return whether a program that names no device runs on the GPU.

        Args:
            is_software: whether the GPU is a software adapter.
        """
        return self.gpu < self.cpu * (SOFTWARE_WORTH if is_software else HARDWARE_LIMIT)


def known_device_times(info: AdapterInfo) -> DeviceTimes | None:
    """Return the times measured with this adapter, driver and processor, if any."""
    key = _key(info)
    return _measured.get(key) or parse_device_times(this_host().recall_device_times()).get(key)


def save_device_times(info: AdapterInfo, times: DeviceTimes | None) -> None:
    """Save the times measured with an adapter; None forgets them.

    Raises:
        OSError, PlaygradError: they cannot be saved. They hold for this process.
    """
    key = _key(info)
    saved = parse_device_times(this_host().recall_device_times())
    for known in (_measured, saved):
        known.pop(key, None)
        if times is not None:
            known[key] = times
    this_host().remember_device_times(dump_device_times(saved))


def forget_measured() -> None:
    """Forget the times measured in this process, but not what was saved."""
    _measured.clear()


def _key(info: AdapterInfo) -> str:
    processor = f"{platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}"
    return f"{adapter_key(info)} | {processor}"


def parse_device_times(text: str) -> dict[str, DeviceTimes]:
    """Return times by adapter and processor from what `dump_device_times` wrote.

    Entries that are damaged or come from another version are dropped.
    """
    return parse_entries(text, DeviceTimes, lambda _, value: _is_time(value))


def _is_time(value: Any) -> bool:
    return isinstance(value, float) and 0 < value < math.inf


def dump_device_times(times: Mapping[str, DeviceTimes]) -> str:
    """Return ``times``, by adapter and processor, as JSON."""
    return dump_entries(times)
