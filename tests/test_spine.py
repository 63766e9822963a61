"""The files to read first: they exist, and are read in an hour."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 2600
_ROW = re.compile(r"^\| \d+ \| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def _lines(path: Path, part: str) -> int:
    text = path.read_text(encoding="utf-8")
    if part == "all":
        return len(text.splitlines())
    if part.startswith("to line "):
        return int(part.removeprefix("to line "))
    owner, name = part.strip("`").split(".")
    (method,) = (
        node
        for group in ast.parse(text).body
        if isinstance(group, ast.ClassDef) and group.name == owner
        for node in group.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    assert method.end_lineno is not None
    return method.end_lineno - method.lineno + 1


def test_the_spine_is_read_in_an_hour() -> None:
    rows = _ROW.findall((ROOT / "docs" / "spine.md").read_text(encoding="utf-8"))
    assert len(rows) == 14
    lines = 0
    for name, part, hint in rows:
        found = [path for path in (ROOT / name, ROOT / "app" / "playgrad" / name) if path.exists()]
        assert len(found) == 1, name
        for word in re.findall(r"`(\w+)(?:\.\w+)?`", hint):
            assert word in found[0].read_text(encoding="utf-8"), (name, word)
        lines += _lines(found[0], part)
    assert 2000 < lines <= MOST_LINES, f"{lines} lines"
