"""The file in the user's cache folder that stores measured tunings."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

from playgrad import paths
from playgrad.errors import PlaygradError
from playgrad.io.whole_files import write_whole
from playgrad.json_text import parse_json

_LARGEST = 1 << 20
"""Maximum number of bytes of the file; a tuning has less than a thousand."""
_log = logging.getLogger(__name__)


def tunings_file() -> Path:
    return paths.cache() / "tunings.json"


def recall_tunings() -> str:
    """Return the text last passed to `remember_tunings`, empty if there is none.

    A damaged file is put aside, and one line of the log says so.
    """
    try:
        file = tunings_file()
        status = file.stat()
    except (OSError, PlaygradError):  # it does not exist, or the user has no home folder
        return ""
    try:
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise ValueError("it is not a file of tunings")
        text = file.read_text(encoding="utf-8")
        if not isinstance(parse_json(text), dict):
            raise ValueError("it is not a JSON object")
    except OSError as error:
        _log.warning("the tunings in %s cannot be read (%s).", file, error.strerror)
        return ""
    except ValueError as error:
        put_aside(file, str(error))
        return ""
    return text


def put_aside(file: Path, reason: str) -> None:
    """Rename a damaged file, or whatever is in its place, and log one line."""
    aside = file.with_name(f"{file.name}.damaged")
    try:
        file.replace(aside)
        result = f"renamed to {aside.name}; new measurements replace it"
    except OSError as error:
        result = f"ignored; it cannot be renamed ({error.strerror})"
    _log.warning("the tunings in %s are damaged (%.100s): %s.", file, reason, result)


def remember_tunings(text: str) -> None:
    """Save ``text``.

    Raises:
        OSError: the folder cannot be written to.
    """
    file = tunings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.encode())
