"""A graph from two CSV files: one of its nodes, one of its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.edges import coalesce
from playgrad.data.read_files import file_name, opened
from playgrad.data.table_columns import Column, columns_of, is_missing
from playgrad.data.text_table import TextTable, read_table
from playgrad.errors import ReadError

Array = np.ndarray[Any, Any]
MOST_BYTES = 64 << 20
"""A larger file is refused."""
MOST_FEATURES = 10_000
"""Columns of features, also of nodes without any: each is its own feature then."""
MOST_VALUES = 1 << 28
"""Of all features together: 1 GiB."""
_IDS = ("id", "node", "name")
_LABELS = ("label", "class", "y", "target")
_SOURCES = ("source", "from", "src")
_TARGETS = ("target", "to", "dst")


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A graph whose nodes, classes and features have names.

    Attributes:
        x: features of nodes, float32 (nodes, features).
        edge_index: sources and targets of edges, int32 (2, edges).
        edge_attr: features of edges, float32 (edges, features); None for none.
        y: classes of nodes, int32 (nodes,), −1 for unknown ones, which losses leave out with
            ``ignore_class=-1``; or numbers, float32 (nodes,), 0 for unknown ones. None if the file
            has no column of them.
        labelled: whether the class or number of each node is known, bool (nodes,).
        classes: the names of the classes; [] for numbers.
        names: the names of the nodes.
        features: the names of the features.
    """

    x: Array
    edge_index: Array
    edge_attr: Array | None
    y: Array | None
    labelled: Array
    classes: list[str]
    names: list[str]
    features: list[str]


def graph_from_csv(
    nodes: Any,
    edges: Any,
    *,
    id: str | None = None,
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    directed: bool = False,
) -> NamedGraph:
    """Return the graph in two CSV files, each with a header.

    Nodes have a column of names and, if you like, one of classes or of numbers to predict, in which
    a cell may be empty. The other columns are features: numbers as they are, categories as a
    feature for each, 0 or 1. Without other columns each node is a feature of its own. Edges have a
    column for each end, with names of nodes; other columns are their features, numbers.

    Args:
        nodes, edges: names of files, their bytes, or open binary files.
        id, label: columns of nodes; None for the first that is called "id", "node" or "name", and
            "label", "class", "y" or "target".
        source, target: columns of edges; None for "source", "from" or "src", and "target", "to" or
            "dst".
        directed: whether edges lead in one direction only. Otherwise each also leads back.
            Features of edges that occur several times are added up. An edge from a node to itself
            is one edge in both cases.

    Raises:
        ReadError: a file is missing, too large or not such a table, a cell is not a number, or an
            edge leads to a node that does not exist. The error has the file and the line.
    """
    node_file = _Table.read(nodes, "nodes.csv")
    names_at = node_file.column(id, _IDS, "id", "names of nodes")
    names, number_of = _names(node_file, names_at)
    y, labelled, classes, used = _targets(node_file, label, len(names), names_at)
    used.add(names_at)
    features, x = _features(node_file, used, names)

    edge_file = _Table.read(edges, "edges.csv")
    ends = [
        edge_file.column(source, _SOURCES, "source", "the nodes that edges leave"),
        edge_file.column(target, _TARGETS, "target", "the nodes that edges lead to"),
    ]
    if ends[0] == ends[1]:
        raise edge_file.error(f"column '{edge_file.titles[ends[0]]}' is both source and target.")
    rows = np.stack([_numbers_of(edge_file, end, number_of, node_file.name) for end in ends])
    _, attributes = _features(edge_file, set(ends), None)
    if not directed:
        leads_back = rows[0] != rows[1]
        rows = np.hstack([rows, rows[::-1, leads_back]])
        attributes = np.concatenate([attributes, attributes[leads_back]])
    if attributes.shape[1] == 0:
        edge_index, edge_attr = coalesce(rows), None
    else:
        edge_index, edge_attr = coalesce(rows, attributes)
    return NamedGraph(x, edge_index, edge_attr, y, labelled, classes, names, features)


@dataclass(frozen=True)
class _Table:
    """A table with its columns, and its name for errors."""

    name: str
    table: TextTable
    columns: list[Column]

    @property
    def titles(self) -> list[str]:
        return self.table.titles

    @classmethod
    def read(cls, file: Any, unnamed: str) -> _Table:
        """Read a file; ``unnamed`` is its name if it is only bytes."""
        name = unnamed if isinstance(file, (bytes, bytearray, memoryview)) else file_name(file)
        with opened(file) as content:
            data = content.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ReadError(
                f"{name} has more than {MOST_BYTES >> 20} MiB.",
                hint="Read a larger graph as arrays, and build pg.data.CSRGraph.",
                file=name,
            )
        table = read_table(data, name, least_columns=1)
        read = cls(name, table, [])
        if not table.has_header:
            raise read.error("there is no header.", table.lines[0], "Name the columns there.")
        if table.ragged:
            width = len(table.titles)
            raise read.error(f"this line has not {width} cells, as others have.", table.ragged[0])
        if len(table.titles) > MOST_FEATURES:
            raise read.error(
                f"there are {len(table.titles):,} columns, more than {MOST_FEATURES:,}."
            )
        return cls(name, table, columns_of(table))

    def error(self, problem: str, line: int | None = None, hint: str = "") -> ReadError:
        place = self.name if line is None else f"{self.name}, line {line}"
        return ReadError(f"{place}: {problem}", hint=hint, file=self.name, record=line)

    def at_row(self, row: int, problem: str, hint: str = "") -> ReadError:
        return self.error(problem, self.table.lines[row], hint)

    def find(self, chosen: str | None, usual: Sequence[str]) -> int | None:
        """Return the column with a name, or the first with a usual one; None if there is none."""
        if chosen is not None:
            if chosen not in self.titles:
                listed = ", ".join(repr(title) for title in self.titles[:12])
                raise self.error(f"there is no column '{chosen}'.", hint=f"There are {listed}.")
            return self.titles.index(chosen)
        lower = [title.lower() for title in self.titles]
        return next((lower.index(each) for each in usual if each in lower), None)

    def column(self, chosen: str | None, usual: Sequence[str], argument: str, what: str) -> int:
        """Return the column as `find`; raise ReadError if there is none."""
        found = self.find(chosen, usual)
        if found is None:
            listed = " or ".join(f"'{each}'" for each in usual)
            hint = f"Call it {listed} in the header, or pass {argument}=."
            raise self.error(f"there is no column of {what}.", hint=hint)
        return found


