"""Which of two tables has the nodes of a graph, and what its columns are: a guess to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypedDict

from playgrad.data.graph_csv import IDS, LABELS, SOURCES, TARGETS, GraphColumns
from playgrad.data.graph_table import GraphTable
from playgrad.data.table_columns import Column

MOST_ROWS = 1000
"""The most rows of edges whose ends are looked up."""
MOST_COLUMNS = 50
"""The most columns that are looked at, of a table."""
LEAST_PART = 0.5
"""The least part of the cells in a column that must be nodes."""
MOST_CLASSES = 20
"""A column that is not called like a label is one if it has at most as many classes."""


class GraphChoice(TypedDict):
    """`nodes`: the number of the file that has the nodes, 0 or 1; `id`, `label`, `features`: its
    columns, `label` null for none; `source`, `target`: columns of the other file."""

    nodes: int
    id: str
    label: str | None
    features: list[str]
    source: str
    target: str
    directed: bool


def guess(tables: Sequence[GraphTable]) -> GraphChoice:
    """Return the likely meaning of two tables.

    Nodes are those whose names two columns of the other table have; else columns with usual names,
    or the first ones, are taken. What is left of the nodes are features, unless it is free text.
    """
    found = max(
        (_matched(tables[nodes], tables[1 - nodes], nodes) for nodes in (0, 1)),
        key=lambda each: each[0],
    )
    _, nodes, id_at, source, target = found
    node_file, edge_file = tables[nodes], tables[1 - nodes]
    label = node_file.find(None, LABELS)
    if label is None or label == id_at:
        label = _last_classes(node_file, id_at)
    features = [at for at in range(len(node_file.columns)) if at not in (id_at, label)]
    return {
        "nodes": nodes,
        "id": node_file.titles[id_at],
        "label": None if label is None else node_file.titles[label],
        "features": [node_file.titles[at] for at in features if _is_whole(node_file.columns[at])],
        "source": edge_file.titles[source],
        "target": edge_file.titles[target],
        "directed": False,
    }


def _matched(
    node_file: GraphTable, edge_file: GraphTable, nodes: int
) -> tuple[float, int, int, int, int]:
    """Return how well two tables are nodes and edges, ``nodes``, and the columns id, source and
    target with which they are."""
    usual = [edge_file.find(None, each) for each in (SOURCES, TARGETS)]
    id_at = node_file.find(None, IDS)
    by_name = (0.1 if id_at is not None else 0.0) + (0.2 if None not in usual else 0.0)
    width = len(edge_file.columns)
    first = usual[0] if usual[0] is not None else 0
    second = usual[1] if usual[1] is not None else next((i for i in range(width) if i != first), 0)
    best = (by_name, nodes, 0 if id_at is None else id_at, first, second)
    for at, column in enumerate(node_file.columns[:MOST_COLUMNS]):
        names = set(column.cells)
        if len(names) < len(column.cells) - len(column.cells) // 10 or (
            "" in names and id_at != at
        ):
            continue  # a few names may be there twice, which is an error with its line
        parts = [
            (_part(each.cells, names), -place)
            for place, each in enumerate(edge_file.columns[:MOST_COLUMNS])
        ]
        ends = sorted(parts, reverse=True)[:2]
        if len(ends) < 2 or ends[1][0] < LEAST_PART:
            continue
        source, target = _in_order([-place for _, place in ends], usual)
        score = ends[0][0] + ends[1][0] + by_name + (0.1 if at == id_at else 0.0)
        best = max(best, (score, nodes, at, source, target), key=lambda each: each[0])
    return best


def _part(cells: Sequence[str], names: set[str]) -> float:
    """Return the part of the first cells that are among ``names``."""
    some = list(islice(cells, MOST_ROWS))
    return sum(cell in names for cell in some) / len(some)


def _in_order(ends: list[int], usual: Sequence[int | None]) -> tuple[int, int]:
    """Return the ends in the order of their columns, unless their names say otherwise."""
    source, target = sorted(ends)
    is_swapped = usual[0] == target or usual[1] == source
    return (target, source) if is_swapped else (source, target)


def _last_classes(file: GraphTable, id_at: int) -> int | None:
    """Return the last column of a few classes."""
    places = [
        at
        for at, column in enumerate(file.columns)
        if at != id_at and column.type != "text" and column.label_type == "category"
        and 2 <= column.distinct <= MOST_CLASSES
    ]  # fmt: skip
    return places[-1] if places else None


def _is_whole(column: Column) -> bool:
    """Return whether a column can be features: it is not free text, and has a value in each row."""
    return column.type != "text" and not column.holes.any()


def columns_in(tables: Sequence[GraphTable], choice: GraphChoice) -> GraphColumns:
    """Return the columns that are chosen; other columns of edges are features if they are numbers.

    Raises:
        ReadError: a table has no such column.
    """
    node_file, edge_file = tables[choice["nodes"]], tables[1 - choice["nodes"]]
    label = None if choice["label"] is None else _place(node_file, choice["label"])
    ends = _place(edge_file, choice["source"]), _place(edge_file, choice["target"])
    attributes = [
        at
        for at, column in enumerate(edge_file.columns)
        if at not in ends and column.type == "number" and not column.holes.any()
    ]
    features = [_place(node_file, title) for title in choice["features"]]
    id_at = _place(node_file, choice["id"])
    return GraphColumns(
        id_at,
        label,
        [at for at in features if at not in (id_at, label)],
        *ends,
        attributes,
    )


def _place(file: GraphTable, title: str) -> int:
    return file.column(title, (), "", "")
