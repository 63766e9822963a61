"""Strategies train on data sets as they do on arrays in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data import Dataset
from playgrad.errors import GraphError
from playgrad.networks.shared_session import shared_session
from playgrad.parallel import (
    AsynchronousDataParallel,
    DataParallel,
    LocalSGD,
    Overlap,
    Pipeline,
    Strategy,
)
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.trace import Trace
from playgrad.training import streamed_step
from tests.nn.resumed_runs import Trained, expect_same, run
from tests.sweeps import dice, sweep

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(4)
X = rng.normal(size=(48, 6)).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)
BATCH = 12


def model(strategy: Strategy | None, device: str = "cpu", placement: Any = None) -> pg.Model:
    pg.set_logical_devices(**{device: 4})
    with pg.Graph(seed=2).as_default():
        network = pg.Sequential(
            [nn.Dense(8, activation="relu"), nn.Dropout(0.2), nn.Dense(8, "tanh"), nn.Dense(2)]
        )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(
        pg.optim.Adam(0.02), loss, ["accuracy"], None, device, strategy, placement=placement
    )
    return network


def batches(count: int = 48) -> Dataset:
    return Dataset.from_tensor_slices((X[:count], Y[:count])).batch(BATCH)


STRATEGIES = [
    DataParallel(2),
    DataParallel(3, "ring", bucket_bytes=300),
    Pipeline(2, 3, "gpipe"),
    Pipeline(4, 2, replicas=2),
    Pipeline(2, 4, "bidirectional"),
    Pipeline(2, 3, "pipedream"),
    LocalSGD(2, every=3),
    Overlap(3),
    AsynchronousDataParallel(1),
]
OFTEN = dice("streamed").sample(STRATEGIES, 4)
"""Those of this commit."""


@pytest.mark.parametrize("strategy", sweep(STRATEGIES, OFTEN), ids=str)
def test_streamed_losses_match_arrays(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, though a window ends within each epoch."""
    monkeypatch.setattr(streamed_step, "MOST_BATCHES", 3)
    one, other = model(strategy), model(strategy)
    expected = one.fit(X, Y, BATCH, 2, 0, shuffle=False)
    history = other.fit(batches().prefetch(2), epochs=2, verbose=0)
    np.testing.assert_array_equal(history.steps, expected.steps)
    assert history.history == expected.history
    weights = other.named_weights()
    for name, value in one.named_weights().items():
        np.testing.assert_array_equal(weights[name], value, err_msg=name)
    one.close()
    other.close()


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("strategy", [DataParallel(2), Pipeline(2, 2)], ids=str)
def test_strategies_on_gpus_match_one_device(strategy: Strategy) -> None:
    plain, several = model(None), model(strategy, "gpu")
    expected = plain.fit(batches(42), epochs=2, verbose=0)
    history = several.fit(batches(42), epochs=2, verbose=0)
    np.testing.assert_allclose(history.losses, expected.losses, rtol=1e-3)
    plain.close()
    several.close()


@cache
def on_one_device() -> tuple[Array, Array]:
    """Return the losses on a data set with a smaller last batch, and on arrays afterwards."""
    plain = model(None)
    streamed = plain.fit(batches(42), epochs=2, verbose=0).losses
    after = plain.fit(X, Y, BATCH, verbose=0, shuffle=False).losses
    plain.close()
    return streamed, after


@pytest.mark.parametrize("strategy", sweep(STRATEGIES, OFTEN), ids=str)
def test_batches_of_several_sizes_match_one_device(strategy: Strategy) -> None:
    """Copies of the variables continue with the values of the last step, whatever its batch."""
    several = model(strategy)
    losses = several.fit(batches(42), epochs=2, verbose=0, validation_data=batches()).losses
    after = several.fit(X, Y, BATCH, verbose=0, shuffle=False).losses
    expected, expected_after = on_one_device()
    assert losses.shape == expected.shape == (8,)
    if not isinstance(strategy, LocalSGD) and getattr(strategy, "schedule", "") != "pipedream":
        np.testing.assert_allclose(losses, expected, rtol=1e-4)
        np.testing.assert_allclose(after, expected_after, rtol=1e-4)
    assert after.mean() < losses[:4].mean()
    several.close()


def test_copies_are_dropped_afterwards() -> None:
    several = model(DataParallel(2))
    several.fit(batches(42), verbose=0)
    assert shared_session(several.graph).mirrors
    several.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    several.fit(batches(42), verbose=0)
    assert not shared_session(several.graph).mirrors
    several.close()


def replicated() -> Trained:
    several = model(LocalSGD(2, every=3))
    return Trained([several], [several.fit(batches(42), epochs=2, verbose=0)])


@pytest.mark.survival("Resumed trainings")
def test_a_stopped_training_resumes_where_it_stopped() -> None:
    undisturbed = run(replicated)
    stopped = run(replicated, stop_at=6)
    expect_same(run(replicated, stopped.checkpoints[-1]), undisturbed)


def test_endless_generators_match_one_device() -> None:
    def endless() -> Iterator[tuple[Array, Array]]:
        for start in range(10**9):
            yield X[start % 5 : start % 5 + 8], Y[start % 5 : start % 5 + 8]

    plain, several = model(None), model(DataParallel(2))
    expected = plain.fit(endless(), steps_per_epoch=4, epochs=2, verbose=0).losses
    losses = several.fit(endless(), steps_per_epoch=4, epochs=2, verbose=0).losses
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    plain.close()
    several.close()


def test_every_batch_of_asynchronous_replicas_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamed_step, "MOST_BATCHES", 3)
    several = model(AsynchronousDataParallel(3))
    history = several.fit(batches(42), epochs=4, verbose=0)
    assert history.parallel is not None and history.steps.shape == (16, 2)
    assert sum(history.parallel["updates"].values()) == 16
    assert sum(history.parallel["staleness"].values()) == 16
    assert history.losses[-4:].mean() < history.losses[:4].mean()
    several.close()


@pytest.mark.parametrize(
    "placement", ["auto", lambda node: "cpu:1" if "dense_2" in node.name else None]
)
def test_placements_match_one_device(placement: Any) -> None:
    plain, placed = model(None), model(None, placement=placement)
    expected = plain.fit(batches(42), epochs=2, verbose=0)
    history = placed.fit(batches(42), epochs=2, verbose=0)
    np.testing.assert_allclose(history.losses, expected.losses, rtol=1e-5)
    plain.close()
    placed.close()


@pytest.mark.parametrize("strategy", [DataParallel(2), Overlap(4)], ids=str)
def test_the_last_steps_are_traced(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_step, "MOST_BATCHES", 3)
    several = model(strategy)
    trace = Trace()
    with options_set(Options(trace=trace)):
        history = several.fit(batches(), epochs=2, verbose=0)
    assert len(history.losses) == 8
    assert trace.events and trace.steps >= 1
    several.close()


def test_a_batch_too_small_to_divide_is_refused() -> None:
    several = model(DataParallel(4))
    with pytest.raises(GraphError, match=r"a batch of 2 cannot be .* drop_remainder=True"):
        several.fit(batches(38), verbose=0)
    several.close()
