"""Data sets of the user, by name.

On the desktop they are files in the working directory and in the folder ``PLAYGRAD_DATA``; the page
sets another source, the data sets that the browser keeps.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from playgrad.errors import DataError

SUFFIXES = (".npz", ".csv", ".tsv", ".tab")
FOLDER = "PLAYGRAD_DATA"
MOST_BYTES = 1 << 30
"""A larger file is refused before it is read."""


class UserData(Protocol):
    """Data sets by name."""

    advice: str
    """A sentence on how to add a data set."""

    def names(self) -> dict[str, str]:
        """Return the name of the file of each data set, ending in one of `SUFFIXES`."""

    def read(self, name: str) -> bytes | memoryview:
        """Return the content of the file of the data set ``name``, which is one of `names`."""


class FolderUserData:
    """Files in the working directory and in ``PLAYGRAD_DATA``; the former take precedence."""

    advice = (
        "Put a file NAME.npz or NAME.csv into the working directory, or into the folder that "
        f'{FOLDER} names. The page saves such a file: "Your data", then "Save as .npz".'
    )

    def names(self) -> dict[str, str]:
        """Return the path of each file, by its name without the suffix."""
        chosen = os.environ.get(FOLDER)
        paths: dict[str, str] = {}
        for folder in (Path.cwd(), *([Path(chosen)] if chosen else [])):
            try:
                files = sorted(folder.iterdir())
            except OSError as error:
                raise DataError(
                    f"the folder {folder} cannot be read: {error.strerror}.",
                    hint=f"{FOLDER} must name a folder with data sets." if chosen else "",
                ) from None
            for suffix in SUFFIXES:
                for path in files:
                    if path.suffix.lower() == suffix and path.is_file():
                        paths.setdefault(path.stem, str(path))
        return paths

    def read(self, name: str) -> bytes:
        """Return the content of a file, unless it is too large."""
        path = Path(self.names()[name])
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                raise DataError(
                    f"{path} has {size:,} bytes, more than the {MOST_BYTES:,} that load() reads.",
                    hint="Read it in batches: see pg.data.Dataset.",
                )
            return path.read_bytes()
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from None


_user_data: UserData = FolderUserData()


def set_user_data(data: UserData) -> UserData:
    """Take data sets of the user from ``data`` from now on, and return the previous source."""
    global _user_data
    before, _user_data = _user_data, data
    return before


def user_data() -> UserData:
    """Return the source in use."""
    return _user_data
