"""Loops of a program's WGSL on a driver that may end them early, without a word.

The rounds of such loops are not known. So each loop counts itself as open before it begins, and as
closed wherever the program leaves it: a count that is not 0 afterwards tells that the driver ended
a loop. Atomic operations on a buffer hold the count, as a compiler would compute one in registers
from what the text says: that a loop never ends but where it is left.
"""

from __future__ import annotations

import re

from playgrad.ops.core.wgsl_text import closing

ALARM = "pg_open_loops"
"""The binding of the count, an array with one atomic number."""
_DECLARATIONS = """
fn NAME_enter() { atomicAdd(&NAME[0], 1u); }
fn NAME_leave(loops: u32) { atomicSub(&NAME[0], loops); }
fn NAME_stop(now: bool) -> bool { if (now) { NAME_leave(1u); } return now; }
fn NAME_go_on(now: bool) -> bool { return !NAME_stop(!now); }
"""
_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_WORD = re.compile(r"[{}]|\b(?:for|while|loop|switch|break|return|fn)\b|@\s*diagnostic")
_IF = re.compile(r"\s*if\b")


def has_loops(wgsl: str) -> bool:
    """Return whether a kernel has a loop."""
    return re.search(r"\b(?:for|while|loop)\b", _blank_comments(wgsl)) is not None


def with_alarm(wgsl: str, name: str = ALARM) -> str:
    """Return a kernel that counts its open loops, on lines with the same numbers.

    Args:
        name: the binding of the count, to be declared as ``array<atomic<u32>>``.

    Raises:
        ValueError: an attribute is in the way.
    """
    text = _blank_comments(wgsl)
    parts: list[str] = []
    blocks: list[str] = []  # the word that opened each block
    opening, done = "", 0
    for match in _WORD.finditer(text):
        word, at = match[0], match.start()
        if at < done:
            continue  # in the head of a loop, which has been written
        parts.append(text[done:at])
        done = match.end()
        if word == "{":
            blocks.append(opening)
            opening = ""
            parts.append(word)
        elif word == "}":
            blocks.pop()
            parts.append(word)
        elif word in ("for", "while", "loop"):
            opening = "loop"
            parts.append(f"{name}_enter(); {word}")
            if word != "loop":
                begin = text.index("{", done) if word == "while" else _end_of_head(text, done)
                parts.append(_head(word, text[done:begin], name))
                done = begin
        elif word == "return":
            loops = blocks.count("loop")
            parts.append(f"{name}_leave({loops}u); return" if loops else word)
        elif word == "break":
            parts.append(word)
            if condition := _IF.match(text, done):
                end = text.index(";", done)
                parts.append(f" if {name}_stop({text[condition.end() : end].strip()})")
                done = end
            elif next(block for block in reversed(blocks) if block) == "loop":
                parts[-1] = f"{name}_leave(1u); break"
        elif word in ("switch", "fn"):
            opening = word
            parts.append(word)
        else:
            raise ValueError("@diagnostic cannot be in a kernel with loops on this adapter")
    return "".join([*parts, text[done:], _DECLARATIONS.replace("NAME", name)])


def _end_of_head(text: str, begin: int) -> int:
    return closing(text, text.index("(", begin)) + 1


def _head(word: str, head: str, name: str) -> str:
    """Return the head of a loop whose condition says when it ends."""
    if word == "while":
        return f" ({name}_go_on({head.strip()})) "
    first, condition, step = head.strip()[1:-1].split(";")
    ends = f" {name}_go_on({condition.strip()})" if condition.strip() else ""
    return f" ({first};{ends};{step})"


def _blank_comments(wgsl: str) -> str:
    """Return ``wgsl`` without comments, on lines with the same numbers."""
    return _COMMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), wgsl)
