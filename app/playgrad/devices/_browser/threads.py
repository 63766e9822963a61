"""Threads of a page that work on compiled steps, in the memory of its Python."""

from __future__ import annotations

import playgrad_host  # type: ignore[import-not-found]
import pyodide_js
from pyodide.ffi import to_js


def most_threads() -> int:
    """Return how many threads there can be, this one included; 1 if memory cannot be shared."""
    return int(playgrad_host.most_threads(pyodide_js._module.memory))


def share_module(threads: int, control: int, number: int, module: bytes) -> None:
    """Have so many other threads load ``module``; start them if there are none yet.

    Args:
        control: the address of their control words.
        number: that of the module.
    """
    memory = pyodide_js._module.memory
    playgrad_host.share_module(memory, threads, control, number, to_js(module))


def settle(control: int) -> None:
    """Wait until the threads have done what they have begun."""
    playgrad_host.settle_threads(pyodide_js._module.memory, control)
