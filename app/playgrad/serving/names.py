"""The names of models, versions and labels.

A name comes from a request or a command line, and is a folder of the store: it must be one plain
folder name everywhere, and readable in an address without quoting.
"""

from __future__ import annotations

import re

from playgrad.errors import DataError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_VERSION = re.compile(r"[1-9][0-9]{0,8}")


def is_name(text: str) -> bool:
    """Return whether ``text`` can name a model or a label."""
    return _NAME.fullmatch(text) is not None


def checked_name(text: str, what: str = "model") -> str:
    """Return ``text``.

    Raises:
        DataError: it cannot name a model or a label.
    """
    if not is_name(text):
        raise DataError(
            f"{text!r:.200} cannot name a {what}.",
            hint="A name has 1 to 64 letters, digits, hyphens and underscores of ASCII, and begins "
            "with a letter or a digit.",
        )
    return text


def version_of(text: str) -> int | None:
    """Return the number of a version, from 1 to 999,999,999; None if ``text`` is none."""
    return int(text) if _VERSION.fullmatch(text) else None
