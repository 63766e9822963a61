"""Errors of the user's program as the page shows them: type, message, line."""

from __future__ import annotations

import traceback
from typing import Any

from playgrad.errors import PlaygradError

FILE = "main.py"
"""The name under which the user's program is compiled."""


def describe(error: BaseException) -> dict[str, Any]:
    """Type, message, line of the program, operation, and a traceback without our own frames."""
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
    """What went wrong, and where the page or Python knows it, what to do."""
    if isinstance(error, SyntaxError):
        return error.msg
    message = str(error) or type(error).__name__
    if isinstance(error, (NameError, AttributeError)):
        # Python's own report ends with what may have been meant.
        said = "".join(traceback.format_exception_only(error)).strip()
        return said.partition(": ")[2] or message
    if isinstance(error, ModuleNotFoundError):
        return f"{message}. There are Python's own modules, numpy and playgrad."
    if isinstance(error, EOFError):
        return f"{message}: the page has no input. Write the values into the code."
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
    own = traceback.StackSummary.from_list(frames[first:] if first is not None else [])
    return "".join([*own.format(), *traceback.format_exception_only(error)])
