"""Stops that the page asks for, and sleep that they end."""

from __future__ import annotations

import playgrad_host  # type: ignore[import-not-found]


def stop_requested() -> bool:
    """Whether the page asked for a stop that it has not taken back."""
    return bool(playgrad_host.stop_requested())


def obey_interrupt() -> None:
    """Raise KeyboardInterrupt if one is asked for: after a long sleep Python is to look at once.

    By itself it looks only every so many instructions. (``pyodide.checkInterrupt`` would print the
    error on its way through JavaScript.)
    """
    if playgrad_host.take_interrupt():
        raise KeyboardInterrupt


def sleep(seconds: float) -> None:
    """`time.sleep`, except that a stop ends it: Python's own would sleep on."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    playgrad_host.sleep(seconds * 1000)
    obey_interrupt()
