"""The report of a compressed model: bytes, arithmetic, accuracy, and errors of layers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.compressed_model import CompressedModel, Origin
from playgrad.compression.report import signal_to_noise

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(80, 8, 8, 1)).astype(np.float32)
Y = (X.mean((1, 2, 3)) > 0).astype(np.int32)


def trained() -> pg.Sequential:
    model = pg.Sequential(
        [nn.Conv2D(4, 3, activation="relu"), nn.Flatten(), nn.Dense(2, name="scores")]
    )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, ["accuracy"], device="cpu")
    model.fit(X[:60], Y[:60], verbose=0)
    return model


def rounded(model: pg.Model, layer: str) -> CompressedModel:
    """Return a copy in which the kernel of one layer has a few values."""
    small = CompressedModel.from_structure(model.clone().structure, Origin(model, samples=[X]))
    weights = model.named_weights()
    small.set_weights({**weights, f"{layer}/kernel": np.round(weights[f"{layer}/kernel"], 1)})
    return small


def test_a_report_counts_bytes_and_multiplications_and_names_the_worst_layer() -> None:
    model = trained()
    report = rounded(model, "scores").report()
    rows = {row.name: row for row in report.layers}
    assert rows["conv2d_1"].before.raw == 4 * (9 * 4 + 4)
    assert rows["conv2d_1"].multiply_adds == 36 * 9 * 4
    assert rows["scores"].multiply_adds == 144 * 2
    assert rows["scores"].after.gzip < rows["scores"].before.gzip
    assert rows["conv2d_1"].signal_to_noise == math.inf
    assert 5 < (rows["scores"].signal_to_noise or 0) < 60
    assert [layer.name for layer in report.worst_layers] == ["scores"]
    assert "worst: scores" in str(report)
    assert json.loads(json.dumps(report.as_dict(), allow_nan=False))["multiply_adds"] == 1584


def test_a_report_says_which_data_it_compares_on() -> None:
    small = rounded(trained(), "scores")
    (_, accuracy) = small.report(test_data=(X[60:], Y[60:])).comparisons
    assert (accuracy.metric, accuracy.samples, accuracy.data) == ("accuracy", 20, "test data")
    assert accuracy.before == pytest.approx(small.origin.model.evaluate(X[60:], Y[60:])[1])
    assert accuracy.after == pytest.approx(small.evaluate(X[60:], Y[60:])[1])
    disguised = small.report(test_data=(X, Y)).comparisons[1]
    declared = small.report(training_data=(X[60:], Y[60:])).comparisons[1]
    assert disguised.data == declared.data == "training data"


def test_a_report_has_the_time_for_a_sample_on_request() -> None:
    small = rounded(trained(), "scores")
    assert small.report().latency is None and small.report().as_dict()["latency"] is None
    report = small.report(test_data=(X[60:], Y[60:]), latency=True)
    latency = report.as_dict()["latency"]
    assert latency["device"] == "cpu:0"
    assert 0 < latency["before"] < 10_000 and 0 < latency["after"] < 10_000
    assert "\nmilliseconds for one sample on cpu:0: " in str(report)


def test_the_time_for_a_sample_needs_its_size() -> None:
    model = pg.Sequential([pg.Input((None, 3)), nn.Conv1D(2, 2), nn.GlobalMaxPooling1D()])
    small = pg.prune(model, 0.5)
    with pytest.raises(pg.GraphError, match="depends on the size of a sample"):
        small.report(latency=True)
    closed = pg.Sequential([pg.Input((4, 3)), nn.Conv1D(2, 2), nn.GlobalMaxPooling1D()])
    latency = pg.prune(closed, 0.5).report(latency=True).latency
    assert latency is not None and latency.after > 0


def test_a_comparison_needs_a_loss() -> None:
    model = pg.Sequential([nn.Dense(2)])
    model.build((3,))
    small = CompressedModel.from_structure(model.clone().structure, Origin(model))
    with pytest.raises(pg.GraphError, match="no loss and no metrics to compare"):
        small.report(test_data=(np.ones((2, 3), np.float32), np.ones(2)))


@pytest.mark.parametrize(
    ("noise", "ratio"), [(0.0, math.inf), (0.1, 20.0), (1.0, 0.0)], ids=["none", "tenth", "equal"]
)
def test_signal_to_noise_is_in_decibels(noise: float, ratio: float) -> None:
    signal = np.ones(5, np.float32)
    assert signal_to_noise(signal, signal + np.float32(noise)) == pytest.approx(ratio, abs=1e-5)
    assert signal_to_noise(np.zeros(5), signal) == -math.inf
