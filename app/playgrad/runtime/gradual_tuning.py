"""Measures a GPU that nobody has measured yet while it trains, for the processes after this one.

A first step waits for nothing: until then the adapter runs the first choice for its maker
(`devices.first_choices`). Between two chunks of steps, now and then, a piece of measuring is done
on a device of its own, so that a kernel which breaks the device takes no training with it. What was
learnt is saved, and holds from the next process on: the kernels, and so the last digits, of a
process stay what they were at its beginning.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from weakref import WeakSet

from playgrad.devices import registry
from playgrad.devices.device import Device
from playgrad.devices.first_choices import unmeasured_tuning
from playgrad.devices.kinds import FIRST_GPU
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import PlaygradError
from playgrad.runtime.tuner import PATIENCE, Tuner

SHARE = 0.03
"""The most of the time of a training that measuring may take."""
LONGEST_CHUNK = 1.0
"""Seconds between two chunks that count as training at most; a pause does not."""


@dataclass
class _Gradual:
    """The measurement of the adapter of one device.

    Attributes:
        trained: seconds of training on the device.
        spent: seconds of measuring, with the opening of a device for it.
    """

    device: WebGpuDevice
    trained: float = 0.0
    spent: float = 0.0
    tuner: Tuner | None = None
    _asked: float = field(default_factory=lambda: time.perf_counter())

    def is_due(self) -> bool:
        """Return whether there is time for a piece of work. Asked between two chunks."""
        now = time.perf_counter()
        self.trained += min(now - self._asked, LONGEST_CHUNK)
        self._asked = now
        return self.spent < SHARE * self.trained

    def advance(self) -> bool:
        """Do a piece of work; return whether nothing is left.

        If measuring fails, the first choice is saved as if it had been measured: it must not break
        the next process, too.
        """
        started = time.perf_counter()
        try:
            if self.tuner is None:
                scratch = registry.open_scratch_gpu()
                self.tuner = Tuner(scratch, patience=PATIENCE)
            else:
                self.tuner.advance()
            if not self.tuner.is_done:
                return False
            tuning = self.tuner.tuning()
        except PlaygradError:
            tuning = unmeasured_tuning(self.device.host.info)
        finally:
            self._asked = time.perf_counter()
            self.spent += self._asked - started
        self.close()
        with suppress(OSError, PlaygradError):  # not saved, the next process measures again
            registry.save_for_next_process(self.device, tuning)
        return True

    def close(self) -> None:
        if self.tuner is not None:
            self.tuner.pause()
            self.tuner.device.destroy()
            self.tuner = None


_lock = threading.Lock()
_under_way: _Gradual | None = None
_concluded: WeakSet[WebGpuDevice] = WeakSet()
"""The devices that are not measured any more in this process."""


def note_use(device: Device) -> None:
    """Begin to count the time of a GPU without a tuning, for which a step is about to be compiled.

    A page measures while nothing runs, and the first GPU only is measured here.
    """
    global _under_way
    if sys.platform == "emscripten" or not isinstance(device, WebGpuDevice):
        return
    with _lock:
        if _under_way is not None or device in _concluded or not registry.is_untuned(device):
            return
        if device.name == FIRST_GPU:
            _under_way = _Gradual(device)


def tune_a_little() -> None:
    """Do a piece of measuring, if a GPU is to be measured and has trained for long enough.

    Called between chunks of steps. It takes as long as the compilation of a kernel, or some
    hundredths of a second, and `SHARE` of the training at most.
    """
    global _under_way
    if _under_way is None or not _lock.acquire(blocking=False):
        return
    try:
        work = _under_way
        if work is not None and work.is_due() and work.advance():
            _concluded.add(work.device)
            _under_way = None
    finally:
        _lock.release()
