"""The Lab's Python side: strategies from the page's choices, and reports of traced steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler.place import Policy
from playgrad.devices import kinds, registry
from playgrad.errors import GraphError
from playgrad.graph.graph import reset_default_graph
from playgrad.page.graph_view import asynchronous_view, graph_view
from playgrad.page.lab import PROGRAM, SINGLE, Lab, choices, titled
from playgrad.parallel import bubble_formula, collectives
from playgrad.parallel.schedules import SCHEDULES
from playgrad.runtime.hooks import Event, Hooks, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.trace import Trace
from playgrad.training.strategies.registry import STRATEGIES

random = np.random.default_rng(0)
X = random.normal(size=(64, 5)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)
KINDS = {"input", "forward", "gradient", "update", "receive", "send", "delay"}


class LabHooks(Hooks):
    """The part of the page's hooks that serves the Lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.reports: list[Event] = []
        self.fits: list[Event] = []

    def fitting(self, model: Any) -> None:
        self.fits.append(self.lab.fitting(model))

    def new_trace(self) -> Trace | None:
        return self.lab.new_trace()

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        report = self.lab.report(trace, steps, seconds)
        if report is not None:
            self.reports.append(report)


@pytest.fixture(autouse=True)
def reset_devices() -> Iterator[None]:
    yield
    registry.set_logical_devices(cpu=1)
    reset_default_graph()


def train(lab: Lab, watched: bool = True) -> tuple[list[Event], pg.Sequential]:
    """Train four layers in the Lab; return the reports and the model."""
    model = pg.Sequential(
        [nn.Dense(8, activation="relu"), nn.Dense(8), nn.Dense(8, activation="relu"), nn.Dense(2)]
    )
    model.compile(
        optimizer=pg.optim.SGD(learning_rate=0.1),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    )
    hooks = LabHooks(lab)
    options = Options(device="cpu", strategy=lab.strategy, steps=lab.steps, seed=0)
    fit(model, hooks if watched else Hooks(), options)
    return hooks.reports, model


def fit(model: pg.Sequential, hooks: Hooks, options: Options) -> None:
    before = set_hooks(hooks)
    try:
        with options_set(options):
            model.fit(X, LABELS, batch_size=16, verbose=0)
    finally:
        set_hooks(before)


def test_every_strategy_schedule_and_collective_can_be_chosen_and_is_explained() -> None:
    offered = choices()
    names = {key: [entry["name"] for entry in offered[key]] for key in offered if key != "kind"}
    assert names["strategies"][0] == SINGLE
    assert set(names["strategies"]) == {SINGLE, PROGRAM, *STRATEGIES}
    assert names["schedules"] == list(SCHEDULES)
    assert names["collectives"] == list(collectives.NAMES)
    uses = {
        u for key in ("strategies", "schedules") for entry in offered[key] for u in entry["uses"]
    }
    assert uses >= set(names["details"])
    assert set(names["details"]) | {"schedule", "collective", "delays"} == uses
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
    assert report["steps"] == 1
    # The gradients in a ring, and from two devices the loss: part of the mean, and a finite flag.
    ring = 2 * (len(devices) - 1) * 4 * model.count_params()
    assert ring <= report["timeline"]["bytes_moved"] <= ring + 2 * 12
    assert report["bubble_formula"] is None
    whole = 1000 * report["timeline"]["seconds"]
    for event in report["events"]:
        assert 0 <= event["start"] <= event["end"] <= whole + 1e-6
    # Each device has all parameters, in float32.
    for device in devices:
        assert report["memory"][device] >= 4 * model.count_params()
    model.close()


def test_the_graph_of_a_rewritten_step_shows_its_devices() -> None:
    _, model = train(Lab.of({"strategy": "sync", "devices": 3, "steps": 1}))
    view = graph_view(model.training_targets, model.session.policy, "main.py")
    assert {node["device"] for node in view["nodes"]} == {"cpu:0", "cpu:1", "cpu:2"}
    assert {"send", "receive"}.isdisjoint(node["op"] for node in view["nodes"])
    model.close()


