"""The device of a session that names none: the answer of `choose_device` for this machine."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress

import numpy as np

from playgrad.compiler.program import Program
from playgrad.devices import registry as devices
from playgrad.devices.device_times import (
    DeviceTimes,
    DeviceTrial,
    Timing,
    known_device_times,
    save_device_times,
)
from playgrad.devices.kinds import FIRST_GPU, HOST, canonical, kind_of
from playgrad.devices.machines import full_name, full_names
from playgrad.errors import DeviceError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.ops import matmul, reduce_sum, relu
from playgrad.ops.state import Variable
from playgrad.runtime.desktop_host import processor_name
from playgrad.runtime.device_choice import DeviceChoice, choice_after_failure, choose_device
from playgrad.runtime.executor import Executor
from playgrad.runtime.programs import Programs
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.session_placement import SessionPlacement

AUTO = "auto"
PINNED = "PLAYGRAD_DEVICE"
"""The environment variable with the device that "auto" takes, unmeasured."""
TRIALS = 2
"""Trials that a decision needs: a single one may mislead."""
MOST_TRIALS = 5
"""Trials after which a busy machine is not waited for any more."""
ROUNDS = 6
"""Number of times that each device is measured in a trial."""
SLICE = 0.01
"""Seconds of each of these times, so that launching the work is a small part of them."""
_BATCH, _INPUTS, _OUTPUTS = 64, 784, 64

_lock = threading.Lock()


def default_device(
    name: str, seconds: float | None = None, step_seconds: float | None = None
) -> DeviceChoice:
    """Return the device that "cpu", "gpu", "gpu:1", "reference" or "auto" means here.

    "auto" is the device that the environment variable ``PLAYGRAD_DEVICE`` names, or else what
    `choose_device` says. Both devices are measured if it asks for that.

    Args:
        seconds: about how long the work would take with NumPy; None if that is unknown.
        step_seconds: the same for the products of one of its steps.

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
    adapter = next(iter(devices.gpu_adapters()), None)
    in_page = sys.platform == "emscripten"
    times = None
    if adapter is not None and not adapter.is_software and not in_page:
        times = known_device_times(adapter)
    choice = choose_device(adapter, seconds, times, in_page, step_seconds, processor_name())
    if choice is not None:
        return choice
    assert adapter is not None
    with _lock:
        times = known_device_times(adapter)
        if times is None:
            try:
                times = measure_devices()
            except PlaygradError as error:
                return choice_after_failure(adapter, error.message)
            with suppress(OSError, PlaygradError):  # not saved, it holds for this process
                save_device_times(adapter, times)
    choice = choose_device(adapter, seconds, times, processor=processor_name())
    assert choice is not None
    return choice


def _existing(name: str) -> str:
    """Return the full name of a device that exists."""
    available = devices.NameableDevices()
    device = canonical(name)
    if device not in available:
        first = kind_of(device).first
        if first not in available:
            devices.opened(first)  # explains that there is none
        raise DeviceError(
            f"there is no {full_name(device)} here.", hint=f"Available: {full_names(available)}."
        )
    return device


def measure_devices() -> DeviceTimes:
    """Return the seconds of the test step on ``cpu:0`` and on ``gpu:0``, from several trials.

    On a busy machine further trials are made, in the hope that the others end.

    Raises:
        PlaygradError: the GPU cannot run it.
    """
    with ExitStack() as stack:
        cpu, gpu = (stack.enter_context(closing(_TestStep(device))) for device in (HOST, FIRST_GPU))
        trials: list[DeviceTrial] = []
        while len(trials) < MOST_TRIALS:
            # The devices take turns, so that other load on the machine affects both.
            rounds = [(cpu.timing(), gpu.timing()) for _ in range(ROUNDS)]
            trials.append(DeviceTrial(*zip(*rounds, strict=True)))
            calm = [trial for trial in trials if trial.is_calm]
            if len(calm) == TRIALS:
                return DeviceTimes.of(calm, time.time())
    return DeviceTimes.of(trials, time.time())


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
        self._executor = Executor(threads=1)  # so that the thread's processor time is NumPy's
        self._programs = Programs(
            devices.opened, SessionPlacement(device, None, False), self._executor
        )
        self._repeats = 0

    def timing(self) -> Timing:
        """Return the seconds of one step, as a mean over a slice."""
        runnable = self._programs.prepared(self._program, {})
        if not self._repeats:
            _time(runnable, 1)  # compiles kernels and loads libraries
            once = _time(runnable, 1).wall
            self._repeats = max(1, min(1000, math.ceil(SLICE / max(once, 1e-9))))
        wall, processor = _time(runnable, self._repeats)
        return Timing(wall / self._repeats, processor / self._repeats)

    def close(self) -> None:
        """Free the buffers and threads."""
        self._programs.unload()
        self._programs.store.close()
        self._executor.close()


def _time(runnable: Runnable, repeats: int) -> Timing:
    start, worked = time.perf_counter(), time.thread_time()
    runnable.repeat({}, repeats, lambda: False)
    processor = time.thread_time() - worked
    return Timing(time.perf_counter() - start, max(processor, 1e-9))
