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
        "message": str(error) or type(error).__name__,
        "line": _line(error),
        "op": None,
        "traceback": _traceback(error),
    }
    if isinstance(error, PlaygradError):
        description["op"] = error.op
        if error.source and error.source[0] == FILE:
            description["line"] = error.source[1]
    if isinstance(error, SyntaxError):
        description["message"] = error.msg
    return description


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
