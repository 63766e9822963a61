"""A graph from two CSV files: one of its nodes, one of its edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.edges import coalesce
from playgrad.data.graph_table import GraphTable
from playgrad.data.named_graph import NamedGraph
from playgrad.data.table_columns import Column, is_missing

Array = np.ndarray[Any, Any]
MOST_FEATURES = 10_000
"""Columns of features, also of nodes without any: each is its own feature then."""
MOST_VALUES = 1 << 28
"""Of all features together: 1 GiB."""
LONGEST_NAME = 200
"""Characters of the name of a node."""
IDS = ("id", "node", "name")
LABELS = ("label", "class", "y", "target")
SOURCES = ("source", "from", "src")
TARGETS = ("target", "to", "dst")


@dataclass(frozen=True)
class GraphColumns:
    """The columns of both tables, by their places.

    Attributes:
        id, label, features: of the table of nodes; `label` None for none.
        source, target, attributes: of the table of edges.
    """

    id: int
    label: int | None
    features: Sequence[int]
    source: int
    target: int
    attributes: Sequence[int]


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
    node_file = GraphTable.read(nodes, "nodes.csv")
    names_at = node_file.column(id, IDS, "id", "names of nodes")
    label_at = node_file.find(label, LABELS)
    edge_file = GraphTable.read(edges, "edges.csv")
    ends = (
        edge_file.column(source, SOURCES, "source", "the nodes that edges leave"),
        edge_file.column(target, TARGETS, "target", "the nodes that edges lead to"),
    )
    features = [at for at in range(len(node_file.columns)) if at not in (names_at, label_at)]
    attributes = [at for at in range(len(edge_file.columns)) if at not in ends]
    columns = GraphColumns(names_at, label_at, features, *ends, attributes)
    return graph_of(node_file, edge_file, columns, directed)


def graph_of(
    node_file: GraphTable,
    edge_file: GraphTable,
    columns: GraphColumns,
    directed: bool,
    most_values: int | None = None,
) -> NamedGraph:
    """Return the graph in two tables; see `graph_from_csv`.

    Args:
        most_values: the most values of all features of the nodes, and of the edges; None for
            `MOST_VALUES`.
    """
    most = MOST_VALUES if most_values is None else most_values
    names, number_of = _names(node_file, columns.id)
    y, labelled, classes = _targets(node_file, columns.label, len(names), columns.id)
    features, x = _features(node_file, columns.features, names, most)

    ends = (columns.source, columns.target)
    if ends[0] == ends[1]:
        title = edge_file.titles[ends[0]]
        words = f"column '{title}' is both source and target."
        raise edge_file.error("same-ends", words, column=title)
    rows = np.stack([_numbers_of(edge_file, end, number_of, node_file.name) for end in ends])
    _, attributes = _features(edge_file, columns.attributes, None, most)
    if not directed:
        leads_back = rows[0] != rows[1]
        rows = np.hstack([rows, rows[::-1, leads_back]])
        attributes = np.concatenate([attributes, attributes[leads_back]])
    if attributes.shape[1] == 0:
        edge_index, edge_attr = coalesce(rows), None
    else:
        edge_index, edge_attr = coalesce(rows, attributes)
    return NamedGraph(x, edge_index, edge_attr, y, labelled, classes, names, features)


def _names(file: GraphTable, at: int) -> tuple[list[str], dict[str, int]]:
    """Return the names of all nodes, and the number of each."""
    names = file.columns[at].cells
    numbers: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name:
            raise file.at_row("unnamed", row, "the node has no name.")
        if len(name) > LONGEST_NAME:
            words = f"the name of the node has more than {LONGEST_NAME} characters."
            raise file.at_row("long-name", row, words, most=LONGEST_NAME)
        if name in numbers:
            first = file.table.lines[numbers[name]]
            words = f"node '{name}' is in line {first} already."
            raise file.at_row("twice", row, words, name=name, first=first)
        numbers[name] = row
    return names, numbers


def _targets(
    file: GraphTable, at: int | None, count: int, names_at: int
) -> tuple[Array | None, Array, list[str]]:
    """Return the targets of nodes in column ``at``, which of them are known, and the classes.

    Args:
        names_at: the column of names.
    """
    if at is None:
        return None, np.zeros(count, bool), []
    column, title = file.columns[at], file.titles[at]
    if at == names_at:
        words = "holds the names of nodes, and cannot hold their classes too."
        raise file.error("label-is-name", f"column '{title}' {words}", column=title)
    for row in column.odd:
        cell = column.cells[row]
        words = f"'{cell}' is not a number, as others in '{title}'."
        raise file.at_row("not-number", row, words, column=title, cell=cell)
    is_class = column.label_type == "category"
    values = column.codes if is_class else column.numbers
    known = ~np.isnan(values)
    if not known.any():
        raise file.error("no-labels", f"column '{title}' is empty.", column=title)
    if is_class:
        return np.where(known, values, -1).astype(np.int32), known, column.categories
    _check_range(file, column, values)
    return np.where(known, values, 0).astype(np.float32), known, []


def _check_range(file: GraphTable, column: Column, values: Array) -> None:
    """Raise ReadError if a number is too large for float32. NaN passes."""
    large = np.flatnonzero(np.abs(values) > np.finfo(np.float32).max)
    if large.size:
        row = int(large[0])
        cell = column.cells[row]
        words = f"column '{column.title}': '{cell}' is too large for float32."
        raise file.at_row("large-number", row, words, column=column.title, cell=cell)


def _features(
    file: GraphTable, chosen: Sequence[int], names: list[str] | None, most: int
) -> tuple[list[str], Array]:
    """Return the names and the values of the features in the chosen columns.

    Args:
        names: of nodes, which are features if there are no others; None for edges.
        most: the most values.
    """
    count = len(file.table.rows)
    width = sum(
        len(each.categories) if names is not None and each.type == "category" else 1
        for each in map(file.columns.__getitem__, chosen)
    )
    _check_size(file, width, count, names, most)
    titles: list[str] = []
    parts: list[Array] = []
    for column in map(file.columns.__getitem__, chosen):
        if names is not None and column.type == "category":
            row = next((row for row, cell in enumerate(column.cells) if is_missing(cell)), None)
            if row is not None:
                words = f"the cell of '{column.title}' is empty."
                hint = "Leave the column out, or fill the cell."
                raise file.at_row("empty-cell", row, words, hint, column=column.title)
            categories = column.categories
            titles += [f"{column.title}={category}" for category in categories]
            parts.append(column.codes[:, None] == np.arange(len(categories)))
        else:
            titles.append(column.title)
            parts.append(_as_numbers(file, column)[:, None])
    if not parts and names is not None:
        return list(names), np.eye(count, dtype=np.float32)
    x = np.zeros((count, len(titles)), np.float32)
    if parts:
        np.concatenate(parts, axis=1, out=x, casting="unsafe")
    return titles, x


def _check_size(
    file: GraphTable, width: int, count: int, names: list[str] | None, most: int
) -> None:
    """Raise ReadError for too many features; 0 of nodes are one for each node."""
    if width == 0 and names is not None and (count > MOST_FEATURES or count**2 > most):
        allowed = min(MOST_FEATURES, math.isqrt(most))
        raise file.error(
            "many-nodes",
            f"there are no features, and {count:,} nodes are too many to be features.",
            hint=f"Add columns of features, or have at most {allowed:,} nodes.",
            nodes=count,
            most=allowed,
        )
    if width > MOST_FEATURES or width * count > most:
        words = f"there are {width:,} features of {count:,} rows, which is too much."
        raise file.error("many-features", words, features=width, rows=count)


def _as_numbers(file: GraphTable, column: Column) -> Array:
    """Return a column of numbers (rows,); raise ReadError if a cell is not one."""
    values = column.numbers if column.type in ("number", "date") else np.full(1, np.nan)
    wrong = np.flatnonzero(np.isnan(values))
    if wrong.size:
        row = int(wrong[0])
        if column.type == "category" or column.type == "text":
            row = next((at for at, cell in enumerate(column.cells) if not _is_float(cell)), row)
        cell = column.cells[row]
        what = f"'{cell}' is not a number" if cell else "the cell is empty"
        hint = "Leave the column out, or " + (
            "write numbers or a few categories." if cell else "fill the cell."
        )
        code = "not-number" if cell else "empty-cell"
        words = f"column '{column.title}': {what}."
        raise file.at_row(code, row, words, hint, column=column.title, cell=cell)
    _check_range(file, column, values)
    return values


def _is_float(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers_of(file: GraphTable, at: int, number_of: dict[str, int], nodes: str) -> Array:
    """Return the numbers of the nodes that a column names, int64 (edges,)."""
    cells = file.columns[at].cells
    numbers = np.array([number_of.get(cell, -1) for cell in cells], np.int64)
    unknown = np.flatnonzero(numbers < 0)
    if unknown.size:
        row = int(unknown[0])
        words = f"node '{cells[row]}' is not in {nodes}."
        raise file.at_row("unknown-node", row, words, name=cells[row], nodes=nodes)
    return numbers
