"""Searches in the text of WGSL."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"//[^\n]*")
BRACKET = re.compile(r"[(\[{)\]}]")
OPENING = "([{"


def without_comments(code: str) -> str:
    """Return ``code`` without its comments."""
    return _COMMENT.sub("", code)


def closing(text: str, opening: int) -> int:
    """The position of the bracket that closes the one at ``opening``."""
    depth = 0
    for bracket in BRACKET.finditer(text, opening):
        depth += 1 if bracket[0] in OPENING else -1
        if depth == 0:
            return bracket.start()
    raise ValueError("brackets do not match")
