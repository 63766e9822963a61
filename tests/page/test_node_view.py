"""Answers about nodes of the graph that the page draws, for programs of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.compiler.program import Program
from playgrad.devices import registry
from playgrad.page.node_view import NodeViews
from playgrad.page.session_runs import SessionRuns
from playgrad.training.strategies.asynchronous import AsynchronousDataParallel


def _question(name: str, **more: Any) -> Any:
    return {"name": name, "output": 0, "part": "value", "sample": None} | more


def _trained(strategy: Any = None) -> Any:
    x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
    model = pg.Sequential([nn.Dense(3, activation="relu"), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.SGD(0.1), loss=loss, strategy=strategy)
    model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=8, epochs=1, verbose=0)
    return model


def test_a_model_answers_with_numbers_or_a_reason() -> None:
    with pg.Graph().as_default():
        model, views = _trained(), NodeViews()
        view = views.view(model, [], _question("dense_1/kernel"))
        assert view["problem"] is None and view["samples"] == 32
        kernel = model.session.value(model.layers[0].variables["kernel"])
        assert view["summary"]["statistics"]["max"] == float(kernel.max())
        first = views.view(model, [], _question("train/x"))["summary"]
        last = views.view(model, [], _question("train/x", sample="last"))["summary"]
        assert first["statistics"] != last["statistics"]
        found = views.find(model, [], "value(train/x) max > -9")
        assert found["matches"] == [("train/x", last["statistics"]["max"])]
        view = views.view(model, [], _question("nowhere", part="gradient"))
        assert view["problem"]["code"] == "unknown" and view["summary"] is None
        found = views.find(model, [], "value(dense_*/kernel) |max| > 0")
        assert {"dense_1/kernel", "dense_2/kernel"} <= {name for name, _ in found["matches"]}
        assert views.find(model, [], "?")["problem"]["code"] == "query_form"
        assert views.time(model, [], "dense_1/relu_1")["measured"].seconds > 0
        assert views.kernel(model, [], "dense_1/kernel")["problem"]["code"] == "stored"
        views.clear()


def test_graphs_of_sessions_are_told_apart() -> None:
    programs, sessions = [], []
    for value in (2.0, 3.0):
        graph = pg.Graph()
        with graph.as_default():
            weight = pg.Variable([value], "weight")
            total = pg.multiply(weight, 10.0, name="total")
            session = pg.Session(graph, "cpu")
            session.run(total)
        programs.append(Program(graph, [total]))
        sessions.append(session)
    runs = SessionRuns()
    runs.add(sessions[0], programs[0], {})
    views = NodeViews(runs)
    for number, value in ((1, 20), (2, 30)):
        view = views.view(None, programs, _question(f"graph_{number}/total"))
        assert view["summary"]["statistics"]["max"] == value
    view = views.view(None, programs[:1], _question("total"))
    assert view["summary"]["statistics"]["max"] == 20
    assert views.view(None, [], _question("total"))["problem"]["code"] == "no_program"
    for session in sessions:
        session.close()
    for program, code in zip(programs, ("no_session", "not_run"), strict=True):
        view = views.view(None, [program], _question("weight"))
        assert view["problem"]["code"] == code
    views.clear()


def test_an_asynchronous_training_explains_its_empty_view() -> None:
    registry.set_logical_devices(cpu=2)
    try:
        with pg.Graph().as_default():
            model = _trained(AsynchronousDataParallel(["cpu:0", "cpu:1"]))
            view = NodeViews().view(model, [], _question("dense_1/kernel"))
            assert view["problem"] == {"code": "asynchronous", "values": {}}
    finally:
        registry.reset_logical_devices()
