"""A CSV file of the nodes or of the edges of a graph, with errors that name file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.data.read_files import file_name, opened
from playgrad.data.table_columns import Column, columns_of
from playgrad.data.text_table import TextTable, read_table
from playgrad.errors import ReadError

MOST_BYTES = 64 << 20
"""A larger file is refused."""
MOST_COLUMNS = 10_000
_LONGEST = 200
"""Characters of a value of an error."""


@dataclass(frozen=True)
class GraphTable:
    """A table with its columns, and its name for errors."""

    name: str
    table: TextTable
    columns: list[Column]

    @property
    def titles(self) -> list[str]:
        return self.table.titles

    @classmethod
    def read(cls, file: Any, unnamed: str) -> GraphTable:
        """Read a file; ``unnamed`` is its name if it is only bytes.

        Raises:
            ReadError: it is too large, or not a table with a header and rows of one width.
        """
        name = unnamed if isinstance(file, (bytes, bytearray, memoryview)) else file_name(file)
        with opened(file) as content:
            data = content.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ReadError(
                f"{name} has more than {MOST_BYTES >> 20} MiB.",
                hint="Read a larger graph as arrays, and build pg.data.CSRGraph.",
                file=name,
                code="graph-large-file",
                values={"file": name, "most": MOST_BYTES >> 20},
            )
        table = read_table(data, name, least_columns=1)
        read = cls(name, table, [])
        if not table.has_header:
            raise read.error(
                "no-header", "there is no header.", table.lines[0], "Name the columns there."
            )
        if table.ragged:
            width = len(table.titles)
            words = f"this line has not {width} cells, as others have."
            raise read.error("ragged", words, table.ragged[0], width=width)
        columns = len(table.titles)
        if columns > MOST_COLUMNS:
            words = f"there are {columns:,} columns, more than {MOST_COLUMNS:,}."
            raise read.error("many-columns", words, columns=columns, most=MOST_COLUMNS)
        return cls(name, table, columns_of(table))

    def error(
        self,
        code: str,
        problem: str,
        line: int | None = None,
        hint: str = "",
        **values: float | str,
    ) -> ReadError:
        """Return an error: its ``values`` and the file, the line are those in its sentence, which
        the page has in its language by the ``code``."""
        place = self.name if line is None else f"{self.name}, line {line}"
        every = {"file": self.name, **({} if line is None else {"line": line}), **values}
        every = {
            key: each[:_LONGEST] if isinstance(each, str) else each for key, each in every.items()
        }
        return ReadError(
            f"{place}: {problem}",
            hint=hint,
            file=self.name,
            record=line,
            code=f"graph-{code}",
            values=every,
        )

    def at_row(
        self, code: str, row: int, problem: str, hint: str = "", **values: float | str
    ) -> ReadError:
        """Return an error with the line of a row."""
        return self.error(code, problem, self.table.lines[row], hint, **values)

    def find(self, chosen: str | None, usual: Sequence[str]) -> int | None:
        """Return the column with a name, or the first with a usual one; None if there is none."""
        if chosen is not None:
            if chosen not in self.titles:
                listed = ", ".join(repr(title) for title in self.titles[:12])
                words = f"there is no column '{chosen}'."
                raise self.error("no-column", words, hint=f"There are {listed}.", column=chosen)
            return self.titles.index(chosen)
        lower = [title.lower() for title in self.titles]
        return next((lower.index(each) for each in usual if each in lower), None)

    def column(self, chosen: str | None, usual: Sequence[str], argument: str, what: str) -> int:
        """Return the column as `find`; raise ReadError if there is none."""
        found = self.find(chosen, usual)
        if found is None:
            listed = " or ".join(f"'{each}'" for each in usual)
            hint = f"Call it {listed} in the header, or pass {argument}=."
            raise self.error("no-names", f"there is no column of {what}.", hint=hint)
        return found
