"""Keeps what was measured of adapters in a file of the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from playgrad import paths


def tunings_file() -> Path:
    return paths.cache() / "tunings.json"


def recall_tunings() -> str:
    """What `remember_tunings` was given last; nothing if that is gone or cannot be read."""
    try:
        return tunings_file().read_text(encoding="utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: there is no home
        return ""


def remember_tunings(text: str) -> None:
    """Keep ``text``, all of it or nothing.

    Raises:
        OSError: the folder cannot be written.
    """
    file = tunings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
