"""Weights in Keras' files, written by ``save_weights`` and ``ModelCheckpoint``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import playgrad as pg
from playgrad import nn
from tests.interchange.keras_side import keras, opened, predicted

X = np.random.default_rng(1).normal(size=(8, 6, 6, 1)).astype(np.float32)


def convolutional() -> pg.Sequential:
    return pg.Sequential(
        [
            pg.Input((6, 6, 1)),
            nn.Conv2D(3, 3, activation="relu"),
            nn.BatchNormalization(),
            nn.Flatten(),
            nn.Dense(4),
        ]
    )


def test_keras_loads_the_weights(tmp_path: Path) -> None:
    model = convolutional()
    model.save_weights(tmp_path / "model.weights.h5")
    layers = keras.layers
    theirs = keras.Sequential(
        [
            keras.Input((6, 6, 1)),
            layers.Conv2D(3, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Flatten(),
            layers.Dense(4),
        ]
    )
    theirs.load_weights(tmp_path / "model.weights.h5")
    expected = model.predict(X)
    np.testing.assert_allclose(predicted(theirs, [X]), expected, rtol=1e-4, atol=1e-5)
    for name in ("model.weights.h5", "whole.keras"):
        model.save_weights(tmp_path / name)
        other = convolutional()
        other.load_weights(tmp_path / name)
        np.testing.assert_array_equal(other.predict(X), expected)


def test_checkpoints_are_files_of_keras(tmp_path: Path) -> None:
    model = convolutional()
    model.compile("sgd", "mse", device="cpu")
    saving = [
        nn.ModelCheckpoint(tmp_path / name, **options)
        for name, options in (
            ("best.weights.h5", {"save_weights_only": True}),
            ("epoch-{epoch}.keras", {}),
        )
    ]
    model.fit(X, np.zeros((8, 4), np.float32), epochs=2, callbacks=saving, verbose=0)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "best.weights.h5",
        "epoch-1.keras",
        "epoch-2.keras",
    ]
    expected = model.predict(X)
    theirs = opened(tmp_path / "epoch-2.keras")
    np.testing.assert_allclose(predicted(theirs, [X]), expected, rtol=1e-4, atol=1e-5)
    other = convolutional()
    other.load_weights(tmp_path / "best.weights.h5")
    np.testing.assert_array_equal(other.predict(X), expected)
