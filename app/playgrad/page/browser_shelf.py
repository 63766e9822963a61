"""Data sets that the visitor has given to the page, which the browser keeps."""

from __future__ import annotations

import json
from urllib.parse import quote

from playgrad.devices import _browser as host
from playgrad.errors import DataError

FOLDER = "/data/yours/"
"""Paths below it are never asked of the server: see static/engine/data-files.js."""


class BrowserShelf:
    """Asks the page, at each use: the visitor may add data at any time."""

    advice = 'Press "Your data" above the program to add it, or change the name.'

    def names(self) -> dict[str, str]:
        """Return the file name of each data set."""
        names: list[str] = json.loads(bytes(_fetch(FOLDER)))
        return {name: f"{name}.npz" for name in names}

    def read(self, name: str) -> memoryview:
        """Return the content of a data set, an NPZ file."""
        return _fetch(FOLDER + quote(name, safe=""))


def _fetch(path: str) -> memoryview:
    try:
        return host.fetch_data(path)
    except OSError as error:
        raise DataError(str(error)) from None
