"""The graph in two tables that visitors bring to the page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import NotRequired, TypedDict

import numpy as np

from playgrad.data.graph_csv import graph_of
from playgrad.data.graph_table import GraphTable
from playgrad.data.named_graph import NamedGraph
from playgrad.errors import DataError, PlaygradError
from playgrad.page.graph_choice import GraphChoice, columns_in, guess
from playgrad.page.question import question
from playgrad.page.workspace import Workspace

MOST_VALUES = 1 << 26
"""Of all features of the nodes together: 256 MiB, as other data in the page."""
MOST_CLASSES = 1000
LONGEST_NAME = 200
"""Characters of the name of a class or of a column that are shown."""
MOST_LISTED = 2000
"""The most columns of a table that can be chosen."""


class GraphFilesQuestion(TypedDict):
    """Two CSV files, one after the other: `names`; `first`: bytes of the first one; `choice`: what
    the tables mean, which is guessed otherwise."""

    names: tuple[str, str]
    first: int
    payload: NotRequired[bytes]
    choice: NotRequired[GraphChoice]


class GraphSide(TypedDict):
    """A table: `usable`: for each column, whether it can be features of nodes."""

    rows: int
    columns: list[str]
    usable: list[bool]


class GraphProblem(TypedDict):
    """`code`: of the sentence in the page's language; `values`: the numbers and names in it."""

    message: str
    code: str
    values: dict[str, str | float]


class GraphFound(TypedDict):
    """`edges`: rows of edges that differ; `known`: nodes whose class, or number, is known;
    `counts`: of the nodes of each class; `attributes`: features of edges; `plain`: all features of
    the nodes are 0 or 1; `content`: an NPZ file."""

    nodes: int
    edges: int
    known: int
    classes: list[str]
    counts: list[int]
    features: int
    attributes: int
    plain: bool
    content: bytes


class GraphFiles(TypedDict):
    """`problem`: why there is no graph."""

    sides: list[GraphSide]
    choice: GraphChoice
    graph: GraphFound | None
    problem: GraphProblem | None


@question("graph_files", "workspace")
def graph_files(_: Workspace, request: GraphFilesQuestion) -> GraphFiles:
    """Return the graph in two CSV files, or what prevents one.

    Raises:
        ReadError: a file is not a table with a header.
    """
    content = bytes(request.get("payload") or b"")
    tables = _tables(content, request["first"], tuple(request["names"]))
    for table in tables:
        if len(table.titles) > MOST_LISTED:
            words = f"there are {len(table.titles):,} columns, more than {MOST_LISTED:,}."
            columns = len(table.titles)
            raise table.error("many-columns", words, columns=columns, most=MOST_LISTED)
    choice = request.get("choice") or guess(tables)
    answer: GraphFiles = {
        "sides": [_side(table) for table in tables],
        "choice": choice,
        "graph": None,
        "problem": None,
    }
    try:
        answer["graph"] = _found(tables, choice)
    except PlaygradError as error:
        answer["problem"] = {
            "message": str(error), "code": error.code or "", "values": error.values
        }  # fmt: skip
    return answer


@lru_cache(maxsize=1)  # the same files come again with each choice
def _tables(content: bytes, first: int, names: tuple[str, str]) -> tuple[GraphTable, ...]:
    parts = content[:first], content[first:]
    return tuple(GraphTable.read(part, name) for part, name in zip(parts, names, strict=True))


def _side(table: GraphTable) -> GraphSide:
    return {
        "rows": len(table.table.rows),
        "columns": list(table.titles),
        "usable": [column.type != "text" for column in table.columns],
    }


def _found(tables: Sequence[GraphTable], choice: GraphChoice) -> GraphFound:
    """Return the graph, which has known classes or numbers.

    Raises:
        PlaygradError: there is none.
    """
    if choice["nodes"] not in (0, 1):
        raise DataError(f"nodes must be 0 or 1, got {choice['nodes']}.")
    node_file, edge_file = tables[choice["nodes"]], tables[1 - choice["nodes"]]
    columns = columns_in(tables, choice)
    if columns.label is None:
        words = "no column says of which class a node is."
        hint = "Choose one, or add one with a class for some of the nodes."
        raise node_file.error("no-class", words, hint=hint)
    graph = graph_of(node_file, edge_file, columns, choice["directed"], MOST_VALUES)
    counts = _checked_counts(node_file, graph, node_file.titles[columns.label])
    file = io.BytesIO()
    graph.save(file)
    source, target = graph.edge_index
    return {
        "nodes": len(graph.x),
        "edges": int(source.size if choice["directed"] else (source <= target).sum()),
        "known": int(graph.labelled.sum()),
        "classes": [name[:LONGEST_NAME] for name in graph.classes],
        "counts": counts,
        "features": graph.x.shape[1],
        "attributes": 0 if graph.edge_attr is None else graph.edge_attr.shape[1],
        "plain": bool(((graph.x == 0) | (graph.x == 1)).all()),
        "content": file.getvalue(),
    }


def _checked_counts(file: GraphTable, graph: NamedGraph, title: str) -> list[int]:
    """Return the nodes of each class; raise ReadError for one class, or too many."""
    if graph.y is None or not graph.classes:
        return []
    classes = len(graph.classes)
    if classes < 2:
        only = graph.classes[0]
        words = f"column '{title}' has only one class, '{only}', so there is nothing to tell apart."
        raise file.error("one-class", words, column=title, only=only)
    if classes > MOST_CLASSES:
        words = f"column '{title}' has {classes:,} classes, more than {MOST_CLASSES:,}."
        raise file.error("many-classes", words, column=title, classes=classes, most=MOST_CLASSES)
    counts: list[int] = np.bincount(graph.y[graph.labelled], minlength=classes).tolist()
    return counts
