"""Files of models and weights that the user has added outside of the file system, by name.

On the desktop there are none; in the page, the browser keeps them.
"""

from __future__ import annotations

from typing import Protocol


class UserFiles(Protocol):
    """Files by name."""

    advice: str
    """A sentence on how to add a file; may be empty."""

    def read(self, name: str) -> bytes | None:
        """Return the content of the file ``name``; None if there is no such file."""


class NoFiles:
    """The files of a desktop, which has them all in its file system."""

    advice = ""

    def read(self, name: str) -> bytes | None:
        return None


_user_files: UserFiles = NoFiles()


def set_user_files(files: UserFiles) -> UserFiles:
    """Take files that are not in the file system from ``files``; return the previous ones."""
    global _user_files
    before, _user_files = _user_files, files
    return before


def user_files() -> UserFiles:
    """Return the source in use."""
    return _user_files
