"""Histograms of trainings have NumPy's counts, and recording them changes no training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.inspection import histogram_recorder, weight_snapshots
from playgrad.inspection.bins import BINS, binned, common_exponent
from playgrad.inspection.histogram_recorder import HistogramRecorder
from playgrad.inspection.histories import (
    MOST_RECORDS,
    HistogramHistory,
    HistogramRecord,
    shown_weights,
    update_ratios,
)
from playgrad.inspection.probe import SampleProbe
from playgrad.inspection.weight_snapshots import WeightSnapshots
from playgrad.runtime.options import Options, options_set
from playgrad.training.observers import Observers


def network() -> Any:
    pg.reset_default_graph(0)
    model = pg.Sequential(
        [nn.Dense(16), nn.BatchNormalization(), nn.ReLU(), nn.Dropout(0.2), nn.Dense(2)]
    )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu")
    return model


def fit(model: Any, **arguments: Any) -> Any:
    x, y = pg.data.moons(200, noise=0.1, seed=0)
    return model.fit(x, y, verbose=0, **({"batch_size": 20, "epochs": 6} | arguments))


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the recorder record between any two chunks."""
    monkeypatch.setattr(histogram_recorder, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(histogram_recorder, "LARGEST_SHARE", 1e9)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 0.5, 1.0, 3e38])
def test_counts_match_numpy(scale: float) -> None:
    values = np.random.default_rng(0).normal(size=(50, 40)).astype(np.float32)
    values *= np.float32(scale) / np.abs(values).max()
    histogram = binned([values[:20], values[20:]])
    exponent = common_exponent([histogram])
    for wider in (exponent, exponent + 1, exponent + 3, exponent + 9):
        limits = (-(2.0**wider), 2.0**wider)
        counts, _ = np.histogram(values.astype(np.float64), BINS, limits)
        np.testing.assert_array_equal(histogram.widened(wider), counts)
    wide = values.astype(np.float64)
    assert histogram.size == pytest.approx(np.abs(wide).mean())
    assert histogram.spread == pytest.approx(wide.std())


