"""Metrics in a ``train_step``, and models whose class has no ``call``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

NUMBERS = np.random.default_rng(0)
X = NUMBERS.normal(size=(50, 6)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")


class Judged(pg.Model):
    """Does by itself what ``fit`` does, with metrics of every kind."""

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data
        with pg.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        assert self.optimizer is not None
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {metric.name: metric.result() for metric in self.metrics}


def judged(kind: type[pg.Model]) -> pg.Model:
    with pg.Graph(seed=2).as_default():
        inputs = pg.Input((6,))
        model = kind(inputs, nn.Dense(1, "sigmoid")(inputs))
    metrics = ["mae", nn.Precision(), nn.AUC(20), nn.RootMeanSquaredError()]
    model.compile(pg.optim.SGD(0.1), "binary_crossentropy", metrics, device="cpu")
    return model


def test_metrics_of_a_whole_epoch_equal_those_of_fit() -> None:
    logs = []
    for kind in (pg.Model, Judged):
        model = judged(kind)
        fitted = model.fit(X, Y, epochs=2, batch_size=16, verbose=0, validation_data=(X, Y))
        batch = model.train_on_batch(X, Y, return_dict=True)
        logs.append(fitted.history | {f"batch {name}": value for name, value in batch.items()})
    assert logs[0].keys() == logs[1].keys()
    for name, values in logs[0].items():
        np.testing.assert_allclose(values, logs[1][name], rtol=1e-5, err_msg=name)


class Twice(pg.Model):
    """Its metrics are updated twice in a step, or not at all."""

    def __init__(self, inputs: Any, outputs: Any) -> None:
        super().__init__(inputs, outputs)
        self.both = nn.Mean(name="both")

    def train_step(self, data: Any) -> dict[str, Any]:
        x, _ = data
        self.both.update_state(pg.mean(x))
        self.both.update_state(pg.mean(x) + 2.0)
        return {"loss": pg.mean(x), "nested": {m.name: m.result() for m in self.metrics}}


def test_updates_add_up_and_a_metric_without_any_is_0() -> None:
    inputs = pg.Input((6,))
    model = Twice(inputs, nn.Dense(1)(inputs))
    model.compile("sgd", "mse", ["mae", nn.Precision()], device="cpu")
    assert [metric.name for metric in model.metrics] == ["loss", "mae", "precision", "both"]
    with pytest.warns(RuntimeWarning, match="which are 0: loss, mae, precision. Call") as warned:
        history = model.fit(X, Y, batch_size=16, verbose=0).history
    assert len(warned) == 1
    np.testing.assert_allclose(history["both"][0], X.mean() + 1.0, rtol=1e-4)
    assert history["mae"] == history["precision"] == [0.0]


class Sampling(nn.Layer):
    def call(self, mean: Any, log_var: Any) -> Any:
        noise = nn.GaussianNoise(1.0)(pg.zeros_like(mean), training=True)
        return mean + pg.exp(0.5 * log_var) * noise


class Variational(pg.Model):
    """A variational autoencoder without ``call``."""

    def __init__(self, encoder: pg.Model, decoder: pg.Model) -> None:
        super().__init__(name="vae")
        self.encoder, self.decoder = encoder, decoder
        self.tracker = nn.Mean(name="total_loss")

    @property
    def metrics(self) -> list[nn.Metric]:
        return [self.tracker]

    def train_step(self, data: Any) -> dict[str, Any]:
        with pg.GradientTape() as tape:
            mean, log_var, z = self.encoder(data)
            error = pg.mean((self.decoder(z) - data) ** 2.0)
            loss = error - 0.001 * pg.mean(1.0 + log_var - mean**2.0 - pg.exp(log_var))
        assert self.optimizer is not None
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights, strict=True))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result(), "error": error}


def variational() -> Variational:
    with pg.Graph(seed=1).as_default():
        inputs = pg.Input((6,))
        mean, log_var = nn.Dense(3)(inputs), nn.Dense(3, kernel_initializer="zeros")(inputs)
        encoder = pg.Model(inputs, [mean, log_var, Sampling()(mean, log_var)])
        latent = pg.Input((3,))
        model = Variational(encoder, pg.Model(latent, nn.Dense(6)(latent)))
    model.compile(pg.optim.Adam(0.02), device="cpu")
    return model


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_class_without_call_trains_its_parts(is_stream: bool, tmp_path: Path) -> None:
    model = variational()
    data = pg.data.Dataset.from_tensor_slices(X).batch(20) if is_stream else X
    history = model.fit(data, epochs=30, batch_size=None, verbose=0).history
    assert list(history) == ["loss", "error"]
    assert history["error"][-1] < 0.7 * history["error"][0]
    assert np.isfinite(model.train_on_batch(X)).all()
    assert len(model.layers) == 4 and len(model.get_weights()) == 6
    summary: list[str] = []
    model.summary(summary.append)
    assert "sampling" in summary[0].lower()
    model.save_weights(tmp_path / "vae.safetensors")
    again = variational()
    again.build((None, 6))
    again.load_weights(tmp_path / "vae.safetensors")
    mean = model.encoder.predict(X)[0]
    np.testing.assert_array_equal(again.encoder.predict(X)[0], mean)
    assert model.decoder.predict(mean).shape == X.shape


def test_what_needs_call_says_so(tmp_path: Path) -> None:
    model = variational()
    expected = r"'vae' has no method call\(self, inputs\)"
    with pytest.raises(pg.GraphError, match=expected):
        model.predict(X)
    for use in (
        lambda: model(X),
        lambda: model.evaluate(X, X),
        lambda: model.fit(X, validation_data=(X, X), verbose=0),
        lambda: model.clone(),
        lambda: model.to_json(),
    ):
        with pytest.raises(pg.GraphError, match=expected):
            use()
    for name in ("vae.keras", "vae.onnx"):
        with pytest.raises(pg.PlaygradError, match=expected):
            model.save(tmp_path / name)


def test_a_file_of_a_class_without_call_gives_its_weights(tmp_path: Path) -> None:
    model = variational()
    model.fit(X, epochs=2, verbose=0)
    path = tmp_path / "vae.playgrad"
    model.save(path)
    for load in (pg.load, pg.load_model):
        with pytest.raises(
            pg.CheckpointError, match="class without a method call, whose"
        ) as raised:
            load(path)
        assert "model.load_weights(file)" in (raised.value.hint or "")
    again = variational()
    again.build((None, 6))
    again.load_weights(path)
    np.testing.assert_array_equal(again.encoder.predict(X)[0], model.encoder.predict(X)[0])
    assert np.isfinite(again.fit(X, verbose=0).history["loss"]).all()


class Adversarial(pg.Model):
    """Two chains, with graphs and optimizers of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.critic = pg.Sequential([pg.Input((6,)), nn.Dense(8, "relu"), nn.Dense(1)])
        self.maker = pg.Sequential([pg.Input((2,)), nn.Dense(8, "relu"), nn.Dense(6)])

    def compile(self, critic_optimizer: Any, maker_optimizer: Any, loss_of: Any) -> None:  # type: ignore[override]
        super().compile(device="cpu")
        self.critic_optimizer, self.maker_optimizer = critic_optimizer, maker_optimizer
        self.loss_of = loss_of
        self.critic_tracker, self.maker_tracker = nn.Mean("critic_loss"), nn.Mean("maker_loss")

    @property
    def metrics(self) -> list[nn.Metric]:
        return [self.critic_tracker, self.maker_tracker]

    def train_step(self, data: Any) -> dict[str, Any]:
        real, _ = data
        noise = nn.GaussianNoise(1.0)(pg.zeros_like(real[:, :2]), training=True)
        both = pg.concat([self.maker(noise), real], axis=0)
        labels = pg.concat([pg.ones_like(real[:, :1]), pg.zeros_like(real[:, :1])], axis=0)
        with pg.GradientTape() as tape:
            loss = self.loss_of(labels, self.critic(both))
        weights = self.critic.trainable_weights
        grads = tape.gradient(loss, weights)
        self.critic_optimizer.apply_gradients(zip(grads, weights, strict=True))
        self.critic_tracker.update_state(loss)
        with pg.GradientTape() as tape:
            loss = self.loss_of(pg.zeros_like(real[:, :1]), self.critic(self.maker(noise)))
        weights = self.maker.trainable_weights
        grads = tape.gradient(loss, weights)
        self.maker_optimizer.apply_gradients(zip(grads, weights, strict=True))
        self.maker_tracker.update_state(loss)
        return {metric.name: metric.result() for metric in self.metrics}


def test_a_class_without_call_and_with_two_optimizers() -> None:
    model = Adversarial()
    before = model.critic.get_weights() + model.maker.get_weights()
    loss_of = nn.BinaryCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), pg.optim.Adam(0.01), loss_of)
    history = model.fit(X, Y, epochs=2, batch_size=16, verbose=0).history
    assert history["loss"] == history["critic_loss"] and history["maker_loss"][0] > 0
    after = model.critic.get_weights() + model.maker.get_weights()
    changed = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
    assert all(changed)


def test_parts_that_are_not_built_are_named() -> None:
    class Unbuilt(Variational):
        def __init__(self) -> None:
            super().__init__(pg.Sequential([nn.Dense(2)]), pg.Sequential([nn.Dense(6)]))

    model = Unbuilt()
    model.compile(device="cpu")
    with pytest.raises(pg.GraphError, match="'encoder' of the model 'vae' is not built"):
        model.fit(X, verbose=0)
