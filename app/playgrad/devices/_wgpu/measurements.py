"""The files in the user's cache folder that store measurements of this machine's adapters."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

from playgrad import paths
from playgrad.errors import PlaygradError
from playgrad.io.whole_files import write_whole
from playgrad.json_text import parse_json

TUNINGS = "tunings"
DEVICE_TIMES = "device_times"
_WORDS = {TUNINGS: "tunings", DEVICE_TIMES: "times of devices"}
_LARGEST = 1 << 20
"""Maximum number of bytes of a file; an adapter has less than a thousand."""
_log = logging.getLogger(__name__)


def recall_tunings() -> str:
    """Return the text last passed to `remember_tunings`, empty if there is none.

    A damaged file is put aside, and one line of the log says so.
    """
    return _recall(TUNINGS)


def remember_tunings(text: str) -> None:
    """Save ``text``.

    Raises:
        OSError: the folder cannot be written to.
    """
    _remember(TUNINGS, text)


def recall_device_times() -> str:
    """Return the text last passed to `remember_device_times`, as `recall_tunings` does."""
    return _recall(DEVICE_TIMES)


def remember_device_times(text: str) -> None:
    """Save ``text``.

    Raises:
        OSError: the folder cannot be written to.
    """
    _remember(DEVICE_TIMES, text)


def _file(name: str) -> Path:
    return paths.cache() / f"{name}.json"


def _recall(name: str) -> str:
    words = _WORDS[name]
    try:
        file = _file(name)
        status = file.stat()
    except (OSError, PlaygradError):  # it does not exist, or the user has no home folder
        return ""
    try:
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise ValueError(f"it is not a file of {words}")
        text = file.read_text(encoding="utf-8")
        if not isinstance(parse_json(text), dict):
            raise ValueError("it is not a JSON object")
    except OSError as error:
        _log.warning("the %s in %s cannot be read (%s).", words, file, error.strerror)
        return ""
    except ValueError as error:
        _put_aside(file, words, str(error))
        return ""
    return text


def _put_aside(file: Path, words: str, reason: str) -> None:
    """Rename a damaged file, or whatever is in its place, and log one line."""
    aside = file.with_name(f"{file.name}.damaged")
    try:
        file.replace(aside)
        result = f"renamed to {aside.name}; new measurements replace it"
    except OSError as error:
        result = f"ignored; it cannot be renamed ({error.strerror})"
    _log.warning("the %s in %s are damaged (%.100s): %s.", words, file, reason, result)


def _remember(name: str, text: str) -> None:
    file = _file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.encode())
