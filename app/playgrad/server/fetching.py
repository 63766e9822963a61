"""Data sets that the server fetches when a browser first asks for one."""

from __future__ import annotations

import threading
import time

from werkzeug.exceptions import ServiceUnavailable

from playgrad.assets import Asset, DownloadError, fetch

_REST_SECONDS = 60.0
"""After a failure: sources that do not answer would hold up a thread for each request."""
_lock = threading.Lock()
_failures: dict[str, tuple[float, str]] = {}


def fetch_first(asset: Asset) -> None:
    """Fetch ``asset`` if it is missing; requests that come meanwhile wait.

    Raises:
        ServiceUnavailable: it cannot be fetched.
    """
    with _lock:
        if all((asset.folder() / file.name).is_file() for file in asset.files):
            return
        failed, message = _failures.get(str(asset.folder()), (-_REST_SECONDS, ""))
        if time.monotonic() - failed < _REST_SECONDS:
            raise ServiceUnavailable(message)
        try:
            fetch(asset)
        except DownloadError as error:
            message = f"{error.message} {error.hint or ''}".strip()
            _failures[str(asset.folder())] = time.monotonic(), message
            raise ServiceUnavailable(message) from None
