"""The example programs of the page, described by their docstrings."""

from __future__ import annotations

import ast
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from playgrad import paths
from playgrad.server.texts import Text

FIRST = "mnist-mlp"
"""The example that the page opens for a new visitor."""


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
    """Return all examples in ``folder``: the one that a new visitor sees, then short ones first."""
    examples = [describe(path) for path in sorted(folder.glob("*.py"))]

    def place(example: dict[str, str]) -> tuple[bool, int]:
        return example["id"] != FIRST, len(example["source"].splitlines())

    return sorted(examples, key=place)


def examples_text() -> Text:
    """Return the list of the current examples, as JSON.

    Each has the ``seconds`` that the gallery's file states, if it was measured.
    """
    folder, facts = paths.static() / "examples", paths.static() / "gallery" / "examples.json"
    statuses = [(path.name, path.stat()) for path in [*sorted(folder.glob("*.py")), facts]]
    versions = tuple((name, status.st_mtime_ns, status.st_size) for name, status in statuses)
    return _examples_text(folder, facts, versions)


@lru_cache(maxsize=2)
def _examples_text(folder: Path, facts: Path, _versions: tuple[tuple[str, int, int], ...]) -> Text:
    measured: dict[str, dict[str, Any]] = json.loads(facts.read_text(encoding="utf-8"))
    examples: list[dict[str, Any]] = []
    for example in list_examples(folder):
        seconds = measured.get(example["id"], {}).get("seconds")
        examples.append(example | ({} if seconds is None else {"seconds": seconds}))
    return Text(json.dumps(examples).encode())
