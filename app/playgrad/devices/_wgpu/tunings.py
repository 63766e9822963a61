"""The file in the user's cache folder that stores measured tunings."""

from __future__ import annotations

import os
from pathlib import Path

from playgrad import paths


def tunings_file() -> Path:
    return paths.cache() / "tunings.json"


def recall_tunings() -> str:
    """Return the text last passed to `remember_tunings`, empty if it is lost or unreadable."""
    try:
        return tunings_file().read_text(encoding="utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: no home folder
        return ""


def remember_tunings(text: str) -> None:
    """Save ``text`` atomically.

    Raises:
        OSError: the folder cannot be written to.
    """
    file = tunings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
