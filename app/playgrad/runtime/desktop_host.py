"""Compiled steps on the desktop: whether to compile, and a host for each session.

The user has to ask for it: a training that goes on from a checkpoint begins with NumPy again, so
its last digits may differ from those of one that was never interrupted.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from importlib.util import find_spec

from playgrad.runtime.step_host import StepHost, is_host_chosen

VARIABLE = "PLAYGRAD_SIMD"
"""The environment variable that is 1 if steps are to be compiled."""


def has_compiler() -> bool:
    """Return whether this is the desktop, with the compiler that `desktop_host` needs."""
    return sys.platform != "emscripten" and find_spec("wasmtime") is not None


def is_enabled() -> bool:
    """Return whether steps are to be compiled here."""
    return os.environ.get(VARIABLE) == "1" and has_compiler()


def processor_summary() -> str:
    """Return a sentence about how this process computes on the processor."""
    if is_enabled():
        return f"steps are compiled (wasmtime {version('wasmtime')}), large products are NumPy's."
    if has_compiler():
        return f"NumPy. Small networks are faster with compiled steps: set {VARIABLE}=1."
    return (
        "NumPy. Small networks are faster with compiled steps: "
        f'pip install "playgrad[simd]", and set {VARIABLE}=1.'
    )


def compiles_for_sessions() -> bool:
    """Return whether each session has a host, by `desktop_host`, instead of `step_host`."""
    return not is_host_chosen() and is_enabled()


def desktop_host() -> StepHost:
    """Return a new host, for one session on the desktop.

    Raises:
        MemoryError: the process may not reserve addresses for it.
    """
    from playgrad.runtime.wasmtime_host import WasmtimeHost

    return WasmtimeHost()
