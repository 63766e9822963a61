"""The measured step of the page: its message, and that the training is not affected."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import GraphError
from playgrad.page.execution import MOST_EVENTS, described, measured_step
from playgrad.runtime.hooks import Hooks, Request, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.trace import Event, Trace

DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


class Measuring(Hooks):
    """Measures a step whenever training polls."""

    def __init__(self) -> None:
        self.model: Any = None
        self.measured: list[dict[str, Any]] = []

    def fitting(self, model: Any) -> None:
        self.model = model

    def poll(self) -> list[Request]:
        ready = self.model is not None and self.model.training_step is not None
        if ready and len(self.measured) < 4:
            self.measured.append(measured_step(self.model, apart=len(self.measured) % 2 == 1))
        return []


def trained(hooks: Hooks, device: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the losses and the weights of a training with dropout, whose random numbers move."""
    pg.reset_default_graph(5)
    x = np.random.default_rng(0).normal(size=(96, 6)).astype(np.float32)
    model = pg.Sequential([pg.nn.Dense(8, activation="relu"), pg.nn.Dropout(0.4), pg.nn.Dense(2)])
    loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss)
    before = set_hooks(hooks)
    try:
        with options_set(Options(device=device)):
            history = model.fit(
                x, (x[:, 0] > 0).astype(np.int32), batch_size=8, epochs=3, verbose=0
            )
        return history.losses, model.get_weights()
    finally:
        set_hooks(before)
        model.close()


@pytest.mark.parametrize("device", DEVICES)
def test_measuring_while_training_changes_nothing(device: str) -> None:
    losses, weights = trained(Hooks(), device)
    hooks = Measuring()
    measured_losses, measured_weights = trained(hooks, device)
    assert hooks.measured
    np.testing.assert_array_equal(measured_losses, losses)
    for weight, expected in zip(measured_weights, weights, strict=True):
        np.testing.assert_array_equal(weight, expected)
    for step in hooks.measured:
        computed = {name for event in step["events"] for name in event["nodes"]}
        assert any(name.startswith("dense_1/") for name in computed)
        assert step["events"][0]["start"] == 0
        assert max(event["end"] for event in step["events"]) <= step["duration"] * (1 + 1e-9)
        took = [event["end"] - event["start"] for event in step["events"]]
        assert sum(took) <= step["duration"] * (1 + 1e-9)
        chrome = json.loads(step["chrome"])["traceEvents"]
        assert sum(span["ph"] == "X" for span in chrome) == len(step["events"])


def test_replicas_that_train_at_their_own_pace_have_no_single_step() -> None:
    x = np.zeros((32, 4), np.float32)
    model = pg.Sequential([pg.nn.Dense(2)])
    strategy = pg.parallel.AsynchronousDataParallel(2)
    loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.SGD(0.1), loss, strategy=strategy)
    with options_set(Options(device="cpu")):
        model.fit(x, np.zeros(32, np.int32), batch_size=8, epochs=1, verbose=0)
    with pytest.raises(GraphError, match="at their own pace"):
        measured_step(model, apart=False)
    model.close()


def test_only_the_first_of_many_events_are_drawn_but_all_are_saved() -> None:
    count = MOST_EVENTS + 7
    events = [Event(f"op_{i}", "cpu:0", i, i, i + 0.5, nodes=(f"op_{i}",)) for i in range(count)]
    view = described(Trace(events[::-1]))
    assert (len(view["events"]), view["left_out"]) == (MOST_EVENTS, 7)
    assert view["events"][0]["name"] == "op_0"
    spans = [s for s in json.loads(view["chrome"])["traceEvents"] if s["ph"] == "X"]
    assert len(spans) == count