def test_the_graph_of_an_asynchronous_step_shows_server_and_replicas() -> None:
    _, model = train(Lab.of({"strategy": "async", "devices": 2, "steps": 6}))
    assert model.parameter_server is not None
    view = asynchronous_view(model.parameter_server, model.session.policy, "main.py")
    json.dumps(view)
    device = {node["name"]: node["device"] for node in view["nodes"]}
    assert len(device) == len(view["nodes"])
    server, first, second = "cpu:0 (weights)", "cpu:0", "cpu:1"
    for name, where in device.items():
        scope = name.partition("/")[0]
        assert where == {"replica_0": first, "replica_1": second}.get(scope, server), name
    assert set(device.values()) == {server, first, second}
    # Both replicas compute the same; only the server updates.
    assert sum(where == first for where in device.values()) == list(device.values()).count(second)
    updates = {node["device"] for node in view["nodes"] if node["phase"] == "update"}
    assert updates == {server}
    for edge in view["edges"]:
        assert edge["from"] in device and edge["to"] in device
    # Each replica receives all weights, and the server receives each gradient from both.
    across = {(e["from"], e["to"]) for e in view["edges"] if device[e["from"]] != device[e["to"]]}
    weights = {v.name.removesuffix(":0") for v in model.trainable_variables}
    for number in (0, 1):
        sent = {(name, f"replica_{number}/{name}") for name in weights}
        assert sent < across
        scope = f"replica_{number}/"
        gradients = [a for a, b in across if a.startswith(scope) and device[b] == server]
        assert len(gradients) > len(weights)  # and the loss
    # Trained without the strategy afterwards, the model has no parameter server.
    model.fit(X, LABELS, batch_size=16, verbose=0)
    assert model.parameter_server is None
    model.close()


def test_a_graph_is_drawn_although_some_operations_have_no_kernel() -> None:
    """A strategy may place them on a GPU; they are folded before anything runs."""
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
    traced = [lab.new_trace() is not None for _ in range(20)]
    assert [number + 1 for number, is_traced in enumerate(traced) if is_traced] == [2, 10]
    lab.trace_next = True
    assert [lab.new_trace() is not None for _ in range(3)] == [True, False, False]


def test_the_end_of_training_does_not_take_the_place_of_a_whole_round() -> None:
    lab = Lab.of({"strategy": "local", "devices": 2, "every": 8})
    for steps, reported in ((8, True), (3, False), (8, True)):
        lab.new_trace()
        assert (lab.report(Trace(), steps, 0.1) is not None) == reported
    lab.trace_next = True
    lab.new_trace()
    report = lab.report(Trace(), 3, 0.1)
    assert report is not None and report["steps"] == 3


def test_a_delayed_device_is_held_up() -> None:
    lab = Lab.of({"strategy": "sync", "devices": 2, "delays": [0, 20], "steps": 6})
    reports, model = train(lab)
    assert model.session.executor.delays == {"cpu:1": 0.02}
    # The delay is shown on the delayed device only.
    (held,) = {e["device"] for e in reports[-1]["events"] if e["kind"] == "delay"}
    assert held == "cpu:1"
    assert reports[-1]["timeline"]["seconds"] > 0.02
    model.close()


def test_a_slow_replica_does_not_hold_up_the_parameters() -> None:
    """The parameters are on the same device as the slow replica."""
    lab = Lab.of({"strategy": "async", "devices": 2, "delays": [20, 0], "steps": 12})
    assert lab.strategy.delays == {kind.first: 0.02 for kind in kinds.KINDS.values()}
    reports, model = train(lab)
    assert model.session.executor.delays == {}
    held = {e["device"] for r in reports for e in r["events"] if e["kind"] == "delay"}
    assert held == {"cpu:0"}
    model.close()


