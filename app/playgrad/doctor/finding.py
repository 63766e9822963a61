"""Findings: an illness, its place in graph and program, and the edit that cures it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playgrad.doctor.evidence import Location

Value = float | str


@dataclass(frozen=True)
class Change:
    """A part of the program, in lines from 1 and characters from 0, and the text in its place.

    Attributes:
        old: the text that is there.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    text: str


@dataclass(frozen=True)
class Edit:
    """A suggested edit of the program.

    Attributes:
        code: names its kind, such as "set-rate".
        values: the parts of the sentence that describes it.
        changes: from the last to the first.
    """

    code: str
    values: dict[str, Value]
    changes: tuple[Change, ...]

    def applied(self, source: str) -> str:
        """Return ``source`` with the changes."""
        for change in self.changes:
            lines = source.split("\n")
            head = lines[change.line - 1][: change.column]
            tail = lines[change.end_line - 1][change.end_column :]
            lines[change.line - 1 : change.end_line] = (head + change.text + tail).split("\n")
            source = "\n".join(lines)
        return source


@dataclass(frozen=True)
class Finding:
    """An illness of a training.

    Attributes:
        code: names the illness, such as "rate-high".
        place: the node and the line that it is about.
        values: the parts of its sentence.
        edit: None if nothing can be suggested safely.
    """

    code: str
    place: Location = field(default_factory=Location)
    values: dict[str, Value] = field(default_factory=dict)
    edit: Edit | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, for the page."""
        edit = self.edit
        return {
            "code": self.code,
            "node": self.place.node,
            "line": self.place.line,
            "values": dict(self.values),
            "edit": None
            if edit is None
            else {
                "code": edit.code,
                "values": dict(edit.values),
                "changes": [vars(change) for change in edit.changes],
            },
        }
