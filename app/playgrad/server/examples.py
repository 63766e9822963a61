"""The example programs of the page, described by their own docstrings."""

from __future__ import annotations

import ast
from pathlib import Path


def describe(path: Path) -> dict[str, str]:
    """``id, title, description, source`` of one example.

    The title is the first line of the module's docstring, the description the rest of it.
    """
    source = path.read_text(encoding="utf-8")
    title, _, rest = (ast.get_docstring(ast.parse(source)) or path.stem).partition("\n")
    return {
        "id": path.stem,
        "title": title.strip().rstrip("."),
        "description": " ".join(rest.split()),
        "source": source,
    }


def list_examples(folder: Path) -> list[dict[str, str]]:
    """All examples in ``folder``, the shortest, which is the simplest, first."""
    examples = [describe(path) for path in sorted(folder.glob("*.py"))]
    return sorted(examples, key=lambda example: len(example["source"].splitlines()))