def _names(file: _Table, at: int) -> tuple[list[str], dict[str, int]]:
    """Return the names of all nodes, and the number of each."""
    names = file.columns[at].cells
    numbers: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name:
            raise file.at_row(row, "the node has no name.")
        if name in numbers:
            first = file.table.lines[numbers[name]]
            raise file.at_row(row, f"node '{name}' is in line {first} already.")
        numbers[name] = row
    return names, numbers


def _targets(
    file: _Table, label: str | None, count: int, names_at: int
) -> tuple[Array | None, Array, list[str], set[int]]:
    """Return the targets of nodes, which of them are known, the classes, and the column.

    Args:
        names_at: the column of names.
    """
    at = file.find(label, _LABELS)
    if at is None:
        return None, np.zeros(count, bool), [], set()
    column = file.columns[at]
    if at == names_at:
        raise file.error(
            f"column '{column.title}' holds the names of nodes, and cannot hold their classes too."
        )
    for row in column.odd:
        raise file.at_row(
            row, f"'{column.cells[row]}' is not a number, as others in '{column.title}'."
        )
    is_class = column.label_type == "category"
    values = column.codes if is_class else column.numbers
    known = ~np.isnan(values)
    if not known.any():
        raise file.error(f"column '{column.title}' is empty.")
    if is_class:
        return np.where(known, values, -1).astype(np.int32), known, column.categories, {at}
    _check_range(file, column, values)
    return np.where(known, values, 0).astype(np.float32), known, [], {at}


def _check_range(file: _Table, column: Column, values: Array) -> None:
    """Raise ReadError if a number is too large for float32. NaN passes."""
    large = np.flatnonzero(np.abs(values) > np.finfo(np.float32).max)
    if large.size:
        row = int(large[0])
        raise file.at_row(
            row, f"column '{column.title}': '{column.cells[row]}' is too large for float32."
        )


def _features(file: _Table, used: set[int], names: list[str] | None) -> tuple[list[str], Array]:
    """Return the names and the values of the features in all columns but those in ``used``.

    Args:
        names: of nodes, which are features if there are no others; None for edges.
    """
    count = len(file.table.rows)
    titles: list[str] = []
    parts: list[Array] = []
    for at, column in enumerate(file.columns):
        if at in used:
            continue
        if names is not None and column.type == "category":
            row = next((row for row, cell in enumerate(column.cells) if is_missing(cell)), None)
            if row is not None:
                raise file.at_row(row, f"the cell of '{column.title}' is empty.")
            categories = column.categories
            titles += [f"{column.title}={category}" for category in categories]
            parts.append(column.codes[:, None] == np.arange(len(categories)))
        else:
            titles.append(column.title)
            parts.append(_as_numbers(file, column)[:, None])
    if not parts and names is not None:
        if count > MOST_FEATURES:
            raise file.error(
                f"there are no features, and {count:,} nodes are too many to be features.",
                hint=f"Add columns of features, or have at most {MOST_FEATURES:,} nodes.",
            )
        return list(names), np.eye(count, dtype=np.float32)
    if len(titles) > MOST_FEATURES or len(titles) * count > MOST_VALUES:
        raise file.error(
            f"there are {len(titles):,} features of {count:,} rows, which is too much."
        )
    empty = np.zeros((count, 0), np.float32)
    return titles, np.concatenate([empty, *parts], axis=1).astype(np.float32)


def _as_numbers(file: _Table, column: Column) -> Array:
    """Return a column of numbers (rows,); raise ReadError if a cell is not one."""
    values = column.numbers if column.type in ("number", "date") else np.full(1, np.nan)
    wrong = np.flatnonzero(np.isnan(values) | (np.abs(values) > np.finfo(np.float32).max))
    if wrong.size:
        row = int(wrong[0])
        if column.type == "category" or column.type == "text":
            row = next((at for at, cell in enumerate(column.cells) if not _is_float(cell)), row)
        cell = column.cells[row]
        what = f"'{cell}' is not a number" if cell else "the cell is empty"
        hint = "" if cell == "" else "Leave the column out, or write numbers or a few categories."
        raise file.at_row(row, f"column '{column.title}': {what}.", hint)
    return values


def _is_float(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers_of(file: _Table, at: int, number_of: dict[str, int], nodes: str) -> Array:
    """Return the numbers of the nodes that a column names, int64 (edges,)."""
    cells = file.columns[at].cells
    numbers = np.array([number_of.get(cell, -1) for cell in cells], np.int64)
    unknown = np.flatnonzero(numbers < 0)
    if unknown.size:
        row = int(unknown[0])
        raise file.at_row(row, f"node '{cells[row]}' is not in {nodes}.")
    return numbers
