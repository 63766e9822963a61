"""Graphs from two CSV files: what is read, and the words of errors with files and lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.data import graph_csv, graph_table
from playgrad.errors import ReadError

NODES = b"""id,words,kind,label
a,3,book,physics
b,1.5,paper,biology
c,0,paper,
d,-2,book,physics
"""
EDGES = b"source,target\na,b\nb,c\nc,d\n"


def read(nodes: bytes = NODES, edges: bytes = EDGES, **options: Any) -> pg.data.NamedGraph:
    return pg.data.graph_from_csv(nodes, edges, **options)


def test_a_graph_is_read_with_names() -> None:
    graph = read()
    assert graph.names == ["a", "b", "c", "d"]
    assert graph.features == ["words", "kind=book", "kind=paper"]
    assert graph.x.dtype == np.float32
    assert graph.x.tolist() == [[3, 1, 0], [1.5, 0, 1], [0, 0, 1], [-2, 1, 0]]
    assert graph.classes == ["biology", "physics"]
    assert graph.y is not None and graph.y.dtype == np.int32
    assert graph.y.tolist() == [1, 0, -1, 1]
    assert graph.labelled.tolist() == [True, True, False, True]
    assert graph.edge_attr is None
    assert graph.edge_index.dtype == np.int32
    assert graph.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2]]


def test_files_and_other_columns_can_be_named(tmp_path: Path) -> None:
    nodes, edges = tmp_path / "people.csv", tmp_path / "calls.csv"
    nodes.write_bytes(b"who;age;wage\nx;30;1\ny;40;2.5\nz;50;\n")
    edges.write_bytes(b"minutes;caller;called\n5;x;y\n2;y;x\n3;z;z\n")
    names = {"id": "who", "label": "wage", "source": "caller", "target": "called"}
    graph = pg.data.graph_from_csv(nodes, str(edges), directed=True, **names)
    assert graph.edge_index.T.tolist() == [[0, 1], [1, 0], [2, 2]]
    assert graph.edge_attr is not None and graph.edge_attr.tolist() == [[5], [2], [3]]
    assert graph.y is not None and graph.y.dtype == np.float32 and graph.classes == []
    assert graph.y.tolist() == [1, 2.5, 0] and graph.labelled.tolist() == [True, True, False]
    both = pg.data.graph_from_csv(nodes, edges, **names)
    assert both.edge_attr is not None
    assert both.edge_attr[(both.edge_index == [[0], [1]]).all(axis=0)].tolist() == [[7]]


def test_nodes_without_features_are_features() -> None:
    graph = read(b"node\n0\n1\n2\n", b"from,to\n0,2\n", directed=True)
    assert np.array_equal(graph.x, np.eye(3)) and graph.features == ["0", "1", "2"]
    assert graph.y is None and not graph.labelled.any()
    assert graph.edge_index.tolist() == [[0], [2]]


def test_an_edge_from_a_node_to_itself_is_one_edge() -> None:
    edges = b"source,target,weight\na,a,2\na,b,3\n"
    for directed, ends, weights in (
        (False, [[0, 0, 1], [0, 1, 0]], [2, 3, 3]),
        (True, [[0, 0], [0, 1]], [2, 3]),
    ):
        graph = read(b"id,n\na,1\nb,2\n", edges, directed=directed)
        assert graph.edge_index.tolist() == ends
        assert graph.edge_attr is not None and graph.edge_attr[:, 0].tolist() == weights


def test_a_network_trains_with_what_is_read() -> None:
    graph = read()
    nn = pg.nn
    inputs = [pg.Input(graph.x.shape), pg.Input(graph.edge_index.shape, dtype="int32")]
    model = pg.Model(inputs, nn.GCNConv(len(graph.classes))(*inputs))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    model.compile(pg.optim.Adam(0.1), loss)
    assert graph.y is not None
    batch = [graph.x[None], graph.edge_index[None]]
    history = model.fit(batch, graph.y[None], epochs=20, verbose=0)
    assert history.steps[-1][0] < history.steps[0][0]


PROBLEMS = {
    "no header": ({"edges": b"1,2\n2,1\n"}, "edges.csv, line 1: there is no header."),
    "no names": (
        {"nodes": b"words,label\n1,a\n2,b\n"},
        "nodes.csv: there is no column of names of nodes.",
    ),
    "no ends": (
        {"edges": b"alice,bob\nb,c\n"},
        "edges.csv: there is no column of the nodes that edges leave.",
    ),
    "one end": ({"source": "target"}, "edges.csv: column 'target' is both source and target."),
    "another column": ({"label": "topic"}, "nodes.csv: there is no column 'topic'."),
    "a node twice": (
        {"nodes": b"id,n\na,1\nb,2\na,3\n"},
        "nodes.csv, line 4: node 'a' is in line 2 already.",
    ),
    "a node without a name": (
        {"nodes": b"id,n\na,1\n,2\n"},
        "nodes.csv, line 3: the node has no name.",
    ),
    "a long name": (
        {"nodes": b"id,n\na,1\n" + b"b" * 201 + b",2\n"},
        "nodes.csv, line 3: the name of the node has more than 200 characters.",
    ),
    "an unknown node": (
        {"edges": EDGES + b"a,e\n"},
        "edges.csv, line 5: node 'e' is not in nodes.csv.",
    ),
    "an empty end": ({"edges": EDGES + b"a,\n"}, "edges.csv, line 5: node '' is not in nodes.csv."),
    "too few cells": ({"nodes": NODES + b"e,1\n"}, "nodes.csv, line 6: this line has not 4 cells"),
    "a missing number": (
        {"nodes": b"id,n\na,1\nb,\n"},
        "nodes.csv, line 3: column 'n': the cell is empty.",
    ),
    "a missing category": (
        {"nodes": b"id,k\na,p\nb,q\nc,p\nd,\n"},
        "nodes.csv, line 5: the cell of 'k' is empty.",
    ),
    "an edge's text": (
        {"edges": b"source,target,w\na,b,1\nb,c,two\n"},
        "edges.csv, line 3: column 'w': 'two' is not a number.",
    ),
    "free text": (
        {"nodes": b"id,t\n" + b"".join(b"n%d,text %d\n" % (i, i) for i in range(80))},
        "nodes.csv, line 2: column 't': 'text 0' is not a number.",
    ),
    "too large a number": (
        {"nodes": b"id,n\na,1\nb,1e39\n"},
        "nodes.csv, line 3: column 'n': '1e39' is too large for float32.",
    ),
    "too large a number to predict": (
        {"nodes": b"id,y\na,0.5\nb,1.5\nc,2.5\nd,1e39\n"},
        "nodes.csv, line 5: column 'y': '1e39' is too large for float32.",
    ),
    "names as classes": (
        {"label": "id", "id": "id"},
        "nodes.csv: column 'id' holds the names of nodes, and cannot hold their classes too.",
    ),
    "an empty label": ({"nodes": b"id,n,y\na,1,\nb,2,\n"}, "nodes.csv: column 'y' is empty."),
    "an empty file": ({"nodes": b""}, "nodes.csv is empty."),
    "a header only": ({"edges": b"source,target\n"}, "edges.csv has a header but no rows."),
    "no table": ({"edges": b"PK\0\0"}, "edges.csv is not a table of text."),
    "no file": ({"nodes": "missing.csv"}, "cannot open missing.csv"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_an_error_with_its_line(name: str) -> None:
    options, words = PROBLEMS[name]
    with pytest.raises(ReadError) as caught:
        read(**options)  # type: ignore[arg-type]
    assert words in str(caught.value)
    if "line" in words:
        assert caught.value.record == int(words.partition("line ")[2].partition(":")[0])


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_csv, "MOST_FEATURES", 2)
    with pytest.raises(ReadError, match="3 nodes are too many to be features"):
        read(b"node\n0\n1\n2\n", b"from,to\n0,2\n")
    with pytest.raises(ReadError, match="there are 3 features of 4 rows"):
        read()
    monkeypatch.setattr(graph_table, "MOST_COLUMNS", 2)
    with pytest.raises(ReadError, match="there are 4 columns, more than 2"):
        read()
    monkeypatch.setattr(graph_table, "MOST_BYTES", 20)
    with pytest.raises(ReadError, match=r"nodes.csv has more than"):
        read()


def test_the_text_of_a_graph_is_short() -> None:
    nodes = "id,label\n" + "".join(f"n{i},{i % 2}\n" for i in range(2000))
    graph = pg.data.graph_from_csv(nodes.encode(), b"source,target\nn0,n1\n")
    assert repr(graph) == "<NamedGraph of 2,000 nodes, 2,000 features, 2 edges, 2 classes>"
