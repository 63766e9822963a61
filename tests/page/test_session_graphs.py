"""The graphs of programs that run sessions of their own, as the page receives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.python_side import PythonSide, python_side

ONE = """\
import playgrad as pg

x = pg.placeholder("float32", (None, 2), name="x")
w = pg.Variable([[1.0], [2.0]], name="w")
y = pg.matmul(x, w, name="y")
gradient = pg.gradients(pg.mean(y), w)
with pg.Session(device="cpu") as session:
    session.run(y, {x: [[1.0, 2.0]]})
    for _ in range(3):
        session.run([gradient, w.assign_add([[1.0], [1.0]])], {x: [[1.0, 2.0]]})
"""
TWO = """\
import playgrad as pg

for factor in (2.0, 3.0):
    with pg.Graph().as_default(), pg.Session(device="cpu") as session:
        session.run(pg.constant([1.0], name="c") * factor + 1.0)
"""


@pytest.fixture
def page() -> Iterator[PythonSide]:
    with python_side() as side:
        yield side


def drawings(page: PythonSide) -> list[dict[str, Any]]:
    return [event["graph"] for event in page.of("graph")]


def test_a_session_shows_all_that_it_has_run(page: PythonSide) -> None:
    assert page.run(ONE) == "done", page.of("error")
    names = {node["name"]: node for node in drawings(page)[-1]["nodes"]}
    assert {"x", "w", "y"} <= set(names)
    assert names["y"]["line"] == 5 and names["y"]["device"] == "cpu:0"
    assert {"forward", "gradient"} <= {node["phase"] for node in names.values()}
    assert any(node["op"] == "assign_add" for node in names.values())
    assert len(drawings(page)) == 2  # of the first run, and of all when the program had ended
    edges = {(edge["from"], edge["to"]) for edge in drawings(page)[-1]["edges"]}
    assert {("x", "y"), ("w", "y")} <= edges


def test_each_of_several_graphs_has_a_scope(page: PythonSide) -> None:
    assert page.run(TWO) == "done"
    names = {node["name"] for node in drawings(page)[-1]["nodes"]}
    assert {"graph_1/c", "graph_2/c"} <= names
    for edge in drawings(page)[-1]["edges"]:
        assert edge["from"].split("/")[0] == edge["to"].split("/")[0]


def test_a_program_that_fails_shows_what_it_had_run(page: PythonSide) -> None:
    assert page.run(ONE + "raise ValueError('no')\n") == "error"
    assert {"x", "w", "y"} <= {node["name"] for node in drawings(page)[-1]["nodes"]}


def test_a_later_program_shows_nothing_of_an_earlier_one(page: PythonSide) -> None:
    page.run(TWO)
    page.events.clear()
    page.run("print('no graph')")
    assert drawings(page) == []
    page.run(ONE)
    assert "graph_1/c" not in {node["name"] for node in drawings(page)[-1]["nodes"]}
