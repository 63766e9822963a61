"""The example programs of the page, described by their docstrings."""

from __future__ import annotations

import ast
from pathlib import Path


def describe(path: Path) -> dict[str, str]:
    """Return ``id``, ``title``, ``description`` and ``source`` of one example.

    The title is the first line of the module's docstring, the description is the rest.
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
    """Return all examples in ``folder``, the shortest first, because it is the simplest."""
    examples = [describe(path) for path in sorted(folder.glob("*.py"))]
    return sorted(examples, key=lambda example: len(example["source"].splitlines()))
