"""Data sets and models that the visitor has added to the page, which the browser keeps."""

from __future__ import annotations

import json
from urllib.parse import quote

from playgrad.devices import _browser as host
from playgrad.errors import CheckpointError, DataError

FOLDER = "/data/yours/"
"""Paths below it are never asked of the server: see static/engine/data-files.js."""
MODELS = f"{FOLDER}models/"
"""The folder of models: names of data sets have no slash."""


class BrowserUserData:
    """Asks the page, at each use: the visitor may add data at any time."""

    advice = 'Press "Your data" above the program to add it, or change the name.'

    def names(self) -> dict[str, str]:
        """Return the file name of each data set."""
        names: list[str] = json.loads(bytes(_fetch(FOLDER)))
        return {name: f"{name}.npz" for name in names}

    def read(self, name: str) -> memoryview:
        """Return the content of a data set, an NPZ file."""
        return _fetch(FOLDER + quote(name, safe=""))


class BrowserModels:
    """Files of models, which programs name as if they were beside them."""

    advice = 'Press "Your data" above the program to add the file, or change the name.'

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if the visitor has not added one of that name."""
        try:
            names = json.loads(bytes(host.fetch_data(MODELS)))
            return bytes(host.fetch_data(MODELS + quote(name, safe=""))) if name in names else None
        except OSError as error:
            raise CheckpointError(str(error)) from None


def _fetch(path: str) -> memoryview:
    try:
        return host.fetch_data(path)
    except OSError as error:
        raise DataError(str(error)) from None
