"""Errors of the user's program, described for the page."""

from __future__ import annotations

import traceback
from typing import Any

from playgrad.errors import PlaygradError

FILE = "main.py"
"""The name under which the user's program is compiled."""

_MEMORY = (
    "A program in the page can use 4 GB. Keep fewer or smaller arrays: float32 instead of float64, "
    "parts instead of the whole."
)


def describe(error: BaseException) -> dict[str, Any]:
    """Return an error's type, message, line in the program, operation and traceback.

    The traceback has no frames of the library.
    """
    description: dict[str, Any] = {
        "type": type(error).__name__,
        "message": _message(error),
        "line": _line(error),
        "op": None,
        "traceback": _traceback(error),
    }
    if isinstance(error, PlaygradError):
        description["op"] = error.op
        if error.source and error.source[0] == FILE:
            description["line"] = error.source[1]
    return description


def _message(error: BaseException) -> str:
    """Return the error's message, with a suggestion if Python or the page has one."""
    if isinstance(error, SyntaxError):
        return error.msg
    message = str(error) or type(error).__name__
    if isinstance(error, (NameError, AttributeError)):
        # Python's report ends with a suggestion for a misspelt name.
        report = "".join(traceback.format_exception_only(error)).strip()
        return report.partition(": ")[2] or message
    if isinstance(error, ModuleNotFoundError):
        return f"{message}. Python's standard library, numpy and playgrad are available."
    if isinstance(error, MemoryError):
        reason = "Python has no memory left" if message == "MemoryError" else message
        return f"{reason.rstrip('.')}. {_MEMORY}"
    if isinstance(error, EOFError):
        return f"{message}: a program in the page cannot read input. Write the values in the code."
    return message


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == FILE]
    return lines[-1] if lines else None


def _traceback(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == FILE), None)
    visible = traceback.StackSummary.from_list(frames[first:] if first is not None else [])
    return "".join([*visible.format(), *traceback.format_exception_only(error)])
