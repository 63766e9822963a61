"""Models and layers as classes with a ``call`` of their own, as Keras' users write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

pytestmark = pytest.mark.usefixtures("graph")
rng = np.random.default_rng(3)
X = rng.normal(size=(48, 6)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)
LOSS = nn.SparseCategoricalCrossentropy(from_logits=True)


class Scaled(nn.Layer):
    """A layer with a layer and weights of its own, which does not pass ``training`` on."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.dense = nn.Dense(units)
        self.dropout = nn.Dropout(0.5)

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight(shape=(self.units,), initializer="ones")
        self.shift = self.add_weight(shape=(self.units,), initializer="zeros", trainable=False)

    def call(self, x: Any) -> Any:  # type: ignore[override]
        return self.dropout(self.dense(x)) * self.scale + self.shift


class Classifier(pg.Model):
    """Layers in attributes, in lists and in a model, and a weight of the model's own."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [Scaled(4), Scaled(5)]
        self.head = pg.Sequential([nn.Dense(3, activation="relu"), nn.Dense(2)])
        self.offset = self.add_weight(shape=(2,), initializer="zeros")

    def call(self, x: Any, training: bool = False) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(x) + self.offset


def test_it_trains_counts_and_saves(tmp_path: Path) -> None:
    model = Classifier()
    with pytest.raises(pg.GraphError, match="not built"):
        model.count_params()
    model.compile(pg.optim.Adam(0.05), LOSS, ["accuracy"], device="cpu")
    history = model.fit(X, Y, epochs=15, batch_size=16, verbose=0)
    assert history.history["loss"][-1] < 0.8 * history.history["loss"][0]
    blocks = (6 * 4 + 3 * 4) + (4 * 5 + 3 * 5)
    assert model.count_params() == 2 + blocks + (5 * 3 + 3) + (3 * 2 + 2) == 99
    assert len(model.trainable_variables) == len(model.weights) - 2 == 11
    assert "scaled_1/dense/kernel" in model.named_variables
    expected = model.predict(X)
    model.save_weights(tmp_path / "weights.npz")
    other = Classifier()
    other.build((None, 6))
    other.load_weights(tmp_path / "weights.npz")
    np.testing.assert_allclose(other.predict(X), expected, rtol=1e-5)
    model.save(tmp_path / "model.playgrad")
    loaded = pg.load(tmp_path / "model.playgrad")
    np.testing.assert_allclose(loaded.predict(X), expected, rtol=1e-5)
    lines: list[str] = []
    model.summary(print_fn=lines.append)
    assert "scaled_2" in lines[0] and "99 parameters, 90 of them trainable" in lines[0]


def test_training_reaches_the_layers_within() -> None:
    model = Classifier()
    once, again = (np.asarray(model(X, training=True)) for _ in range(2))
    assert not np.array_equal(once, again)
    assert np.array_equal(model(X), model(X))
    np.testing.assert_allclose(model(X), model.predict(X), rtol=1e-5, atol=1e-6)


def test_a_frozen_layer_freezes_what_it_contains() -> None:
    model = Classifier()
    model.build((None, 6))
    model.blocks[0].trainable = False
    before = model.blocks[0].get_weights()
    model.compile("sgd", LOSS, device="cpu")
    model.fit(X, Y, epochs=1, verbose=0)
    after = model.blocks[0].get_weights()
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


class WithArgument(pg.Model):
    def __init__(self) -> None:
        super().__init__(name="with_argument")
        self.dense = nn.Dense(2)

    def call(self, inputs: Any, training: bool = False) -> Any:
        a, b = inputs
        return self.dense(a * 2.0 if training else a) + b


def test_several_inputs_and_branches_on_training() -> None:
    model = WithArgument()
    model.compile("sgd", "mse", device="cpu")
    y = np.zeros((48, 2), np.float32)
    model.fit([X, y], y, epochs=1, batch_size=48, verbose=0)
    assert model.name == "with_argument"
    inference, train = model([X, y]), model([X, y], training=True)
    bias = model.dense.bias.numpy()
    np.testing.assert_allclose((train.numpy() - bias) / 2, inference.numpy() - bias, atol=1e-5)
    np.testing.assert_allclose(model.predict([X, y]), inference, atol=1e-5)


def test_models_in_models_share_their_weights() -> None:
    encoder = pg.Sequential([pg.Input((6,)), nn.Dense(3, activation="tanh")])
    decoder = pg.Sequential([nn.Dense(6)])
    before = encoder.get_weights()
    inputs = pg.Input((6,))
    whole = pg.Model(inputs, decoder(encoder(inputs)))
    np.testing.assert_array_equal(encoder.get_weights()[0], before[0])  # it moved with its values
    whole.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    whole.fit(X, X, epochs=2, verbose=0)
    assert whole.count_params() == encoder.count_params() + decoder.count_params()
    assert not np.array_equal(encoder.get_weights()[0], before[0])
    expected = decoder.predict(encoder.predict(X))
    np.testing.assert_allclose(whole.predict(X), expected, rtol=1e-5, atol=1e-6)


def test_models_in_a_chain_share_their_weights(tmp_path: Path) -> None:
    encoder = pg.Sequential([pg.Input((6,)), nn.Dense(3, activation="tanh")])
    inputs = pg.Input((3,))
    decoder = pg.Model(inputs, nn.Dense(6)(inputs))
    whole = pg.Sequential([encoder, decoder])
    assert whole.built and whole.count_params() == 6 * 3 + 3 + 3 * 6 + 6
    whole.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    before = encoder.get_weights() + decoder.get_weights()
    whole.fit(X, X, epochs=1, verbose=0)
    after = encoder.get_weights() + decoder.get_weights()
    assert not any(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    np.testing.assert_allclose(
        whole.predict(X), decoder.predict(encoder.predict(X)), rtol=1e-5, atol=1e-6
    )
    whole.save(tmp_path / "whole.playgrad")
    np.testing.assert_allclose(
        pg.load(tmp_path / "whole.playgrad").predict(X), whole.predict(X), rtol=1e-6
    )
    with pg.Graph().as_default():
        outer = pg.Sequential([nn.Dense(6), pg.Sequential([pg.Input((6,)), nn.Dense(2)])])
        assert outer(X).shape == (48, 2)


class Autoencoder(pg.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = pg.Sequential([pg.Input((6,)), nn.Dense(3)])
        self.decoder = pg.Sequential([pg.Input((3,)), nn.Dense(6)])
        self.tracker = nn.Mean(name="error")

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))

    def train_step(self, data: Any) -> dict[str, Any]:
        with pg.GradientTape() as tape:
            loss = pg.mean((self(data, training=True) - data) ** 2.0)
        grads = tape.gradient(loss, self.trainable_variables)
        assert self.optimizer is not None
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
        self.tracker.update_state(loss)
        return {"error": self.tracker.result()}


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_step_of_ones_own_without_targets(is_stream: bool) -> None:
    model = Autoencoder()
    model.compile(pg.optim.Adam(0.05), device="cpu")
    data = pg.data.Dataset.from_tensor_slices(X).batch(20) if is_stream else X
    history = model.fit(data, epochs=10, verbose=0).history
    assert history["error"] == history["loss"] and history["error"][-1] < 0.6 * history["error"][0]
    with pytest.raises(pg.GraphError, match="compiled without a loss"):
        model.evaluate(X, X)


class SameStep(pg.Model):
    """Does by itself what ``fit`` does."""

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data
        with pg.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        grads = tape.gradient(loss, self.trainable_variables)
        assert self.optimizer is not None
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


class DefaultStep(pg.Model):
    def train_step(self, data: Any) -> dict[str, Any]:
        return super().train_step(data)


@pytest.mark.parametrize("kind", [SameStep, DefaultStep])
def test_a_step_of_ones_own_that_does_what_fit_does(kind: type[pg.Model]) -> None:
    histories, weights = [], []
    for each in (pg.Model, kind):
        with pg.Graph(seed=2).as_default():
            inputs = pg.Input((6,))
            hidden = nn.BatchNormalization()(nn.Dense(8, "relu", kernel_regularizer="l2")(inputs))
            model = each(inputs, nn.Dense(2)(hidden))
            model.compile("adam", LOSS, ["accuracy"], device="cpu")
            fitted = model.fit(X, Y, epochs=2, batch_size=20, verbose=0)
            logs = model.train_on_batch(X, Y, return_dict=True)
            histories.append(fitted.history | {name: [value] for name, value in logs.items()})
            weights.append(model.get_weights())
    assert histories[0].keys() == histories[1].keys()
    for name, values in histories[0].items():
        np.testing.assert_allclose(values, histories[1][name], rtol=1e-5)
    for a, b in zip(*weights, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_errors_of_steps_and_calls() -> None:
    class NoLogs(SameStep):
        def train_step(self, data: Any) -> Any:
            super().train_step(data)

    class OfNumPy(pg.Model):
        def call(self, x: Any) -> Any:
            return np.zeros(3)

    inputs = pg.Input((6,))
    model = NoLogs(inputs, nn.Dense(2)(inputs))
    model.compile("adam", LOSS, device="cpu")
    with pytest.raises(pg.GraphError, match="train_step of 'nologs' must return a dictionary"):
        model.fit(X, Y, verbose=0)
    with pytest.raises(pg.GraphError, match="must return tensors, got ndarray"):
        OfNumPy().build((None, 3))
    with pytest.raises(pg.GraphError, match="a class with a method call"):
        pg.Model()
    same = SameStep(inputs, nn.Dense(2)(inputs))
    same.compile("adam", LOSS, strategy=pg.parallel.DataParallel(["cpu:0"]), device="cpu")
    with pytest.raises(pg.GraphError, match="Train it without a strategy"):
        same.fit(X, Y, verbose=0)


def test_a_step_whose_loss_is_not_finite_changes_nothing() -> None:
    model = Autoencoder()
    model.compile(pg.optim.SGD(1e30), device="cpu")
    with pytest.raises(pg.NonFiniteError):
        model.fit(X, epochs=5, verbose=0)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


def test_weights_of_a_layer_by_name_and_in_a_list() -> None:
    layer = nn.Dense(2)
    with pytest.raises(AttributeError, match="after its first call"):
        _ = layer.kernel
    model = pg.Sequential([pg.Input((6,)), layer])
    kernel, bias = layer.get_weights()
    assert kernel.shape == (6, 2) and np.array_equal(layer.kernel.numpy(), kernel)
    layer.set_weights([kernel + 1.0, bias])
    np.testing.assert_allclose(model.predict(X), X @ (kernel + 1.0) + bias, rtol=1e-4, atol=1e-5)
    assert (layer.count_params(), len(layer.trainable_weights)) == (14, 2)
    with pytest.raises(pg.GraphError, match="has 2 weights, got 1 arrays"):
        layer.set_weights([kernel])


def test_add_weight_takes_what_keras_does() -> None:
    class Weights(nn.Layer):
        def build(self, *shapes: Any) -> None:
            self.add_weight((2, 3), "zeros")
            self.add_weight(shape=[2], initializer="ones", name="ones", dtype="float32")
            self.add_weight()

        def call(self, x: Any) -> Any:  # type: ignore[override]
            return x

    layer = Weights()
    layer(pg.Input((3,)))
    shapes = {name: variable.shape for name, variable in layer.variables.items()}
    assert shapes == {"weight": (2, 3), "ones": (2,), "weight_1": ()}
    with pytest.raises(pg.DTypeError, match="float32, got int32"):
        layer.add_weight(shape=(1,), dtype="int32")
