"""A change of one text, made to another that has the same lines."""

from __future__ import annotations

import difflib


def patched(text: str, before: str, after: str) -> str | None:
    """Return ``text`` with the change from ``before`` to ``after``, line by line.

    Returns:
        None if ``text`` does not have the changed lines, or the lines beside an addition.
    """
    old, new, lines = before.split("\n"), after.split("\n"), text.split("\n")
    same = difflib.SequenceMatcher(None, old, lines, autojunk=False).get_matching_blocks()
    place = {block.a + i: block.b + i for block in same for i in range(block.size)}
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, i1, i2, j1, j2 in reversed(changes):
        if kind == "equal":
            continue
        places = [place.get(i) for i in range(i1, i2)]
        if i1 in place:
            start = place[i1]
        elif i1 == i2 and i1 - 1 in place:  # an addition, after a line that is there
            start = place[i1 - 1] + 1
        else:
            return None
        if places != list(range(start, start + i2 - i1)):
            return None
        lines[start : start + i2 - i1] = new[j1:j2]
    return "\n".join(lines)