def test_the_lab_keeps_the_strategy_of_the_program() -> None:
    """Each fit uses the program's strategy and delays, unless one device is chosen in the Lab."""
    strategy = pg.parallel.Pipeline(2, 4, "gpipe")
    outcomes = []
    for choice in (PROGRAM, SINGLE):
        lab = Lab.of({"strategy": choice})
        model = pg.Sequential([nn.Dense(8), nn.Dense(2)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=pg.optim.SGD(0.1), loss=loss, strategy=strategy, device="cpu")
        model.build((5,))
        model.session.executor.delays = {"cpu:1": 0.001}
        hooks = LabHooks(lab)
        fit(model, hooks, Options(strategy=lab.strategy))
        outcomes.append((hooks.fits, model.session.executor.delays, hooks.reports[-1]))
        model.close()
    (fits, delays, report), (alone, none, single) = outcomes
    event = {"kind": "lab_fit", "title": titled(strategy), "devices": 2, "single": False}
    assert fits == [{**event, "held_up": True}]
    assert titled(strategy) == "Pipeline, GPipe, 4 micro-batches"
    assert delays == {"cpu:1": 0.001}
    assert report["bubble_formula"] == pytest.approx(1 / 5)
    plain = {"title": "One device", "devices": 1, "single": True, "held_up": False}
    assert alone == [{**event, **plain}]
    assert none == {}
    assert {entry["device"] for entry in single["timeline"]["devices"]} == {"cpu:0"}


@pytest.mark.parametrize(
    ("choice", "kwargs", "scope", "told"),
    [
        (PROGRAM, {}, None, ("One device", 1, True)),
        (PROGRAM, {"strategy": pg.parallel.Overlap(2)}, None, ("Overlapped steps", 1, False)),
        (PROGRAM, {}, "cpu:1", ("Placed by the program", 2, False)),
        (SINGLE, {}, "cpu:1", ("Placed by the program", 2, False)),
        (SINGLE, {}, "cpu:0", ("One device", 1, True)),
        (PROGRAM, {"placement": lambda node: "cpu:1"}, None, ("Placed by the program", 1, False)),
        (SINGLE, {"placement": lambda node: "cpu:1"}, None, ("One device", 1, True)),
    ],
)
def test_only_one_device_without_a_strategy_is_the_baseline(
    choice: str, kwargs: dict[str, Any], scope: str | None, told: tuple[str, int, bool]
) -> None:
    pg.set_logical_devices(cpu=2)
    with pg.device(scope) if scope else nullcontext():
        head = nn.Dense(2)
    model = pg.Sequential([nn.Dense(8), head])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.SGD(0.1), loss=loss, device="cpu", **kwargs)
    lab = Lab.of({"strategy": choice})
    hooks = LabHooks(lab)
    fit(model, hooks, Options(strategy=lab.strategy))
    (event,) = hooks.fits
    assert (event["title"], event["devices"], event["single"]) == told
    tracks = {entry["device"] for entry in hooks.reports[-1]["timeline"]["devices"]}
    assert len(tracks) == event["devices"]
    model.close()


def test_numbers_reach_their_strategies() -> None:
    pipeline = {"strategy": "pipeline", "devices": 2, "schedule": "interleaved", "chunks": 3}
    assert Lab.of(pipeline).strategy.chunks == 3
    assert Lab.of({"strategy": "async", "devices": 2, "staleness": 1}).strategy.staleness == 1
    assert Lab.of({"strategy": "local", "devices": 2, "every": 5}).strategy.every == 5
    named = "Local SGD, every 5"
    assert titled(Lab.of({"strategy": "local", "devices": 2, "every": 5}).strategy) == named


def test_asynchronous_training_reports_the_bytes_it_moves() -> None:
    lab = Lab.of({"strategy": "async", "devices": 2, "steps": 30})
    reports, model = train(lab)
    moved = [event for event in reports[-1]["events"] if event["kind"] == "receive"]
    parameters = 4 * model.count_params()
    to_server = [e["bytes"] for e in moved if e["device"] == "cpu:0 (weights)"]
    assert to_server
    # The gradients of all parameters, and the loss of the step.
    assert all(parameters <= size < parameters + 64 for size in to_server)
    to_replicas = [e["bytes"] for e in moved if e["device"] != "cpu:0 (weights)"]
    assert all(size >= parameters for size in to_replicas)
    assert reports[-1]["timeline"]["bytes_moved"] == sum(to_server) + sum(to_replicas)
    assert reports[-1]["steps"] == len(to_server)  # two from each replica
    model.close()


@pytest.mark.parametrize(("every", "steps"), [(3, 3), (100, 1)])
def test_local_sgd_counts_each_averaging_of_weights(every: int, steps: int) -> None:
    lab = Lab.of({"strategy": "local", "devices": 2, "every": every, "steps": 40})
    reports, model = train(lab)
    # The weights are averaged together with a flag: whether losses were finite.
    mean = 2 * 4 * (model.count_params() + 1) if steps == every else 0
    for report in reports:
        assert report["steps"] == steps
        assert report["timeline"]["bytes_moved"] == mean + 4 * steps  # the learning rate
        assert report["seconds"] >= report["timeline"]["seconds"]
    assert reports
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
def test_impossible_choices_are_refused(chosen: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Lab.of(chosen)
