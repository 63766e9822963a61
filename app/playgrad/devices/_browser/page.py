"""The page itself: its requests, its stops, its events, its server's files and its storage."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import playgrad_host  # type: ignore[import-not-found]
from pyodide.ffi import JsException

Request = tuple[dict[str, Any], bytes | None]
"""A request of the page, and the bytes that came with it."""


def recall_tunings() -> str:
    """Return the text last passed to `remember_tunings`, in this visit or an earlier one."""
    return str(playgrad_host.recall_tunings())


def remember_tunings(text: str) -> None:
    """Save ``text`` in the browser's storage, if the user permits it."""
    playgrad_host.remember_tunings(text)


def emit(event: dict[str, Any]) -> None:
    """Send an event to the page, at any time. `bytes` in it arrive as Uint8Array.

    Values are plain Python: str, int, float (NaN included), bool, None, bytes, lists, dicts.
    """
    playgrad_host.emit(event)


def poll_mailbox() -> Request | None:
    """Return the page's next request, if there is one; do not wait."""
    return _request(playgrad_host.poll_mailbox())


def wait_mailbox(seconds: float) -> Request | None:
    """Return the page's next request; wait up to ``seconds`` for one.

    Raises:
        KeyboardInterrupt: a stop was requested, which ends the wait.
    """
    request = _request(playgrad_host.wait_mailbox(seconds * 1000))
    if request is None:
        obey_interrupt()
    return request


def _request(pair: Any) -> Request | None:
    if pair is None:
        return None
    text, payload = pair
    return json.loads(text), None if payload is None else payload.to_bytes()


def stop_requested() -> bool:
    """Return whether the page has requested a stop and not withdrawn it."""
    return bool(playgrad_host.stop_requested())


def expect_interrupts(awaited: Callable[[], bool]) -> None:
    """Raise KeyboardInterrupt only while ``awaited`` returns True.

    An interrupt that is meant for the code of the prompt may arrive when the code has just
    ended, and must not stop the training, which continues.
    """
    global _awaited
    _awaited = awaited
    if sys.platform == "emscripten":
        signal.signal(signal.SIGINT, _interrupt)


_awaited: Callable[[], bool] = stop_requested


def _interrupt(number: int, frame: object) -> None:
    if _awaited():
        raise KeyboardInterrupt


def obey_interrupt() -> None:
    """Raise KeyboardInterrupt if a stop was requested: call this after a long sleep.

    Python itself checks only every so many instructions. (``pyodide.checkInterrupt`` would print
    the error on its way through JavaScript.)
    """
    if playgrad_host.take_interrupt() and _awaited():
        raise KeyboardInterrupt


def sleep(seconds: float) -> None:
    """Sleep like `time.sleep`, but end when a stop is requested, which Python's would sleep
    through."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    playgrad_host.sleep(seconds * 1000)
    obey_interrupt()


def fetch_data(path: str, *beside: str) -> memoryview:
    """Load a file from the server of the page, for instance ``/data/mnist/train-labels``.

    Args:
        beside: files that will be loaded next. Their download begins now.

    Raises:
        OSError: the server cannot deliver the file.
        MemoryError: it does not fit into Python's memory.
        KeyboardInterrupt: a stop was requested, which ends the wait.
    """
    try:
        received = playgrad_host.fetch_data(path, *beside)
    except JsException as error:
        obey_interrupt()
        raise OSError(f"cannot load {path} from the page: {error.message}") from None
    # Pyodide's `to_memoryview` does not survive a lack of memory.
    content = np.empty(received.byteLength, np.uint8)
    received.assign_to(content)
    return content.data


def fetch_later_library() -> memoryview:
    """Load the archive of the standard library's modules that come later. Raises as above."""
    return fetch_data(playgrad_host.later_library)
