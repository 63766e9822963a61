"""Graphs with names in files: by name, by path, and files that hold something else."""

from __future__ import annotations

import gc
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.data import named_graph, user_data
from playgrad.data.named_graph import names_of
from playgrad.errors import DataError, ReadError

NODES = (
    b"id,words,kind,label\na,3,book,physics\nb,1.5,paper,biology\nc,0,paper,\nd,-2,book,physics\n"
)
EDGES = b"source,target,weight\na,b,1\nb,c,0.5\nc,d,2\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(user_data.FOLDER, raising=False)
    return tmp_path


def contents(graph: pg.data.NamedGraph) -> dict[str, Any]:
    values = vars(graph).items()
    return {name: each.tolist() if isinstance(each, np.ndarray) else each for name, each in values}


@pytest.mark.parametrize("label", ["label", "words", None])
def test_a_graph_is_the_same_after_it_is_saved(label: str | None) -> None:
    nodes = (
        NODES
        if label == "label"
        else NODES.replace(b"r,\n", b"r,book\n").replace(b"label", b"group")
    )
    graph = pg.data.graph_from_csv(nodes, EDGES, label=label)
    if label is None:
        assert graph.y is None
    graph.save("books")
    for file in ("books", "books.npz", Path("books.npz"), Path("books.npz").read_bytes()):
        loaded = pg.data.load_graph(file)
        assert contents(loaded) == contents(graph)
        assert all(
            getattr(loaded, part).dtype == getattr(graph, part).dtype
            for part in ("x", "edge_index", "edge_attr", "labelled")
        )
    again = io.BytesIO()
    loaded.save(again)
    assert again.getvalue() == Path("books.npz").read_bytes()


def test_arrays_of_ones_own_are_a_graph() -> None:
    edges = np.array([[0, 1], [1, 2]])
    np.savez("mine.npz", x=np.eye(3), edge_index=edges, y=[0.5, 1, 2])
    graph = pg.data.load_graph("mine")
    assert graph.names == ["0", "1", "2"] and graph.features[0] == "feature 0"
    assert graph.y is not None and graph.y.dtype == np.float32 and graph.labelled.all()
    np.savez("mine.npz", x=np.eye(3), edge_index=edges, y=[0, -1, 1], class_names=["p", "q"])
    assert pg.data.load_graph("mine").labelled.tolist() == [True, False, True]
    assert pg.data.class_names("mine") == ["p", "q"]
    assert "mine" in pg.data.available()


GOOD: dict[str, Any] = {"x": np.eye(3), "edge_index": [[0, 1], [1, 2]], "y": [0, 1, -1],
                        "class_names": ["p", "q"]}  # fmt: skip
PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "another node": ({"edge_index": [[0], [3]]}, "edge_index in bad.npz has the number 3, but"),
    "a negative node": ({"edge_index": [[0], [-1]]}, "has the number -1, but there are 3 nodes"),
    "ends as fractions": ({"edge_index": [[0.5], [1]]}, "holds float64, not whole numbers"),
    "rows of edges": ({"edge_index": [[0, 1, 2]]}, "has shape (1, 3) instead of (2, any)"),
    "features in one row": ({"x": [1.0, 2]}, "x in bad.npz has shape (2,) instead of"),
    "a feature that is NaN": ({"x": [[1], [np.nan], [0]]}, "NaN or infinite in float32"),
    "a feature that is too large": ({"x": [[1], [1e39], [0]]}, "NaN or infinite in float32"),
    "text": ({"x": [["a"], ["b"], ["c"]]}, "x in bad.npz holds <U1, not numbers"),
    "another class": ({"y": [0, 1, 2]}, "y in bad.npz has the number 2, but there are 2 classes"),
    "classes as fractions": ({"y": [0, 1, 0.5]}, "y in bad.npz holds float64"),
    "too few classes": ({"y": [0, 1]}, "y in bad.npz has shape (2,) instead of (3)"),
    "too few names": ({"node_names": ["a"]}, "node_names in bad.npz holds"),
    "numbers as names": ({"class_names": [1, 2]}, "class_names in bad.npz holds int64"),
    "features of other edges": ({"edge_attr": [[1.0]]}, "edge_attr in bad.npz has shape (1, 1)"),
    "known as numbers": ({"labelled": [1, 1, 0]}, "labelled in bad.npz holds int64, not truth"),
    "objects": ({"y": np.array([{}, {}, {}])}, "it holds Python objects"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_damaged_graph_is_refused(name: str) -> None:
    change, words = PROBLEMS[name]
    np.savez("bad.npz", **(GOOD | change))
    with pytest.raises(ReadError) as caught:
        pg.data.load_graph("bad.npz")
    assert words in str(caught.value) and caught.value.file == "bad.npz"


def test_files_of_another_kind_are_told_apart() -> None:
    np.savez("flowers.npz", x_train=np.eye(3), y_train=[0, 1, 2], x_test=np.eye(3), y_test=[0] * 3)
    Path("table.csv").write_bytes(NODES)
    pg.data.graph_from_csv(NODES, EDGES).save("books.npz")
    for name, words in {
        "flowers": r"a graph has x and edge_index\. Load it with pg\.data\.load\.",
        "table": r"table.csv is a table.*pg\.data\.graph_from_csv",
        "table.csv": r"table.csv is a table",
        "nowhere.npz": "cannot open nowhere.npz",
        "nowhere": r"there is no data set 'nowhere'; yours: .*books",
    }.items():
        with pytest.raises(DataError, match=words):
            pg.data.load_graph(name)
    with pytest.raises(ReadError, match=r"books.npz holds a graph\. .*pg\.data\.load_graph"):
        pg.data.load("books")
    with pytest.raises(DataError, match="cannot be written"):
        pg.data.load_graph("books").save("no/such/folder.npz")


def test_names_that_are_too_long_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_graph, "MOST_TEXT", 100)
    graph = pg.data.graph_from_csv(NODES, EDGES)
    with pytest.raises(DataError, match="the longest name of the features has 10 characters"):
        graph.save("books")
    assert not Path("books.npz").exists()


def test_edges_know_the_names_of_their_graph() -> None:
    graph = pg.data.graph_from_csv(NODES, EDGES)
    names = names_of(graph.edge_index[None])
    assert names is not None and names.nodes == ("a", "b", "c", "d")
    assert names.classes == ("biology", "physics")
    assert names_of(graph.edge_index.copy()) is None
    assert names_of(graph.edge_index[:, :2]) is None
    before = len(named_graph._known)
    del graph
    gc.collect()
    assert len(named_graph._known) == before - 1