def test_values_that_are_not_finite_are_counted_apart() -> None:
    histogram = binned([np.array([1.0, np.nan, -np.inf, 0.25, np.inf], np.float32)])
    assert (histogram.strays, histogram.counts.sum(), histogram.size) == (3, 2, 0.625)
    lost = binned([np.full(7, np.nan, np.float32)])
    assert (lost.strays, lost.counts.sum(), lost.size, lost.spread) == (7, 0, None, None)
    zeros = binned([np.zeros(5, np.float32)])
    assert zeros.exponent is None and zeros.counts[BINS // 2] == 5
    assert zeros.widened(3)[BINS // 2] == 5


def test_records_stay_spread_over_the_run() -> None:
    history = HistogramHistory()
    for step in range(0, 3000, 3):
        history.add(HistogramRecord(step, {}))
    steps = history.steps
    assert len(steps) == MOST_RECORDS and (steps[0], steps[-1]) == (0, 2997)
    gaps = np.diff(steps)
    assert gaps.max() <= 4 * 3000 / MOST_RECORDS


def test_the_last_record_has_the_weights_and_gradients_of_the_model(unhurried: None) -> None:
    model, histograms = network(), nn.Histograms()
    fit(model, callbacks=[histograms])
    assert histograms.history.steps[0] == 0 and histograms.history.steps[-1] == 60
    values = model.named_weights()
    for name, layer in model.named_layers():
        if not shown_weights(layer):
            continue
        series = histograms.series(name, "weights")
        kernels = [v for k, v in values.items() if k.startswith(f"{name}/")]
        kernels = [v for v in kernels if v.ndim > 1] or kernels[:2]  # gamma and beta
        everything = np.concatenate([v.ravel() for v in kernels]).astype(np.float64)
        counts, _ = np.histogram(everything, series.edges)
        np.testing.assert_array_equal(series.counts[-1], counts)
    assert histograms.history.kinds(name) == ["weights", "gradients", "activations"]
    with pytest.raises(KeyError, match="no weights of a layer 'none'"):
        histograms.series("none", "weights")


def test_recorded_gradients_match_autodiff(unhurried: None) -> None:
    pg.reset_default_graph(0)
    model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.SGD(0.1), loss, device="cpu")
    histograms = nn.Histograms()
    fit(model, callbacks=[histograms], epochs=2)
    excerpt = model.train_excerpt
    rows = np.arange(64) * 200 // 64
    x, y = excerpt.x[rows], excerpt.y[rows]
    w1, b1, w2, b2 = (np.asarray(v, np.float64) for v in model.get_weights())
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    error = (chances - np.eye(2)[y]) / len(x)
    gradients = {
        "dense_1": x.T @ ((error @ w2.T) * (1 - hidden**2)),
        "dense_2": hidden.T @ error,
    }
    for name, gradient in gradients.items():
        series = histograms.series(name, "gradients")
        assert series.sizes[-1] == pytest.approx(np.abs(gradient).mean(), rel=1e-4)
        assert series.spreads[-1] == pytest.approx(gradient.std(), rel=1e-4)
        counts, _ = np.histogram(gradient, series.edges)
        assert np.abs(np.cumsum(counts - series.counts[-1])).max() <= 1  # rounding at an edge
    activations = histograms.series("dense_1", "activations")
    assert activations.sizes[-1] == pytest.approx(np.abs(hidden).mean(), rel=1e-5)


def test_update_ratios_match_one_step(unhurried: None) -> None:
    class Weights(nn.Callback):
        def __init__(self) -> None:
            self.values = {}

        def on_train_begin(self, logs: Any) -> None:
            self.values[0] = self.model.named_weights()

        def on_train_batch_end(self, batch: int, logs: Any) -> None:
            self.values[len(self.values)] = self.model.named_weights()

    model, histograms, weights = network(), nn.Histograms(), Weights()
    fit(model, callbacks=[histograms, weights])
    steps = histograms.history.steps
    assert len(steps) > 20
    ratios = histograms.ratios("dense_2")
    assert np.isnan(ratios[-1]) and not np.isnan(ratios[:-1]).any()
    for step, ratio in list(zip(steps, ratios, strict=True))[:-1]:
        before, after = (weights.values[at]["dense_2/kernel"] for at in (step, step + 1))
        change = np.linalg.norm(after.astype(np.float64) - before)
        assert ratio == pytest.approx(change / np.linalg.norm(before.astype(np.float64)), rel=1e-6)
    zero = {v: np.zeros(v.shape, np.float32) for v in model.weights}
    assert update_ratios(model, zero, zero) == {}


def test_recording_changes_no_loss(unhurried: None) -> None:
    """Also of a network that draws random numbers and keeps moving averages."""
    recorder = HistogramRecorder(always=True)
    with options_set(Options(device="cpu", observer=Observers([recorder]))):
        seen = fit(network(), epochs=40)
    unseen = fit(network(), epochs=40)
    assert len(recorder.history.steps) > 2
    np.testing.assert_array_equal(seen.losses, unseen.losses)


def test_histograms_are_recorded_only_while_viewed(
    unhurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Any] = []
    results = SampleProbe.results
    monkeypatch.setattr(
        SampleProbe, "results", lambda self, f: looked.append(f) or results(self, f)
    )
    recorder = HistogramRecorder()
    monkeypatch.setattr(weight_snapshots, "MOST_BYTES", 0)
    with options_set(Options(device="cpu", observer=recorder)):
        model = network()
        fit(model)
        assert recorder.history.records == [] and looked == []
        assert recorder.look(model).steps == [60]  # the state at the end
        fit(model)  # of the same network, within the lease
    steps = recorder.history.steps
    assert steps[0] == 60 and steps[-1] == 120 and len(steps) > 2


def test_what_nobody_saw_is_computed_from_the_weights_that_were_kept(
    unhurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records equal those of a recorder that computed them while the network trained."""
    monkeypatch.setattr(weight_snapshots, "LARGEST_SHARE", 1e9)
    unseen, seen = HistogramRecorder(), HistogramRecorder(always=True)
    with options_set(Options(device="cpu", observer=Observers([unseen, seen]))):
        pg.reset_default_graph(0)
        model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(2)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.SGD(0.1), loss, device="cpu")
        fit(model, epochs=5)
    kept = unseen.snapshots.steps
    assert kept[0] == 0 and len(kept) > 20 and len(seen.snapshots) == 0
    while unseen.look(model) and unseen.snapshots:
        pass
    assert unseen.history.steps == sorted({*kept, 50})
    both = set(unseen.history.steps) & set(seen.history.steps)
    assert {0, 50} < both
    for name in ("dense_1", "dense_2"):
        for kind in unseen.history.kinds(name):
            late, early = unseen.history.series(name, kind), seen.history.series(name, kind)
            for step in both:
                sizes = [each.sizes[each.steps.index(step)] for each in (late, early)]
                assert sizes[0] == pytest.approx(sizes[1], rel=1e-6), (name, kind, step)


def test_weights_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of memory and of time; spread over the steps, whether their number is known or not."""
    weights: Any = {"kernel": np.zeros(1000, np.float32)}
    for total in (0, 3000):
        snapshots = WeightSnapshots()
        monkeypatch.setattr(weight_snapshots, "MOST_BYTES", 20 * 4000)
        for step in range(3000):
            if snapshots.is_due(step, total, seconds=step):
                snapshots.keep(step, weights, cost=1e-3)
        assert 10 <= len(snapshots) <= 20 and snapshots.steps[0] == 0
        assert np.diff(snapshots.steps).max() <= 4 * 3000 / 20
        assert not snapshots.is_due(3000, total, seconds=0.1)  # there was no time for it
        last = snapshots.steps[-1]
        snapshots.keep(1, weights, cost=0.0)  # training continued from an earlier step
        assert snapshots.steps == [0, 1]
        assert snapshots.pop_farthest([last]) == (0, weights)
        assert snapshots.pop_farthest([0, last]) is None and len(snapshots) == 0
    monkeypatch.setattr(weight_snapshots, "MOST_BYTES", 4000)
    snapshots = WeightSnapshots()
    assert snapshots.is_due(0, 3000, seconds=0)
    snapshots.keep(0, weights, cost=0.0)
    assert len(snapshots) == 0 and not snapshots.is_due(1, 3000, seconds=1e9)


def test_recording_stays_within_its_share() -> None:
    """By its own clock: it is asked whether it may record, with times that are made up."""
    recorder = HistogramRecorder(always=True)
    recorder.history.add(HistogramRecord(0, {}))

    class Loop:
        total, first, done = 0, 0, 10

        class progress:  # noqa: N801
            seconds = 10.0

    recorder._spent, recorder._cost = 0.1, 0.3
    assert recorder._may_record(Loop)  # type: ignore[arg-type]
    recorder._cost = 0.5
    assert not recorder._may_record(Loop)  # type: ignore[arg-type]


def test_a_training_with_nan_is_recorded(unhurried: None) -> None:
    model = network()
    histograms = nn.Histograms()
    fit(model, epochs=1, callbacks=[histograms])
    values = model.named_weights()
    values["dense_1/kernel"][:] = np.nan
    model.set_weights(values)
    with pytest.raises(pg.NonFiniteError):
        fit(model, epochs=1, callbacks=[histograms])
    series = histograms.series("dense_1", "weights")
    assert series.strays[-1] == series.counts[0].sum() and series.counts[-1].sum() == 0
    assert np.isnan(series.sizes[-1])
    assert histograms.series("dense_2", "activations").strays[-1] == 128


def test_networks_that_cannot_be_sampled_train_unseen() -> None:
    pg.reset_default_graph(0)
    a, b = pg.Input((2,)), pg.Input((2,))
    model = pg.Model([a, b], nn.Dense(1)(nn.Concatenate()([a, b])))
    model.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    x = np.ones((20, 2), np.float32)
    histograms = nn.Histograms()
    model.fit([x, x], x[:, :1], epochs=1, verbose=0, callbacks=[histograms])
    assert histograms.history.records == []
    with pytest.raises(pg.GraphError, match="one input and one output"):
        HistogramRecorder().look(model)
