"""The device that a session takes if it names none, chosen by measured speed.

A hardware GPU is faster than the processor for nearly everything that is worth waiting for. A
software adapter is slower than NumPy on most machines, as it computes on the same cores without
their matrix libraries. So "auto" measures one small step on both, once for each adapter and driver,
and remembers the result (docs/decisions/019).
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from playgrad.compiler.place import HOST, canonical
from playgrad.compiler.program import Program
from playgrad.devices import registry as devices
from playgrad.devices.device_times import DeviceTimes, known_device_times, save_device_times
from playgrad.errors import DeviceError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.ops import matmul, reduce_sum, relu
from playgrad.ops.state import Variable
from playgrad.runtime.executor import Executor
from playgrad.runtime.programs import Programs
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.session_placement import SessionPlacement
from playgrad.runtime.transport import LocalTransport

AUTO = "auto"
PINNED = "PLAYGRAD_DEVICE"
"""The environment variable with the device that "auto" takes, unmeasured."""
GPU = "gpu:0"
ROUNDS = 6
"""Number of times that each device is measured; the least time counts."""
SLICE = 0.01
"""Seconds of each of these times, so that launching the work is a small part of them."""
_BATCH, _INPUTS, _OUTPUTS = 64, 784, 64

_lock = threading.Lock()


class DeviceChoice(NamedTuple):
    """A device, and why "auto" took it: a sentence, empty where there was nothing to measure."""

    device: str
    reason: str = ""


def default_device(name: str) -> DeviceChoice:
    """Return the device that "cpu", "gpu", "gpu:1" or "auto" means here.

    "auto" is the device that the environment variable ``PLAYGRAD_DEVICE`` names. Without it, it is
    the GPU or the processor, whichever was measured to be faster; the first call on a machine
    measures them. In a page, where both take about as long, it is a GPU if there is one.

    Raises:
        DeviceError: the device does not exist.
    """
    devices.look_for_lost_gpus()
    pinned = os.environ.get(PINNED, "") if name == AUTO else ""
    if pinned not in ("", AUTO):
        try:
            return DeviceChoice(_existing(pinned))
        except DeviceError as error:
            problem = f"{PINNED} is {pinned!r}: {error.message}"
            raise DeviceError(problem, hint=error.hint) from None
    if name != AUTO:
        return DeviceChoice(_existing(name))
    if GPU not in devices.device_names():
        return DeviceChoice(HOST)
    return DeviceChoice(GPU) if sys.platform == "emscripten" else _faster_device()


def _existing(name: str) -> str:
    """Return the full name of a device that exists."""
    available = devices.device_names()
    device = canonical(name)
    if device not in available:
        if device.startswith("gpu") and GPU not in available:
            devices.gpu(0)  # explains that there is none
        raise DeviceError(f"there is no {device} here.", hint=f"Available: {', '.join(available)}.")
    return device


def _faster_device() -> DeviceChoice:
    info = devices.gpu_adapters()[0]
    with _lock:
        times = known_device_times(info)
        if times is None:
            try:
                times = measure_devices()
            except PlaygradError as error:
                return _without_times(info.name, info.is_software, error)
            with suppress(OSError, PlaygradError):  # not saved, it holds for this process
                save_device_times(info, times)
    device = GPU if times.favours_gpu(info.is_software) else HOST
    return DeviceChoice(device, describe(device, times, info.name))


def _without_times(adapter: str, is_software: bool, error: PlaygradError) -> DeviceChoice:
    """Return the device to take after a failed measurement.

    A session opens a hardware GPU again, and reports what is wrong with it.
    """
    if not is_software:
        return DeviceChoice(GPU)
    return DeviceChoice(HOST, f"{HOST}, since {GPU} ({adapter}) failed: {error.message}")


def describe(device: str, times: DeviceTimes, adapter: str) -> str:
    """Return the sentence that explains the choice of ``device``."""
    return (
        f"{device}, by measurement: a test step takes {1e3 * times.cpu:.3g} ms on {HOST} (NumPy) "
        f"and {1e3 * times.gpu:.3g} ms on {GPU} ({adapter})."
    )


def measure_devices() -> DeviceTimes:
    """Return the seconds of the test step on ``cpu:0`` and on ``gpu:0``.

    The devices take turns, so that other load on the machine affects both.

    Raises:
        PlaygradError: the GPU cannot run it.
    """
    steps = {device: _TestStep(device) for device in (HOST, GPU)}
    seconds = dict.fromkeys(steps, math.inf)
    try:
        for _ in range(ROUNDS):
            for device, step in steps.items():
                seconds[device] = min(seconds[device], step.seconds())
    finally:
        for step in steps.values():
            step.close()
    return DeviceTimes(seconds[HOST], seconds[GPU])


class _TestStep:
    """A layer of a typical small network, on one device: a product, a bias, an activation, a sum.

    It is compiled, and its variables are allocated, when it is first timed.
    """

    def __init__(self, device: str) -> None:
        random = np.random.default_rng(0)
        graph = Graph()
        with graph.as_default():
            x, kernel, bias, total = (
                Variable(random.standard_normal(shape, np.float32))
                for shape in ((_BATCH, _INPUTS), (_INPUTS, _OUTPUTS), (_OUTPUTS,), (_BATCH,))
            )
            update = total.assign(reduce_sum(relu(matmul(x, kernel) + bias), axis=1))
        self._program = Program(graph, targets=[update.node])
        self._executor = Executor()
        self._programs = Programs(
            devices.opened, SessionPlacement(device, None, False), self._executor, LocalTransport
        )
        self._repeats = 0

    def seconds(self) -> float:
        """Return the seconds of one step, as a mean over a slice."""
        runnable = self._programs.prepared(self._program, {})
        if not self._repeats:
            _time(runnable, 1)  # compiles kernels and loads libraries
            once = _time(runnable, 1)
            self._repeats = max(1, min(1000, math.ceil(SLICE / max(once, 1e-9))))
        return _time(runnable, self._repeats) / self._repeats

    def close(self) -> None:
        """Free the buffers and threads."""
        self._programs.unload()
        self._programs.store.close()
        self._executor.close()


def _time(runnable: Runnable, repeats: int) -> float:
    start = time.perf_counter()
    runnable.repeat({}, repeats, lambda: False)
    return time.perf_counter() - start
