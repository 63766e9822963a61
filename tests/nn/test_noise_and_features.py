"""Noise, dropout of channels, normalization of features, and the log file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
X = np.random.default_rng(3).normal(2, 3, size=(7, 4, 3)).astype(np.float32)


def results(build: Callable[[pg.Tensor], Any], x: Array) -> Any:
    with pg.Graph().as_default():
        tensor = pg.Input(x.shape[1:])
        fetches = build(tensor)
        with pg.Session() as session:
            return session.run(fetches, {tensor: x})


def test_noise_is_normal_and_only_in_training() -> None:
    x = np.full((40, 50), 5, np.float32)

    def build(a: pg.Tensor) -> Any:
        layer = nn.GaussianNoise(0.5, seed=3)
        return layer(a, training=True), layer(a)

    noisy, plain = results(build, x)
    np.testing.assert_array_equal(plain, x)
    noise = (noisy - x) / 0.5
    assert abs(noise.mean()) < 0.1
    assert abs(noise.std() - 1) < 0.06
    assert abs((np.abs(noise) < 1).mean() - 0.683) < 0.05
    assert len(np.unique(noisy)) > 1900


@pytest.mark.parametrize("kind", [nn.SpatialDropout1D, nn.SpatialDropout2D])
def test_channels_are_dropped_whole(kind: Any) -> None:
    shape = (30, 4, 5) if kind is nn.SpatialDropout1D else (30, 4, 2, 5)
    x = np.random.default_rng(1).uniform(1, 2, shape).astype(np.float32)

    def build(a: pg.Tensor) -> Any:
        layer = kind(0.25, seed=1)
        return layer(a, training=True), layer(a)

    dropped, plain = results(build, x)
    np.testing.assert_array_equal(plain, x)
    factors = (dropped / x).reshape(30, -1, 5)
    np.testing.assert_allclose(factors, factors[:, :1].repeat(factors.shape[1], 1), rtol=1e-6)
    assert 0.6 < (factors > 0).mean() < 0.9
    np.testing.assert_allclose(factors.max(), 4 / 3, rtol=1e-6)


@pytest.mark.parametrize("axis", [-1, None, (1, 2)])
@pytest.mark.parametrize("batched", [False, True])
def test_features_get_mean_0_and_variance_1(axis: Any, batched: bool) -> None:
    layer = nn.Normalization(axis)
    layer.adapt(pg.data.Dataset.from_tensor_slices(X).batch(3) if batched else X)
    y, back = results(
        lambda x: [layer(x), nn.Normalization(axis, layer.mean, layer.variance, True)(layer(x))], X
    )
    others = {-1: (0, 1), None: (0, 1, 2), (1, 2): (0,)}[axis]
    np.testing.assert_allclose(y.mean(others), np.zeros_like(X.mean(others)), atol=1e-5)
    np.testing.assert_allclose(y.std(others), np.ones_like(X.mean(others)), rtol=1e-4)
    np.testing.assert_allclose(back, X, rtol=1e-4, atol=1e-5)


def test_adapted_features_are_in_the_configuration() -> None:
    layer = nn.Normalization()
    layer.adapt(X[:, 0])
    model = pg.Sequential([layer])
    model.compile("sgd", "mse", device="cpu")
    y = model.predict(X[:, 0])
    clone = pg.Sequential.from_config(model.get_config())
    clone.compile("sgd", "mse", device="cpu")
    np.testing.assert_array_equal(clone.predict(X[:, 0]), y)
    with pytest.raises(pg.GraphError, match="has been called"):
        layer.adapt(X)
    same = nn.Normalization()
    same.adapt(np.ones((3, 2)))
    np.testing.assert_array_equal(results(same, np.ones((3, 2), np.float32)), np.zeros((3, 2)))


def test_rms_normalization_matches_its_formula() -> None:
    rows, all_ = results(
        lambda x: [nn.RMSNormalization()(x), nn.RMSNormalization((1, 2), epsilon=0.5)(x)], X
    )
    square = np.square(X)
    np.testing.assert_allclose(rows, X / np.sqrt(square.mean(2, keepdims=True) + 1e-6), rtol=1e-5)
    whole = np.sqrt(square.mean((1, 2), keepdims=True) + 0.5)
    np.testing.assert_allclose(all_, X / whole, rtol=1e-5)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: nn.Normalization(mean=0.0), pg.GraphError, "both mean and variance"),
        (lambda: nn.Normalization(0), pg.ShapeError, "must not be 0"),
        (lambda: nn.Normalization()(pg.Input((3,))), pg.GraphError, r"adapt\(data\) first"),
        (lambda: nn.Normalization().adapt(np.full((2, 2), np.nan)), pg.DataError, "finite"),
        (lambda: nn.Normalization().adapt(X[:0]), pg.DataError, "no samples"),
        (lambda: nn.Normalization(2).adapt(X[:, 0]), pg.ShapeError, "no such axis"),
        (
            lambda: nn.Normalization(mean=[1.0, 2.0], variance=1.0)(pg.Input((3,))),
            pg.ShapeError,
            "of 2 features, but",
        ),
        (lambda: nn.SpatialDropout2D(0.5)(pg.Input((3,))), pg.ShapeError, "4 dimensions"),
    ],
)
def test_wrong_arguments_are_refused(
    build: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with pg.Graph().as_default(), pytest.raises(error, match=words):
        build()


def test_epochs_are_logged_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"], device="cpu")
    x, y = X[:, 0], X[:, 0, :1]
    history = model.fit(x, y, epochs=2, verbose=0, callbacks=[nn.CSVLogger(file, ";")])
    lines = file.read_text().splitlines()
    assert lines[0] == "epoch;loss;mae"
    assert [float(line.split(";")[1]) for line in lines[1:]] == history.history["loss"]
    model.fit(x, y, verbose=0, callbacks=[nn.CSVLogger(file, ";", append=True)])
    assert len(file.read_text().splitlines()) == 4
    model.fit(x, y, verbose=0, callbacks=[nn.CSVLogger(file)])
    assert len(file.read_text().splitlines()) == 2
