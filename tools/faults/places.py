"""Places in Python and WGSL where a small fault can be written, each with its replacement."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = ("operator", "bound", "sign", "dropped", "swapped")
"""Another operator; an integer that is one larger; a lost minus sign; a statement that is left out;
the first two arguments of a call in the wrong order."""


@dataclass(frozen=True)
class Place:
    """``text[start:end]`` of a file can become ``replacement``; both are numbers of characters."""

    kind: str
    start: int
    end: int
    replacement: str


OPERATORS = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "===": "!==", "!==": "===", "&&": "||", "||": "&&",
    "and": "or", "or": "and", "is": "is not", "is not": "is", "in": "not in", "not in": "in",
    "&": "|", "|": "&", "<<": ">>", ">>": "<<",
}  # fmt: skip


def places(path: Path) -> list[Place]:
    """Return the places of a ``.py``, ``.js`` or ``.wgsl`` file, in their order."""
    text = path.read_text(encoding="utf-8")
    found = {".py": _in_python, ".wgsl": _in_wgsl, ".js": lambda text: _in_javascript(path)}
    return sorted(set(found[path.suffix](text)), key=lambda place: (place.start, place.kind))


def _in_javascript(path: Path) -> Iterator[Place]:
    """ESLint's parser, in Node, finds them."""
    script = Path(__file__).with_name("places.mjs")
    command = ["node", str(script), str(path), json.dumps(OPERATORS)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    for kind, start, end, replacement in json.loads(answer.stdout):
        yield Place(kind, start, end, replacement)


def _in_python(text: str) -> Iterator[Place]:
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data = text.encode()

    def at(line: int, column: int) -> int:
        return len(data[: lines[line - 1] + column].decode())

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    tree = ast.parse(text)
    excluded = _excluded(tree)
    for node in ast.walk(tree):
        if node in excluded:
            continue
        if isinstance(node, ast.BinOp):
            yield from _between(text, span(node.left)[1], span(node.right)[0])
        elif isinstance(node, ast.BoolOp):
            yield from _between(text, span(node.values[0])[1], span(node.values[1])[0])
        elif isinstance(node, ast.Compare):
            yield from _between(text, span(node.left)[1], span(node.comparators[0])[0])
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield Place("bound", *span(node), str(node.value + 1))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Place("sign", *span(node), text[slice(*span(node.operand))])
        elif _can_be_dropped(node):
            assert isinstance(node, ast.stmt)
            yield Place("dropped", *span(node), "pass")
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            first, second = node.args[:2]
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                yield from _swapped(text, span(first), span(second))


def _excluded(tree: ast.AST) -> set[ast.AST]:
    """Return the nodes of annotations, of declarations for type checkers, and of f-strings, whose
    places Python 3.11 does not know."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = [
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
        ]
        is_typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if is_typing or isinstance(node, ast.JoinedStr):
            parts.append(node)
        for part in parts:
            if part is not None:
                found |= set(ast.walk(part))
    return found


def _can_be_dropped(node: ast.AST) -> bool:
    """Return whether the program still compiles without the statement, and does something else."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Yield))
    if isinstance(node, ast.If):
        return not node.orelse and len(node.body) == 1
    return isinstance(node, (ast.AugAssign, ast.Raise))


def _between(text: str, start: int, end: int) -> Iterator[Place]:
    """The operator between two operands, which may be in parentheses."""
    match = re.search(
        r"not\s+in|is\s+not|//|<<|>>|[<>=!]=|[-+*/%<>&|]|\b(?:and|or|is|in)\b", text[start:end]
    )
    if match is None:
        return
    operator = re.sub(r"\s+", " ", match[0])
    if operator in OPERATORS:
        yield Place("operator", start + match.start(), start + match.end(), OPERATORS[operator])


def _swapped(text: str, first: tuple[int, int], second: tuple[int, int]) -> Iterator[Place]:
    a, b = text[slice(*first)], text[slice(*second)]
    if a != b:
        yield Place("swapped", first[0], second[1], b + text[first[1] : second[0]] + a)


_WGSL_OPERATOR = re.compile(r"(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[-+*/%<>])(?= )")
_WGSL_INTEGER = re.compile(r"(?<![\w.$])(\d+)(u?)(?![\w.])")
_WGSL_MINUS = re.compile(r"(?<=[(=,] )-(?=\w)|(?<=\()-(?=\w)")
_WGSL_STATEMENT = re.compile(r"^[ ]+(?:[\w\[\].]+ [-+*/]?= .*;|\w+\(.*\);)$", re.MULTILINE)
_WGSL_CALL = re.compile(r"\b\w+\(([^(),]+), ([^(),]+)[,)]")


def _in_wgsl(text: str) -> Iterator[Place]:
    code = re.sub(r"//.*|@\w+\([^)]*\)|#include.*", lambda match: " " * len(match[0]), text)
    for match in _WGSL_OPERATOR.finditer(code):
        yield Place("operator", *match.span(), OPERATORS[match[0]])
    for match in _WGSL_INTEGER.finditer(code):
        yield Place("bound", *match.span(), f"{int(match[1]) + 1}{match[2]}")
    for match in _WGSL_MINUS.finditer(code):
        yield Place("sign", *match.span(), "")
    for match in _WGSL_STATEMENT.finditer(code):
        yield Place("dropped", *match.span(), "")
    for match in _WGSL_CALL.finditer(code):
        yield from _swapped(text, match.span(1), match.span(2))
