"""Tables of text, as results print them."""

from __future__ import annotations

from collections.abc import Sequence


def ruled_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with aligned columns, and a rule below its first row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *body = (
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return [head, "-" * max(map(len, [head, *body])), *body]
