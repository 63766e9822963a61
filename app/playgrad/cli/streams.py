"""Standard output and error of the command line, whatever they are connected to."""

from __future__ import annotations

import codecs
import io
import os
import sys

_ERRORS = "playgrad.plain"
_PLAIN = {
    "…": "...",
    "×": "x",
    "–": "-",
    "—": "-",
    "−": "-",
    "·": "*",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "±": "+-",
    "→": "->",
    "’": "'",
    "“": '"',
    "”": '"',
    "█": "#",
    "░": "-",
    "µ": "u",
    "μ": "u",
    "é": "e",
}


def mend_streams() -> None:
    """Let ``print`` work with any encoding, and with closed streams.

    A character that the encoding lacks is replaced by a similar one. What is written to a closed
    stream is lost, as it is with other programs.
    """
    codecs.register_error(_ERRORS, _plain)
    _fill_closed()
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            raw = io.FileIO(number, "w", closefd=False)
            mended = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "replace")
            setattr(sys, name, mended)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def _fill_closed() -> None:
    """Connect closed streams to nothing: the next opened file would get their numbers."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    plain = "".join(_PLAIN.get(mark) or ascii(mark)[1:-1] for mark in text)
    return plain, error.end
