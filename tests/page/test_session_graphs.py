"""The graphs of programs that run sessions of their own, as the page receives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
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


def test_a_session_shows_all_operations_it_has_run(page: PythonSide) -> None:
    assert page.run(ONE) == "done", page.of("error")
    names = {node["name"]: node for node in drawings(page)[-1]["nodes"]}
    assert {"x", "w", "y"} <= set(names)
    assert names["y"]["line"] == 5 and names["y"]["device"] == "cpu:0"
    assert {"forward", "gradient"} <= {node["phase"] for node in names.values()}
    assert any(node["op"] == "assign_add" for node in names.values())
    assert len(drawings(page)) == 2  # of the first run, and of all when the program had ended
    edges = {(edge["from"], edge["to"]) for edge in drawings(page)[-1]["edges"]}
    assert {("x", "y"), ("w", "y")} <= edges


def test_a_graph_that_nothing_has_run_is_shown(page: PythonSide) -> None:
    built = """\
import playgrad as pg
from playgrad import nn

model = pg.Sequential([pg.Input((2,)), nn.Dense(3, name="first"), nn.Dense(1)])
"""
    assert page.run(built) == "done", page.of("error")
    (drawing,) = drawings(page)
    nodes = {node["name"]: node for node in drawing["nodes"]}
    assert nodes["first/matmul"]["line"] == 4 and nodes["first/matmul"]["device"]
    view = page.ask("node_view", name="first/kernel", part="value", output=0, sample=None)
    assert view["answer"]["problem"]["code"] == "not_run"
    assert page.run("import playgrad as pg\nprint(pg.__version__)") == "done"
    assert len(drawings(page)) == 1


SHAPES = """\
import numpy as np
import playgrad as pg

x = pg.placeholder("float32", (None,), name="x")
y = pg.placeholder("float32", (None,), name="y")
error = pg.reduce_mean(pg.square(x - y), name="error")
other = pg.multiply(x, 2.0, name="other")
session = pg.Session(device="cpu")
session.run(error, {x: np.ones(4, np.float32), y: np.zeros(4, np.float32)})
session.run(error, {x: np.full(4, 3, np.float32), y: np.ones(4, np.float32)})
session.run(other, {x: np.arange(6, dtype=np.float32)})
"""


def asked(page: PythonSide, name: str, part: str = "value") -> dict[str, Any]:
    reply = page.ask("node_view", name=name, output=0, part=part, sample=None)
    node: dict[str, Any] = reply["answer"]
    return node


def numbers(view: dict[str, Any]) -> list[float]:
    """Return the values of a small tensor."""
    assert view["problem"] is None, view["problem"]
    values: list[float] = np.frombuffer(view["summary"]["grid"]["values"], "<f4").tolist()
    return values


def test_values_belong_to_the_last_feeds_and_variables(page: PythonSide) -> None:
    assert page.run(ONE) == "done"
    assert numbers(asked(page, "x")) == [1, 2]
    assert numbers(asked(page, "w")) == [4, 5]  # the session is closed
    assert numbers(asked(page, "y")) == [14]
    assert numbers(asked(page, "w", "gradient")) == [1, 2]
    kernel = page.ask("node_kernel", name="y")["answer"]["kernel"]
    assert kernel["device"] == "cpu:0"


def test_a_node_uses_the_feeds_of_the_last_run_that_computed_it(page: PythonSide) -> None:
    assert page.run(SHAPES) == "done"
    assert numbers(asked(page, "x")) == [0, 1, 2, 3, 4, 5]
    assert numbers(asked(page, "other")) == [0, 2, 4, 6, 8, 10]
    assert numbers(asked(page, "y")) == [1, 1, 1, 1]
    assert numbers(asked(page, "error")) == [4]
    kernel = page.ask("node_kernel", name="error")["answer"]["kernel"]
    assert kernel["device"] == "cpu:0"
    found = page.ask("node_find", query="value(*) max > 3.5")["answer"]
    assert {name for name, _ in found["matches"]} == {"x", "other", "error", "square"}
    assert found["skipped"] == 0


def test_feeds_of_many_megabytes_are_not_kept(page: PythonSide) -> None:
    large = "session.run(other, {x: np.zeros(17 << 20, np.float32)})\n"
    assert page.run(SHAPES.rpartition("session.run(")[0] + large)
    assert numbers(asked(page, "other")) == [6, 6, 6, 6]  # with what was fed before
    assert page.run(SHAPES.partition("session.run(")[0] + large) == "done"
    assert asked(page, "other")["problem"] == {"code": "needs_feed", "values": {"name": "x"}}


@pytest.mark.parametrize("ends", ["", "session.close()\n"])
def test_a_run_is_repeated_and_undone(page: PythonSide, ends: str) -> None:
    program = """\
import playgrad as pg

x = pg.placeholder("float32", (None, 2), name="x")
w = pg.Variable([[1.0], [2.0]], name="w")
loss = pg.reduce_mean(pg.square(pg.matmul(x, w, name="y")), name="loss")
update = w.assign_sub(0.1 * pg.gradients(loss, w)[0])
session = pg.Session(device="cpu")
for _ in range(3):
    session.run([loss, update], {x: [[1.0, -1.0], [0.5, 2.0]]})
