"""Keras opens exported networks, predicts the same, and trains them further."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import ExportError

# Keras converts batches to torch by a protocol that NumPy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

NETWORKS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "dense": (lambda: [nn.Dense(5, activation="tanh"), nn.Dense(3, activation="softmax")], (4,)),
    "images": (
        lambda: [
            nn.Conv2D(4, 3, padding="same", activation="relu"),
            nn.MaxPooling2D(2),
            nn.Conv2D(2, 3, strides=2),
            nn.BatchNormalization(),
            nn.Activation("sigmoid"),
            nn.AveragePooling2D(1),
            nn.Flatten(),
            nn.Dropout(0.3),
            nn.Dense(3),
        ],
        (12, 12, 2),
    ),
    "lstm": (lambda: [nn.Conv1D(4, 3), nn.LSTM(5), nn.Dense(3)], (7, 3)),
    "gru": (lambda: [nn.GRU(5, return_sequences=True), nn.GRU(4), nn.Dense(3)], (7, 3)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_keras_predicts_the_same_and_trains_further(name: str, tmp_path: Path) -> None:
    layers, shape = NETWORKS[name]
    random = np.random.default_rng(3)
    model = pg.Sequential(layers())
    model.build(shape)
    model.set_weights([random.uniform(0.1, 0.6, w.shape) for w in model.get_weights()])
    model.export(tmp_path / "m.keras")
    x = random.normal(size=(6, *shape)).astype(np.float32)
    loaded = keras.models.load_model(tmp_path / "m.keras")
    before = loaded.predict(x, verbose=0)
    np.testing.assert_allclose(before, model.predict(x), atol=1e-5)
    loaded.compile("sgd", "mse")
    loaded.fit(x, np.zeros((6, 3), np.float32), verbose=0)
    assert np.abs(loaded.predict(x, verbose=0) - before).max() > 1e-5


def test_a_layer_without_an_equivalent_is_named_and_nothing_written(tmp_path: Path) -> None:
    model = pg.Sequential([nn.Dense(4), nn.TransformerEncoder(1, 2)])
    model.build((3, 4))
    with pytest.raises(ExportError, match="transformer"):
        model.export(tmp_path / "m.keras")
    assert not list(tmp_path.iterdir())
