"""Training that is resumed from a checkpoint goes on as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, NonFiniteError
from playgrad.training import run_record
from playgrad.training.checkpoint import Checkpoint
from tests.nn.resumed_runs import Outcome, Program, Trained, expect_same, often, run

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(44, 6)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)
WAYS = {
    "one device": None,
    "data parallel": pg.parallel.DataParallel(2),
    "local SGD": pg.parallel.LocalSGD(2, every=5),
    "pipeline": pg.parallel.Pipeline(2, micro_batches=2),
    "pipedream": pg.parallel.Pipeline(2, micro_batches=2, schedule="pipedream"),
    "overlap": pg.parallel.Overlap(3),
}


def classifier(optimizer: Any = None, **more: Any) -> pg.Sequential:
    """A network with everything that has a state: momentum, moving averages, random numbers."""
    model = pg.Sequential(
        [
            nn.Dense(8, activation="relu"),
            nn.BatchNormalization(),
            nn.Dropout(0.3),
            nn.Dense(2),
        ]
    )
    model.compile(
        optimizer or pg.optim.Adam(pg.optim.ExponentialDecay(0.05, 7, 0.8)),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        ["accuracy"],
        **{"device": "cpu"} | more,
    )
    return model


def simple(epochs: int = 5, **more: Any) -> Trained:
    model = classifier(**more)
    return Trained([model], [model.fit(X, LABELS, batch_size=8, epochs=epochs, verbose=0)])


def with_callbacks() -> Trained:
    model = classifier(pg.optim.Adam(0.1))
    stopping = nn.EarlyStopping(patience=1, restore_best_weights=True)
    halving = nn.LearningRateScheduler(lambda epoch, rate: rate * 0.5 if epoch % 2 else rate)
    history = model.fit(
        X, LABELS, 8, 12, 0, [halving, stopping], validation_data=(X[:20], 1 - LABELS[:20])
    )
    assert stopping.stopped_epoch is not None
    return Trained([model], [history])


def several() -> Trained:
    """Two models in one graph, which share a layer, and one in a graph of its own."""
    inputs = pg.Input((6,))
    hidden = nn.Dense(8, activation="tanh")(inputs)
    one = pg.Model(inputs, nn.Dense(2)(nn.Dropout(0.2)(hidden)))
    two = pg.Model(inputs, nn.Dense(1)(hidden))
    one.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    two.compile("sgd", "mse", device="cpu")
    other = classifier()
    histories = []
    for _ in range(2):
        histories.append(one.fit(X, LABELS, 16, 2, 0))
        histories.append(two.fit(X, X[:, :1], 16, 2, 0, shuffle=False))
        histories.append(other.fit(X, LABELS, 8, 1, 0, seed=3))
    return Trained([one, two, other], histories)


def recovering() -> Trained:
    """A program that catches an error of training and goes on with a lower rate."""
    model = classifier(pg.optim.SGD(1e30))
    histories = []
    try:
        histories.append(model.fit(X, LABELS, 8, 3, 0))
    except NonFiniteError:
        model = classifier(pg.optim.SGD(0.1))
        histories.append(model.fit(X, LABELS, 8, 3, 0))
    return Trained([model], histories)


PROGRAMS: dict[str, Program] = {
    **{name: lambda way=way: simple(strategy=way) for name, way in WAYS.items()},  # type: ignore[misc]
    "callbacks": with_callbacks,
    "several models": several,
    "a caught error": recovering,
}


@pytest.mark.survival("Resumed trainings")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_resumed_training_equals_an_undisturbed_one(
    name: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    undisturbed = run(PROGRAMS[name])
    often(monkeypatch)
    recorded = run(PROGRAMS[name])
    expect_same(recorded, undisturbed)
    sent = recorded.checkpoints
    chosen = sorted({0, 1, len(sent) // 3, len(sent) // 2, len(sent) - 2, len(sent) - 1})
    for each in chosen:
        expect_same(run(PROGRAMS[name], sent[each]), undisturbed)
    record_property("tried", len(chosen))
