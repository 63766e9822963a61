"""Errors of the user's program, described for the page.

An error is an object of the program, so everything about it may fail in turn, or be huge.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NotRequired, TypedDict, TypeVar

from playgrad.bridge import advice
from playgrad.errors import PlaygradError
from playgrad.page.packages import PACKAGE_OF

T = TypeVar("T")


class Problem(TypedDict):
    """An error of a kind that Blocks can mend: `values`: the names and numbers in its sentence."""

    code: str
    values: dict[str, str | float]


class ErrorInfo(TypedDict):
    """`line` of the user's program, `op`: the node concerned."""

    type: str
    message: str
    line: int | None
    op: str | None
    traceback: NotRequired[str]
    problem: NotRequired[Problem | None]


FILE = "main.py"
"""The name under which the user's program is compiled."""
LONGEST_MESSAGE = 8_000
LONGEST_TRACEBACK = 40_000

_MEMORY = (
    "A program in the page can use 4 GB. Keep fewer or smaller arrays: float32 instead of float64, "
    "parts instead of the whole."
)


def describe(error: BaseException) -> ErrorInfo:
    """Return an error's type, message, line in the program, operation, traceback and problem: the
    kind and the values of an error that Blocks can mend.

    The traceback has no frames of the library. Whatever the error is, the description is one that
    can be shown: of long texts it has the first and the last part. The error is parted from its
    causes, which are not described.
    """
    _part_from_causes(error)
    kind = _safely(lambda: str(type(error).__name__), "Error")
    description: ErrorInfo = {
        "type": _text(kind, LONGEST_MESSAGE),
        "message": _text(_safely(lambda: _message(error), _UNREADABLE), LONGEST_MESSAGE),
        "line": _safely(lambda: _line(error), None),
        "op": None,
        "traceback": _text(_safely(lambda: _traceback(error), ""), LONGEST_TRACEBACK),
        "problem": None,
    }
    if isinstance(error, PlaygradError):
        op, source = error.op, error.source
        description["op"] = None if op is None else _text(_safely(lambda: str(op), "?"), 200)
        line = _safely(lambda: _line_of(source), None)
        description["line"] = line or description["line"]
        if error.code is not None:
            description["problem"] = {"code": error.code, "values": error.values}
    return description


_UNREADABLE = "the error has a message that cannot be read: its __str__ fails."


def _safely(read: Callable[[], T], otherwise: T) -> T:
    """Return the result of ``read``, or ``otherwise`` if the error in hand breaks it."""
    try:
        return read()
    except BaseException:
        return otherwise


def _part_from_causes(error: BaseException) -> None:
    """Take a chain of errors apart, one by one: to free a long one as a whole, Python calls itself
    for each error, and in a browser that overflows the stack."""
    # The attributes of BaseException, even if a class hides them.
    links: list[Any] = [vars(BaseException)[name] for name in ("__cause__", "__context__")]
    waiting, seen = [error], {id(error)}
    parted = []
    while waiting:
        each = waiting.pop()
        parted.append(each)
        for link in links:
            cause = link.__get__(each)
            if cause is not None and id(cause) not in seen:
                seen.add(id(cause))
                waiting.append(cause)
    for each in parted:
        for link in links:
            link.__set__(each, None)


def _text(text: str, most: int) -> str:
    """Return ``text`` as a string that JavaScript can hold, without its middle if it is long."""
    text = str.__str__(text)
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}… {len(text) - 2 * half:,} characters left out …{text[-half:]}"
    return text.encode("utf-8", "backslashreplace").decode()


_SYNTAX = (
    "invalid syntax. Python cannot read this line, or the one above. Look for a misspelt word, and "
    "for a missing comma, colon, bracket or quotation mark."
)
"""For lines that Python rejects without a reason."""


def _message(error: BaseException) -> str:
    """Return the error's message, with a suggestion if Python, the bridge or the page has one."""
    said = _safely(lambda: advice(error), None)
    return f"{_own_message(error).rstrip('.')}. {said}" if said else _own_message(error)


def _own_message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return _SYNTAX if error.msg in (None, "", "invalid syntax") else str(error.msg)
    message = str(error) or type(error).__name__
    if isinstance(error, (NameError, AttributeError)):
        # Python's report ends with a suggestion for a misspelt name. Looking for it runs the
        # program's own __dir__ and __getattr__.
        report = _safely(lambda: _last_lines(error).strip(), "")
        return report.partition(": ")[2] or message
    if isinstance(error, ModuleNotFoundError):
        if error.name in PACKAGE_OF:
            return message  # it says why
        return f"{message}. Python's standard library, numpy and playgrad are available."
    if isinstance(error, MemoryError):
        reason = "Python has no memory left" if message == "MemoryError" else message
        return f"{reason.rstrip('.')}. {_MEMORY}"
    if isinstance(error, EOFError):
        return f"{message}: a program in the page cannot read input. Write the values in the code."
    return message


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno if isinstance(error.lineno, int) and error.lineno > 0 else None
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if _is_user(frame)]
    return lines[-1] if lines else None


def _line_of(source: Any) -> int | None:
    """Return the line of the program in a playgrad error's ``source``."""
    if not source or source[0] != FILE:
        return None
    return int(source[1])


def _is_user(frame: Any) -> bool:
    return bool(frame.f_code.co_filename == FILE)


def _traceback(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == FILE), None)
    visible = traceback.StackSummary.from_list(frames[first:] if first is not None else [])
    return "".join([*visible.format(), _last_lines(error)])


def _last_lines(error: BaseException) -> str:
    """Return the last lines of Python's report: the type and the message."""
    return "".join(traceback.format_exception_only(error))
