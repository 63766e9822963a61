"""Reasons why something of a node cannot be shown."""

from __future__ import annotations

from typing import TypedDict


class UnavailableForm(TypedDict):
    code: str
    values: dict[str, str | float]


class Unavailable(Exception):  # noqa: N818  (an answer, not an error)
    """A value that a node does not have, or that cannot be computed.

    Args:
        code: the reason, for a page that says it in its language.
        values: the names and numbers in that sentence.
    """

    def __init__(self, code: str, **values: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.values = values

    def as_dict(self) -> UnavailableForm:
        """Return the reason as plain data."""
        return {"code": self.code, "values": dict(self.values)}
