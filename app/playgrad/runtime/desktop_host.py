"""Compiled steps on the desktop: whether there is a compiler, and a host for each session."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec

from playgrad.runtime.step_host import StepHost, is_host_chosen


@cache
def has_compiler() -> bool:
    """Return whether this is the desktop, with the compiler that `desktop_host` needs."""
    return sys.platform != "emscripten" and find_spec("wasmtime") is not None


def processor_summary() -> str:
    """Return a sentence about how this process computes on the processor."""
    if has_compiler():
        return f"steps are compiled (wasmtime {version('wasmtime')}), large products are NumPy's."
    return 'NumPy. Small networks are faster with compiled steps: pip install "playgrad[simd]".'


def compiles_for_sessions() -> bool:
    """Return whether each session has a host, by `desktop_host`, instead of `step_host`."""
    return not is_host_chosen() and has_compiler()


def desktop_host() -> StepHost:
    """Return a new host, for one session on the desktop.

    Raises:
        MemoryError: the process may not reserve addresses for it.
    """
    from playgrad.runtime.wasmtime_host import WasmtimeHost

    return WasmtimeHost()
