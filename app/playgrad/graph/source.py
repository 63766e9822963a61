"""Finds the line of the user's program that is adding to the graph."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

_LIBRARY = str(Path(__file__).resolve().parent.parent) + os.sep


def user_source() -> tuple[str, int] | None:
    """Return file name and line of the innermost caller outside the library, or None."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_LIBRARY) and not name.startswith("<frozen"):
            return (name, frame.f_lineno)
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None


def warn_user(message: str) -> None:
    """Issue a warning at the line of the user's program that is running."""
    file, line = user_source() or ("playgrad", 0)
    warnings.warn_explicit(message, RuntimeWarning, file, line)
