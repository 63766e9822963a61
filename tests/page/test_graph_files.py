"""Two tables that a visitor brings to the page: which is which, and the graph in them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.data.graph_table import GraphTable
from tests.page.python_side import PythonSide, python_side

PEOPLE = b"""name,age,member,note,class
ann,31.5,yes,a,chess
bob,28,no,b b,chess
cid,64,yes,c,go
dee,59,yes,d,
eve,61,no,e,go
"""
CALLS = b"from,to,minutes\nann,bob,3\nbob,dee,1\ncid,dee,2\neve,cid,9\nbob,ann,1\n"
FREE = b"".join(b"p%d,%s,text %d\n" % (i, (b"red", b"blue")[i % 2], i) for i in range(60))
STRANGE = b"person,team,remark\n" + FREE
PAIRS = b"caller;callee\n" + b"".join(b"p%d;p%d\n" % (i, i * 7 % 60) for i in range(60))


def ask(side: PythonSide, first: bytes, second: bytes, **more: Any) -> dict[str, Any]:
    names = more.pop("names", ["one.csv", "two.csv"])
    return side.ask("graph_files", names=names, first=len(first), payload=first + second, **more)


def answer(first: bytes, second: bytes, **more: Any) -> dict[str, Any]:
    with python_side() as side:
        reply = ask(side, first, second, **more)
    assert reply["ok"], reply
    found: dict[str, Any] = reply["answer"]
    return found


@pytest.mark.parametrize("is_swapped", [False, True])
def test_nodes_and_edges_are_told_apart(is_swapped: bool) -> None:
    files = (CALLS, PEOPLE) if is_swapped else (PEOPLE, CALLS)
    found = answer(*files)
    assert found["problem"] is None
    assert found["choice"] == {
        "nodes": int(is_swapped), "id": "name", "label": "class",
        "features": ["age", "member"], "source": "from", "target": "to", "directed": False,
    }  # fmt: skip
    graph = found["graph"]
    assert graph["classes"] == ["chess", "go"] and graph["counts"] == [2, 2]
    sizes = ("nodes", "edges", "known", "features", "attributes", "plain")
    assert [graph[each] for each in sizes] == [5, 4, 4, 3, 1, False]
    loaded = pg.data.load_graph(graph["content"])
    assert loaded.y is not None and loaded.y.tolist() == [0, 0, 1, -1, 1]
    assert loaded.names == ["ann", "bob", "cid", "dee", "eve"]
    assert loaded.edge_attr is not None and loaded.edge_attr[0].tolist() == [4]


def test_columns_with_other_names_are_known_by_their_cells() -> None:
    for nodes, files in enumerate([(STRANGE, PAIRS), (PAIRS, STRANGE)]):
        found = answer(*files)
        assert found["problem"] is None
        assert found["choice"] == {
            "nodes": nodes, "id": "person", "label": "team", "features": [],
            "source": "caller", "target": "callee", "directed": False,
        }  # fmt: skip
        assert found["graph"]["features"] == 60 and found["graph"]["plain"]
        assert found["sides"][nodes]["usable"] == [False, True, False]


def test_a_choice_replaces_the_guess() -> None:
    with python_side() as side:
        choice = ask(side, PEOPLE, CALLS)["answer"]["choice"]
        choice |= {"label": "age", "features": ["member"], "directed": True}
        choice |= {"source": "to", "target": "from"}
        found = ask(side, PEOPLE, CALLS, choice=choice)["answer"]
    assert found["choice"] == choice
    assert found["graph"]["classes"] == [] and found["graph"]["edges"] == 5
    graph = pg.data.load_graph(found["graph"]["content"])
    assert graph.y is not None and graph.y.tolist() == [31.5, 28, 64, 59, 61]
    assert [0, 1] in graph.edge_index.T.tolist() and [4, 2] not in graph.edge_index.T.tolist()


PROBLEMS: dict[str, tuple[bytes, bytes, dict[str, Any], str, dict[str, Any]]] = {
    "an unknown node": (
        PEOPLE, CALLS + b"bob,zoe,1\n", {}, "graph-unknown-node",
        {"file": "two.csv", "line": 7, "name": "zoe", "nodes": "one.csv"},
    ),
    "a node twice": (
        PEOPLE + b"ann,3,no,f,go\n", CALLS, {}, "graph-twice",
        {"file": "one.csv", "line": 7, "name": "ann", "first": 2},
    ),
    "no class": (PEOPLE, CALLS, {"label": None}, "graph-no-class", {"file": "one.csv"}),
    "one class": (
        PEOPLE.replace(b"go", b"chess"), CALLS, {}, "graph-one-class",
        {"file": "one.csv", "column": "class", "only": "chess"},
    ),
    "a missing number": (
        PEOPLE.replace(b"64", b""), CALLS, {"features": ["age"]}, "graph-empty-cell",
        {"file": "one.csv", "line": 4, "column": "age", "cell": ""},
    ),
    "another column": (
        PEOPLE, CALLS, {"source": "when"}, "graph-no-column",
        {"file": "two.csv", "column": "when"},
    ),
    "one end": (
        PEOPLE, CALLS, {"source": "to"}, "graph-same-ends", {"file": "two.csv", "column": "to"},
    ),
}  # fmt: skip


def test_a_problem_has_its_code_and_the_choice_remains() -> None:
    with python_side() as side:
        usual = ask(side, PEOPLE, CALLS)["answer"]["choice"]
        for first, second, change, code, values in PROBLEMS.values():
            found = ask(side, first, second, choice=usual | change)["answer"]
            assert found["graph"] is None and found["choice"] == usual | change
            assert (found["problem"]["code"], found["problem"]["values"]) == (code, values)
            assert values["file"] in found["problem"]["message"]


def test_a_file_that_is_no_table_is_named() -> None:
    with python_side() as side:
        for second, code in {
            b"": "table-empty", b"a,b\0": "table-not-text", b"a,b\n": "table-no-rows",
            b'a,b\n"c,d\n': "table-open-quote", b"1,2\n2,3\n": "graph-no-header",
        }.items():  # fmt: skip
            reply = ask(side, PEOPLE, second)
            assert not reply["ok"] and reply["error"]["problem"]["code"] == code
            assert reply["error"]["problem"]["values"]["file"] == "two.csv"


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with python_side() as side:
        module = sys.modules["playgrad.page.questions.graph_files"]  # that of this side
        monkeypatch.setattr(module, "MOST_VALUES", 100)
        problem = ask(side, STRANGE, PAIRS)["answer"]["problem"]
        assert problem["code"] == "graph-many-nodes"
        assert problem["values"] == {"file": "one.csv", "nodes": 60, "most": 10}
        monkeypatch.setattr(module, "MOST_CLASSES", 1)
        assert ask(side, PEOPLE, CALLS)["answer"]["problem"]["code"] == "graph-many-classes"
        monkeypatch.setattr(module, "MOST_LISTED", 2)
        assert ask(side, PEOPLE, CALLS)["error"]["problem"]["code"] == "graph-many-columns"


def test_a_large_graph_has_a_small_file() -> None:
    """Nodes that are features of their own are mostly zeros."""
    names = np.arange(1000).astype(str)
    nodes = "id,y\n" + "".join(f"n{name},{int(name) % 3}\n" for name in names)
    edges = "source,target\n" + "".join(f"n{name},n{int(name) * 7 % 1000}\n" for name in names)
    content = answer(nodes.encode(), edges.encode())["graph"]["content"]
    assert len(content) < 40_000
    assert np.array_equal(pg.data.load_graph(content).x, np.eye(1000))


def test_another_choice_reads_no_file_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read = GraphTable.read
    seen: list[str] = []

    def noted(file: Any, unnamed: str) -> GraphTable:
        seen.append(unnamed)
        return read(file, unnamed)

    monkeypatch.setattr(GraphTable, "read", noted)
    with python_side() as side:
        first = ask(side, PEOPLE, CALLS + b"\n")["answer"]
        again = ask(side, PEOPLE, CALLS + b"\n", choice=first["choice"] | {"directed": True})
    assert seen == ["one.csv", "two.csv"]
    assert again["answer"]["graph"]["edges"] == 5 and first["graph"]["edges"] == 4
