"""Dictionaries of inputs and metrics in a ``train_step`` do what they do in Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from tests.interchange.keras_side import keras

# Keras converts batches to torch by a protocol that NumPy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

NUMBERS = np.random.default_rng(0)
X = {
    "colour": NUMBERS.normal(size=(48, 3)).astype("float32"),
    "age": NUMBERS.normal(size=48).astype("float32"),  # a column, which takes a shape (1,)
}
Y = (X["age"] + X["colour"][:, 0] > 0.2).astype("float32")[:, None]


class OfKeras(keras.Model):
    has_updates = True

    def train_step(self, data: Any) -> Any:
        x, y = data
        y_pred = self(x, training=True)
        loss = self.compute_loss(y=y, y_pred=y_pred)
        self.zero_grad()
        loss.backward()
        with torch.no_grad():
            weights = self.trainable_weights
            self.optimizer.apply([weight.value.grad for weight in weights], weights)
        for metric in self.metrics if self.has_updates else []:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


class OfPlaygrad(pg.Model):
    has_updates = True

    def train_step(self, data: Any) -> Any:
        x, y = data
        with pg.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_weights)
        assert self.optimizer is not None
        self.optimizer.apply(gradients, self.trainable_weights)
        for metric in self.metrics if self.has_updates else []:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


def both(of_keras: Any, of_playgrad: Any) -> tuple[Any, Any]:
    """Return a model of each library, with the same weights."""
    models = []
    for lib, layers, kind in ((keras, keras.layers, of_keras), (pg, nn, of_playgrad)):
        inputs = [lib.Input((1,), name="age"), lib.Input((3,), name="colour")]
        outputs = layers.Dense(1, activation="sigmoid")(layers.Concatenate()(inputs))
        models.append(kind(inputs, outputs))
    other, model = models
    model.set_weights(other.get_weights())
    other.compile(
        keras.optimizers.SGD(0.1), "mse", metrics=["mae", keras.metrics.Precision(name="precision")]
    )
    model.compile(pg.optim.SGD(0.1), "mse", ["mae", nn.Precision()], device="cpu")
    return other, model


@pytest.mark.parametrize(
    "kinds", [(keras.Model, pg.Model), (OfKeras, OfPlaygrad)], ids=["fit", "train_step"]
)
def test_training_with_dictionaries(kinds: tuple[Any, Any]) -> None:
    other, model = both(*kinds)
    histories = [
        each.fit(X, Y, 12, 2, verbose=0, shuffle=False, validation_data=(X, Y)).history
        for each in (other, model)
    ]
    assert set(histories[0]) - set(histories[1]) <= {"compile_metrics"}
    for name, values in histories[1].items():
        np.testing.assert_allclose(values, histories[0][name], rtol=1e-4, err_msg=name)
    np.testing.assert_allclose(model.predict(X), other.predict(X, verbose=0), rtol=1e-4)


def test_metrics_without_updates_are_0() -> None:
    other, model = both(OfKeras, OfPlaygrad)
    other.has_updates = model.has_updates = False
    expected = other.fit(X, Y, verbose=0).history
    with pytest.warns(RuntimeWarning, match="which are 0: loss, mae, precision"):
        logs = model.fit(X, Y, verbose=0).history
    assert logs == {name: [0.0] for name in ("loss", "mae", "precision")}
    assert set(expected) <= {*logs, "compile_metrics"}
    assert all(value == [0.0] for value in expected.values())
