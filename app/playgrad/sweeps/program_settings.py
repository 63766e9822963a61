"""Settings of a program: literals in its text that a sweep replaces."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from playgrad.errors import GraphError
from playgrad.sweeps.space import Settings, Value


@dataclass(frozen=True)
class Literal:
    """A value in the text of a program.

    Attributes:
        line: its line, from 1.
        start, end: its place, in bytes of the text in UTF-8.
        value: its value in the program.
    """

    line: int
    start: int
    end: int
    value: Value


def with_settings(source: str, settings: Settings, name: str = "the program") -> str:
    """Return the text of a program with other values.

    A setting is a name that the program gives a number, a text, True, False or None at its top
    level (``lr = 0.1``), or else an argument that only one call is given by that name
    (``Adam(learning_rate=0.1)``).

    Args:
        name: of the program, for errors.

    Raises:
        GraphError: the program has no such setting, or several.
        SyntaxError: it is not Python.
    """
    literals = settings_of(source)
    changes: list[tuple[Literal, Value]] = []
    for setting, value in settings.items():
        found = literals.get(setting, [])
        if not found:
            known = sorted(each for each, places in literals.items() if len(places) == 1)
            raise GraphError(
                f"{name} has no setting {setting!r}.",
                hint=f"Its settings are: {', '.join(known)}."
                if known
                else f"Write `{setting} = ...` at the top of the program, and use it below.",
            )
        if len(found) > 1:
            lines = ", ".join(str(literal.line) for literal in found)
            raise GraphError(
                f"{setting!r} is given in {len(found)} places of {name}: lines {lines}.",
                hint=f"Write `{setting} = ...` once at the top, and use the name in those lines.",
            )
        changes.append((found[0], value))
    if len({literal.start for literal, _ in changes}) < len(changes):
        raise GraphError(
            f"two of the settings {', '.join(settings)} are one value in {name}.",
            hint="Give each a line of its own.",
        )
    text = source.encode()
    for literal, value in sorted(changes, key=lambda change: -change[0].start):
        text = text[: literal.start] + repr(value).encode() + text[literal.end :]
    return text.decode()


def settings_of(source: str) -> dict[str, list[Literal]]:
    """Return the literals of each name: that of its one assignment, or those given to calls.

    Raises:
        SyntaxError: the text is not Python.
    """
    tree = ast.parse(source)
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    assigned: defaultdict[str, list[Literal | None]] = defaultdict(list)
    given: defaultdict[str, list[Literal | None]] = defaultdict(list)
    for name, node in _assignments(tree):
        assigned[name].append(_literal(node, starts))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            for keyword in call.keywords:
                if keyword.arg is not None:
                    given[keyword.arg].append(_literal(keyword.value, starts))
    settings = {name: literals for name, places in given.items() if (literals := _all(places))}
    for name, places in assigned.items():
        if literals := [place for place in places if place is not None]:
            settings[name] = literals
    return settings


def _all(places: list[Literal | None]) -> list[Literal]:
    """Return the places if all are literals, else none: the program computes the value."""
    literals = [place for place in places if place is not None]
    return literals if len(literals) == len(places) else []


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names = [name]
            case _:
                continue
        yield from ((name, value) for name in names)


def _literal(node: ast.expr, starts: list[int]) -> Literal | None:
    """Return the literal that ``node`` is; None if it is another expression."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    if not (value is None or isinstance(value, bool | int | float | str)):
        return None
    assert node.end_lineno is not None and node.end_col_offset is not None
    start = starts[node.lineno - 1] + node.col_offset
    return Literal(node.lineno, start, starts[node.end_lineno - 1] + node.end_col_offset, value)
