"""The examples in Chinese are the same programs, and no sentence of them is left in English."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playgrad import paths

SIDE = Path(__file__).parent / "programs" / "chinese-examples.mjs"
EXAMPLES = sorted((paths.static() / "examples").glob("*.py"))
HAN = re.compile(r"[\u4e00-\u9fff]")
WORD = re.compile(r"[a-z]{3,}")
SHAPE = re.compile(r"# \([\w, ]+\)")
"""A comment that has only the names of axes."""
COLUMNS = 100


@pytest.fixture(scope="module")
def chinese() -> dict[str, Any]:
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    result = subprocess.run([node, SIDE], capture_output=True, text=True, timeout=500, check=True)
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def same(node: Any, other: Any) -> bool:
    """Return whether two trees differ only in strings that are Chinese in the other."""
    if type(node) is not type(other):
        return False
    if isinstance(node, list):
        return len(node) == len(other) and all(map(same, node, other))
    if isinstance(node, ast.JoinedStr):
        values = [
            [ast.dump(each) for each in string.values if isinstance(each, ast.FormattedValue)]
            for string in (node, other)
        ]
        return values[0] == values[1]
    if isinstance(node, ast.Constant):
        return node.value == other.value or bool(HAN.search(str(other.value)))
    if isinstance(node, ast.AST):
        return node.__dict__.get("lineno") == other.__dict__.get("lineno") and all(
            same(getattr(node, name), getattr(other, name)) for name in node._fields
        )
    return bool(node == other)


def shown(source: str) -> Iterator[str]:
    """The texts of a program that people read: comments, docstrings and what is printed."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            for string in node.args:
                if isinstance(string, ast.JoinedStr):
                    yield "".join(
                        str(each.value) for each in string.values if isinstance(each, ast.Constant)
                    )
                elif isinstance(string, ast.Constant):
                    yield str(string.value)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_only_the_texts_differ(chinese: dict[str, Any], example: Path) -> None:
    source, program = example.read_text(encoding="utf-8"), chinese["programs"][example.name]
    assert same(ast.parse(source), ast.parse(program))
    assert len(source.splitlines()) == len(program.splitlines())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_text_is_translated(chinese: dict[str, Any], example: Path) -> None:
    program = chinese["programs"][example.name]
    english = [text for text in shown(program) if WORD.search(text) and not HAN.search(text)]
    assert [text for text in english if not SHAPE.fullmatch(text)] == []
    assert HAN.search(ast.get_docstring(ast.parse(program)) or "")


def test_no_line_is_too_wide_and_no_translation_is_unused(chinese: dict[str, Any]) -> None:
    lines = [line for each in chinese["programs"].values() for line in each.splitlines()]
    wide = [line for line in lines if len(line) + len(HAN.findall(line)) > COLUMNS]
    assert wide == []
    english = "\n".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert [text for text in chinese["texts"] if text not in english] == []


def test_translations_keep_the_numbers(chinese: dict[str, Any]) -> None:
    for english, text in chinese["texts"].items():
        numbers = [re.findall(r"\d+(?:\.\d+)?", each) for each in (english, text)]
        if "{" in english:
            assert sorted(numbers[0]) == sorted(numbers[1]), english


def rows(guide: str) -> dict[str, tuple[list[str], str]]:
    """The numbers of each example's result, and its time, in the first table of a guide."""
    text = (Path(__file__).parents[2] / "docs" / guide).read_text(encoding="utf-8")
    cells = re.findall(r"^\| `([\w-]+)` \|[^|]*\|([^|]*)\|([^|]* s) \|$", text, re.MULTILINE)
    return {name: (sorted(re.findall(r"\d[\d.]*", told)), time) for name, told, time in cells}


def test_the_guide_says_the_same_of_the_examples() -> None:
    english = rows("examples.md")
    assert len(english) > 20 and list(rows("zh-hans/examples.md").items()) == list(english.items())
