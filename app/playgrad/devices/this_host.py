"""The host of this process: wgpu-py on a desktop, the page in a browser."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Sequence
from types import ModuleType

from playgrad.devices.pending import Delay, Pending
from playgrad.devices.target import AdapterInfo


def this_host() -> ModuleType:
    """Return the package that implements this host, `_wgpu` or `_browser`."""
    if sys.platform == "emscripten":
        from playgrad.devices import _browser as host
    else:
        from playgrad.devices import _wgpu as host
    return host


@functools.cache
def adapters() -> list[AdapterInfo]:
    """Return the adapters that the host offers, best first.

    They are cached: in a page, listing them is a call to another worker.
    """
    infos: list[AdapterInfo] = this_host().list_adapters()
    return infos


def forget_adapters() -> None:
    """Ask the host for its adapters again when they are needed next."""
    adapters.cache_clear()
    this_host().forget_adapters()


def wait_any(pendings: Sequence[Pending], seconds: float) -> None:
    """Sleep until one of ``pendings`` may be done, for at most ``seconds``.

    Callers check again. Only a page needs this: on a desktop a thread waits for each device.
    """
    ends = [pending.end for pending in pendings if isinstance(pending, Delay)]
    seconds = min([seconds, *(max(0.0, end - time.perf_counter()) for end in ends)])
    if sys.platform == "emscripten":
        this_host().wait_for_answer(seconds)
    else:
        time.sleep(min(seconds, 0.001))
