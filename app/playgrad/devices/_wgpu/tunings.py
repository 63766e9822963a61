"""The file in the user's cache folder that stores measured tunings."""

from __future__ import annotations

from pathlib import Path

from playgrad import paths
from playgrad.io.whole_files import write_whole


def tunings_file() -> Path:
    return paths.cache() / "tunings.json"


def recall_tunings() -> str:
    """Return the text last passed to `remember_tunings`, empty if it is lost or unreadable."""
    try:
        return tunings_file().read_text(encoding="utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: no home folder
        return ""


def remember_tunings(text: str) -> None:
    """Save ``text``.

    Raises:
        OSError: the folder cannot be written to.
    """
    file = tunings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.encode())
