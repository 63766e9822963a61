"""Compiled steps on the desktop: whether to compile, and a host for each session.

Whoever installed the compiler asked for them. The environment can turn them off: last digits may
differ from NumPy's, so a training should go on as it began.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec

from playgrad.errors import DeviceError
from playgrad.runtime.step_host import StepHost, is_host_chosen, step_host

VARIABLE = "PLAYGRAD_SIMD"
"""The environment variable that is 0 if steps are not to be compiled."""


@cache
def has_compiler() -> bool:
    """Return whether this is the desktop, with the compiler that `desktop_host` needs."""
    return sys.platform != "emscripten" and find_spec("wasmtime") is not None


def is_enabled() -> bool:
    """Return whether steps are to be compiled here."""
    return os.environ.get(VARIABLE) != "0" and has_compiler()


def processor_name() -> str:
    """Return what computes on the device ``cpu`` here, in a word."""
    compiles = is_enabled() if not is_host_chosen() and has_compiler() else step_host() is not None
    return "compiled" if compiles else "NumPy"


def compiler_name() -> str:
    """Return what compiles steps here, with its version."""
    return f"wasmtime {version('wasmtime')}" if is_enabled() else "none"


def processor_summary() -> str:
    """Return a sentence about how this process computes on the processor."""
    if is_enabled():
        return (
            f"steps are compiled ({compiler_name()}), large products are NumPy's. "
            f"{VARIABLE}=0 leaves all to NumPy."
        )
    if has_compiler():
        return f"NumPy, since {VARIABLE} is 0. Compiled steps are faster."
    return 'NumPy. Compiled steps are faster: pip install "playgrad[simd]".'


def compiles_for_sessions() -> bool:
    """Return whether each session has a host, by `desktop_host`, instead of `step_host`."""
    return not is_host_chosen() and is_enabled()


def desktop_host() -> StepHost:
    """Return a new host, for one session on the desktop.

    Raises:
        MemoryError: the process may not reserve addresses for it.
        DeviceError: the compiler is installed, but cannot be loaded.
    """
    try:
        from playgrad.runtime.wasmtime_host import WasmtimeHost
    except (ImportError, OSError, RuntimeError) as error:
        raise DeviceError(
            f"the compiler of training steps, the package wasmtime, cannot be loaded: {error}",
            hint=f"Install it again, or set {VARIABLE}=0 to compute with NumPy.",
        ) from error

    return WasmtimeHost()