session.run(loss, {x: [[1.0, 1.0]]})
"""
    assert page.run(program + ends) == "done"
    before = numbers(asked(page, "w"))
    step = page.ask("operations")["answer"]
    operations = {each["name"]: each for each in step["operations"]}
    y = np.array([[1, -1], [0.5, 2]]) @ np.array(before)
    (output,) = operations["y"]["outputs"]
    assert output["shape"] == [2, 1]
    assert output["statistics"]["max"] == pytest.approx(y.max(), rel=1e-5)
    assert "assign_sub" in operations  # of the run with the most operations, not the last one
    for place, operation in enumerate(step["operations"]):
        assert place in operation["ready"]
    execution = page.ask("execution", apart=False)["answer"]
    assert {"y", "loss"} <= {name for event in execution["events"] for name in event["nodes"]}
    took = sum(event["end"] - event["start"] for event in execution["events"])
    assert 0 < took <= execution["duration"]
    assert numbers(asked(page, "w")) == before


def test_a_run_of_one_of_several_graphs_is_repeated_in_its_scope(page: PythonSide) -> None:
    assert page.run(TWO.replace("pg.constant([1.0]", "pg.Variable([1.0]")) == "done"
    step = page.ask("operations")["answer"]
    assert {each["name"].partition("/")[0] for each in step["operations"]} == {"graph_1"}
    assert page.run("print(1)") == "done"
    assert page.ask("operations")["error"]["message"].startswith("there is no trained model")


def test_each_closed_session_leaves_its_own_variables(page: PythonSide) -> None:
    program = """\
import playgrad as pg

for start in (1.0, 5.0):
    with pg.Graph().as_default(), pg.Session(device="cpu") as session:
        w = pg.Variable([start], name="w")
        for _ in range(3):
            session.run(w.assign_add([10.0]))
"""
    assert page.run(program) == "done"
    assert numbers(asked(page, "graph_1/w")) == [31]
    assert numbers(asked(page, "graph_2/w")) == [35]
    many = ", ".join(map(str, range(40)))
    assert page.run(program.replace("1.0, 5.0", many)) == "done"
    assert numbers(asked(page, "graph_8/w")) == [69]  # only the last graphs are kept
    assert len(page.module.controller.runs) == 8


def test_a_query_searches_all_graphs(page: PythonSide) -> None:
    assert page.run(TWO) == "done"
    for query, expected in (
        ("value(add) max > 3.5", {"graph_2/add"}),
        ("value(*add) max > 2.5", {"graph_1/add", "graph_2/add"}),
        ("value(graph_1/*) max > 2.5", {"graph_1/add"}),
    ):
        found = page.ask("node_find", query=query)["answer"]
        assert found["problem"] is None
        assert {name for name, _ in found["matches"]} == expected, query
    problem = page.ask("node_find", query="value(nowhere) max > 0")["answer"]["problem"]
    assert problem["code"] == "query_nothing"


def test_each_of_several_graphs_has_a_scope(page: PythonSide) -> None:
    assert page.run(TWO) == "done"
    names = {node["name"] for node in drawings(page)[-1]["nodes"]}
    assert {"graph_1/c", "graph_2/c"} <= names
    for edge in drawings(page)[-1]["edges"]:
        assert edge["from"].split("/")[0] == edge["to"].split("/")[0]


def test_a_failed_program_shows_the_operations_it_had_run(page: PythonSide) -> None:
    assert page.run(ONE + "raise ValueError('no')\n") == "error"
    assert {"x", "w", "y"} <= {node["name"] for node in drawings(page)[-1]["nodes"]}


def test_a_later_program_shows_nothing_of_an_earlier_one(page: PythonSide) -> None:
    page.run(TWO)
    page.events.clear()
    page.run("print('no graph')")
    assert drawings(page) == []
    page.run(ONE)
    assert "graph_1/c" not in {node["name"] for node in drawings(page)[-1]["nodes"]}


BENCH = """
import numpy as np
import playgrad as pg

x = pg.placeholder("float32", (None, 3), name="x")
w = pg.Variable([[1.0], [2.0], [-3.0]], name="w")
score = pg.matmul(x, w, name="score")
loss = pg.reduce_mean(pg.square(score), name="loss")
session = pg.Session(device="gpu")
session.run(loss, {x: np.ones((4, 3), np.float32)})
before = session.run(score, {x: np.arange(6, dtype=np.float32).reshape(2, 3)})
"""


@pytest.mark.gpu
@pytest.mark.parametrize("ends", ["", "session.close()\n"])
def test_a_kernel_of_a_run_is_tried_on_the_bench(page: PythonSide, ends: str) -> None:
    def ask(action: str, text: str = "") -> dict[str, Any]:
        fields = {"name": "score", "action": action, "kernel": 0, "payload": text.encode()}
        reply = page.ask("kernel_bench", **fields)
        assert reply["ok"], reply
        return dict(reply["answer"])

    assert page.run(BENCH + ends) == "done"
    opened = ask("open")["opened"]
    assert opened["of_run"] and opened["nodes"] == ["score"]
    (kernel,) = opened["kernels"]
    report = ask("check", kernel)["report"]
    assert report["passed"] and report["samples"][0] == {"name": "run", "problem": None}
    assert len(report["samples"]) > 4, "the samples of the op contract"
    wrong = ask("check", kernel.replace("const DEPTH = 3u", "const DEPTH = 2u"))["report"]
    assert not wrong["passed"] and wrong["samples"][0]["problem"]
    times = ask("time", kernel)["times"]
    assert times["error"] is None and min(times["before"], times["after"], times["limit"]) > 0
    reply = page.ask("kernel_bench", name="w", action="open", kernel=0)
    assert reply["answer"]["problem"]["code"] == "stored"
