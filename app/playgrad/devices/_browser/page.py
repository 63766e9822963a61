"""The page itself: its requests, its events, its server's files, what it remembers."""

from __future__ import annotations

import json
from typing import Any

import playgrad_host  # type: ignore[import-not-found]
from pyodide.ffi import JsException

from playgrad.devices._browser.stops import obey_interrupt


def recall_tunings() -> str:
    """What `remember_tunings` was given last, in this visit or an earlier one."""
    return str(playgrad_host.recall_tunings())


def remember_tunings(text: str) -> None:
    """Have the browser keep ``text``, if its user lets it."""
    playgrad_host.remember_tunings(text)


def emit(event: dict[str, Any]) -> None:
    """Send an event to the page, at any time; `bytes` in it arrive as Uint8Array.

    Values are plain Python: str, int, float (NaN too), bool, None, bytes, lists, dicts.
    """
    playgrad_host.emit(event)


Request = tuple[dict[str, Any], bytes | None]
"""What the page asks for, and the bytes that came along."""


def poll_mailbox() -> Request | None:
    """The page's next request, if there is one; does not wait."""
    return _request(playgrad_host.poll_mailbox())


def wait_mailbox(seconds: float) -> Request | None:
    """The page's next request, waiting up to `seconds`.

    Raises:
        KeyboardInterrupt: a stop is asked for, which ends the waiting.
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


def fetch_data(path: str) -> memoryview:
    """A file of the server that served the page, for instance ``/data/mnist/train-labels``.

    Raises:
        OSError: the server did not give it.
    """
    try:
        return memoryview(playgrad_host.fetch_data(path).to_memoryview())
    except JsException as error:
        raise OSError(f"the page's server did not give {path}: {error.message}") from None
