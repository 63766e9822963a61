"""Digits with few weights, with few values of weights, and learnt from a larger network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.report import CompressionReport

pytestmark = pytest.mark.slow
Array = np.ndarray[Any, Any]
Data = tuple[tuple[Array, Array], tuple[Array, Array]]
STEPS = 938
"""Batches of 64 in an epoch."""


def trained(model: pg.Model, data: tuple[Array, Array], rate: Any, epochs: int) -> Any:
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(rate), loss, ["accuracy"], device="cpu")
    model.fit(*data, batch_size=64, epochs=epochs, seed=1, verbose=0)
    return model


def falling(rate: float) -> Any:
    return pg.optim.ExponentialDecay(rate, decay_steps=STEPS, decay_rate=0.3)


@pytest.fixture(scope="module")
def digits() -> Data:
    return pg.data.mnist()


@pytest.fixture(scope="module")
def network(digits: Data) -> Any:
    layers = [
        pg.Input((28, 28), dtype="uint8"),
        nn.Rescaling(1 / 255),
        nn.Reshape((28, 28, 1)),
        nn.Conv2D(8, 5, activation="relu"),
        nn.MaxPool2D(2),
        nn.Conv2D(16, 3, activation="relu"),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Dense(64, activation="relu"),
        nn.Dense(10),
    ]
    return trained(pg.Sequential(layers), digits[0], falling(4e-3), 2)


@pytest.fixture(scope="module")
def pruned(network: Any, digits: Data) -> Any:
    small = pg.prune(network, 0.9, pg.PolynomialSparsity(STEPS + 160))
    return trained(small, digits[0], falling(1e-3), 2)


def report_of(small: Any, digits: Data, most_lost: float) -> CompressionReport:
    """Return the report, after comparing the accuracies."""
    report: CompressionReport = small.report(test_data=digits[1])
    accuracy = report.comparisons[1]
    assert (accuracy.metric, accuracy.samples, accuracy.data) == ("accuracy", 10_000, "test data")
    print(f"accuracy {accuracy.before} to {accuracy.after}, {report.before} to {report.after}")
    assert accuracy.before > 0.98
    assert accuracy.after > accuracy.before - most_lost
    return report


def test_nine_in_ten_weights_are_0(pruned: Any, digits: Data) -> None:
    report = report_of(pruned, digits, 0.01)
    assert report.before.gzip > 7 * report.after.gzip
    kernels = [each.reshape(-1) for each in pruned.named_weights().values() if each.ndim > 1]
    assert np.mean(np.concatenate(kernels) == 0) == pytest.approx(0.9, abs=0.001)


def test_sixteen_values(network: Any, digits: Data) -> None:
    small = trained(pg.cluster(network, 16), digits[0], 1e-4, 1)
    report = report_of(small, digits, 0.005)
    assert report.before.raw > 7 * report.after.raw


def test_all_together(pruned: Any, digits: Data, tmp_path: Path) -> None:
    shared = trained(pg.cluster(pruned, 16), digits[0], 1e-4, 1)
    report = report_of(shared, digits, 0.015)
    assert report.before.gzip > 15 * report.after.gzip
    small = pg.quantize(shared, digits[0][0])
    report = report_of(small, digits, 0.015)
    assert report.before.gzip > 15 * report.after.gzip
    assert report.before.raw > 14 * report.after.raw
    small.save_weights(tmp_path / "small.safetensors")
    loaded = pg.load_model(tmp_path / "small.safetensors")
    images = digits[1][0][:500]
    np.testing.assert_array_equal(loaded.predict(images), small.predict(images))


def student(seed: int) -> pg.Model:
    with pg.Graph(seed).as_default():
        x = pg.Input((28, 28), dtype="uint8")
        y = nn.Reshape((28, 28, 1))(nn.Rescaling(1 / 255)(x))
        y = nn.MaxPool2D(2)(nn.Conv2D(4, 5, activation="relu")(y))
        y = nn.MaxPool2D(2)(nn.Conv2D(4, 3, activation="relu")(y))
        return pg.Model(x, nn.Dense(10)(nn.Flatten()(y)))


def test_a_student_is_better_with_a_teacher(network: Any, digits: Data) -> None:
    """Both learn from 1,000 digits; a teacher that has seen all of them knows more."""
    (x, y), test = digits
    assert student(0).count_params() * 20 < network.count_params()
    alone, distilled = [], []
    for seed in range(5):
        some = np.random.default_rng(seed).permutation(len(x))[:1000]
        one, other = student(seed), student(seed)
        trained(one, (x[some], y[some]), 3e-3, 50)
        alone.append(one.evaluate(*test)[1])
        trained(pg.Distiller(network, other), (x[some], y[some]), 3e-3, 50)
        distilled.append(accuracy_of(other, test))
    gains = np.array(distilled) - np.array(alone)
    for name, values in (("alone", alone), ("distilled", distilled), ("gains", gains)):
        print(f"{name}: mean {np.mean(values):.4f}, deviation {np.std(values, ddof=1):.4f}")
    assert gains.mean() > 0.005 and gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(5)


def accuracy_of(model: pg.Model, test: tuple[Array, Array]) -> float:
    return float(np.mean(model.predict(test[0]).argmax(1) == test[1]))
