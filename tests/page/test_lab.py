"""The Lab's Python side: choices made into strategies, and reports of traced steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler.place import Policy
from playgrad.devices import registry
from playgrad.errors import GraphError
from playgrad.graph.graph import reset_default_graph
from playgrad.page.graph_view import graph_view
from playgrad.page.lab import SINGLE, Lab, choices
from playgrad.parallel import bubble_formula, collectives, named
from playgrad.parallel.schedules import SCHEDULES
from playgrad.runtime.hooks import Event, Hooks, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.trace import Trace

random = np.random.default_rng(0)
X = random.normal(size=(64, 5)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)
KINDS = {"input", "forward", "gradient", "update", "receive", "send"}


class LabHooks(Hooks):
    """What the page's hooks do for the Lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.reports: list[Event] = []

    def fitting(self, model: Any) -> None:
        self.lab.fitting(model)

    def new_trace(self) -> Trace | None:
        return self.lab.new_trace()

    def traced(self, trace: Trace) -> None:
        self.reports.append(self.lab.report(trace))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    registry.set_logical_devices(cpu=1)
    reset_default_graph()


def train(lab: Lab, watched: bool = True) -> tuple[list[Event], pg.Sequential]:
    """Train four layers in the Lab; the reports, and the model."""
    model = pg.Sequential(
        [nn.Dense(8, activation="relu"), nn.Dense(8), nn.Dense(8, activation="relu"), nn.Dense(2)]
    )
    model.compile(
        optimizer=pg.optim.SGD(learning_rate=0.1),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    )
    hooks = LabHooks(lab)
    before = set_hooks(hooks if watched else Hooks())
    try:
        with options_set(Options(device="cpu", strategy=lab.strategy, steps=lab.steps, seed=0)):
            model.fit(X, LABELS, batch_size=16, verbose=0)
    finally:
        set_hooks(before)
    return hooks.reports, model


def test_every_strategy_schedule_and_collective_can_be_chosen_and_is_explained() -> None:
    offered = choices()
    names = {key: [entry["name"] for entry in offered[key]] for key in offered if key != "kind"}
    assert names["strategies"][0] == SINGLE
    assert set(names["strategies"]) == {SINGLE, *named.NAMES}
    assert names["schedules"] == list(SCHEDULES)
    assert names["collectives"] == list(collectives.NAMES)
    words = [entry["about"] for key in names for entry in offered[key]]
    assert all(len(text) > 20 for text in words)
    json.dumps(offered)


def test_a_report_names_the_devices_their_work_and_their_memory() -> None:
    lab = Lab.of({"strategy": "sync", "devices": 3, "collective": "ring", "steps": 30})
    reports, model = train(lab)
    assert len(reports) >= 1
    report = reports[-1]
    json.dumps(report)
    devices = {"cpu:0", "cpu:1", "cpu:2"}
    assert {event["device"] for event in report["events"]} == devices
    assert {entry["device"] for entry in report["timeline"]["devices"]} == devices
    assert {event["kind"] for event in report["events"]} <= KINDS
    assert report["timeline"]["bytes_moved"] > 0
    assert report["bubble_formula"] is None
    whole = 1000 * report["timeline"]["seconds"]
    for event in report["events"]:
        assert 0 <= event["start"] <= event["end"] <= whole + 1e-6
    # Each has all of the parameters, in float32.
    for device in devices:
        assert report["memory"][device] >= 4 * model.count_params()
    model.close()


def test_the_graph_of_a_rewritten_step_shows_its_devices() -> None:
    _, model = train(Lab.of({"strategy": "sync", "devices": 3, "steps": 1}))
    view = graph_view(model.training_targets, model.session.policy, "main.py")
    assert {node["device"] for node in view["nodes"]} == {"cpu:0", "cpu:1", "cpu:2"}
    assert {"send", "receive"}.isdisjoint(node["op"] for node in view["nodes"])
    model.close()


def test_a_graph_is_drawn_although_some_operations_have_no_kernel() -> None:
    """A strategy wants them on its devices; they are folded away before anything is run."""
    with pg.Graph().as_default():
        x = pg.Variable(np.zeros(2, np.float32))
        with pg.device("gpu:0"):
            ones = pg.ones_like(x)
        policy = Policy("gpu:0", ["cpu:0", "gpu:0"])
        view = graph_view([ones.node], policy, "main.py")
    assert {node["op"]: node["device"] for node in view["nodes"]}["ones_like"] == "cpu:0"


def test_a_pipeline_has_its_formula() -> None:
    chosen = {"strategy": "pipeline", "devices": 2, "micro_batches": 4, "schedule": "gpipe"}
    reports, model = train(Lab.of({**chosen, "steps": 12}))
    assert reports[-1]["bubble_formula"] == pytest.approx(bubble_formula("gpipe", 2, 4))
    assert 0 < reports[-1]["timeline"]["bubble"] < 1
    model.close()


def test_tracing_changes_no_number() -> None:
    chosen = {"strategy": "sync", "devices": 2, "steps": 24}
    losses = []
    for watched in (True, False):
        reset_default_graph(7)
        reports, model = train(Lab.of(chosen), watched)
        assert bool(reports) == watched
        losses.append(model.history.losses)
        model.close()
    assert len(losses[0]) == 24
    np.testing.assert_array_equal(*losses)


def test_a_step_is_traced_on_demand() -> None:
    lab = Lab.of({"strategy": SINGLE})
    wanted = [lab.new_trace() is not None for _ in range(20)]
    assert [number + 1 for number, was in enumerate(wanted) if was] == [2, 10]
    lab.wanted = True
    assert [lab.new_trace() is not None for _ in range(3)] == [True, False, False]


def test_a_delayed_device_is_held_up() -> None:
    lab = Lab.of({"strategy": "sync", "devices": 2, "delays": [0, 20], "steps": 6})
    reports, model = train(lab)
    assert model.session.executor.delays == {"cpu:1": 0.02}
    # The other device waits for it, and the whole step takes longer than one delay.
    assert reports[-1]["timeline"]["seconds"] > 0.02
    model.close()


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"strategy": "magic", "devices": 2}, "no strategy 'magic'"),
        (
            {"strategy": "pipeline", "devices": 2, "micro_batches": 1, "schedule": "bidirectional"},
            "two micro-batches",
        ),
    ],
)
def test_choices_that_cannot_be(chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Lab.of(chosen)
