"""Files of models and weights that a host keeps outside of the file system, by name.

On the desktop there are none; in the page, the visitor has brought them.
"""

from __future__ import annotations

from typing import Protocol


class KeptFiles(Protocol):
    """Files by name."""

    advice: str
    """A sentence on how to bring a file; may be empty."""

    def read(self, name: str) -> bytes | None:
        """Return the content of the file ``name``; None if there is no such file."""


class NoFiles:
    """The files of a desktop, which has them all in its file system."""

    advice = ""

    def read(self, name: str) -> bytes | None:
        return None


_kept: KeptFiles = NoFiles()


def set_kept_files(files: KeptFiles) -> KeptFiles:
    """Take files that are not in the file system from ``files``; return the previous ones."""
    global _kept
    before, _kept = _kept, files
    return before


def kept_files() -> KeptFiles:
    """Return the files that the host keeps."""
    return _kept
