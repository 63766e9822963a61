"""Models that leave the number of steps, or the size of images, open."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.training import step_cache

Array = np.ndarray[Any, Any]
STEPS = (None, 3)


def sequences(steps: int, count: int = 6) -> Array:
    return np.random.default_rng(steps).normal(size=(count, steps, 3)).astype(np.float32)


def model_of(layers: Callable[[], list[nn.Layer]], steps: int | None = None) -> pg.Model:
    with pg.Graph(seed=3).as_default():
        h = x = pg.Input((steps, 3))
        for layer in layers():
            h = layer(h)
    model = pg.Model(x, h)
    model.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    return model


NETWORKS: dict[str, Callable[[], list[nn.Layer]]] = {
    "LSTM": lambda: [nn.Masking(), nn.LSTM(4, return_sequences=True), nn.LSTM(2)],
    "Bidirectional": lambda: [nn.Bidirectional(nn.GRU(2, return_sequences=True)), nn.GRU(2)],
    "TimeDistributed": lambda: [nn.TimeDistributed(nn.Dense(2)), nn.GlobalMaxPooling1D()],
    "windows": lambda: [nn.Conv1D(4, 3, padding="same"), nn.MaxPooling1D(2, padding="same")],
    "attention": lambda: [nn.TransformerEncoder(8, 1), nn.GlobalAveragePooling1D()],
    "sequences": lambda: [nn.Conv1D(4, 1), nn.TransformerEncoder(8, 2), nn.UpSampling1D()],
    "positions": lambda: [nn.Conv1D(4, 1), nn.PReLU(shared_axes=[1]), nn.GroupNormalization(2)],
    "dropout": lambda: [nn.LSTM(4, dropout=0.2, recurrent_dropout=0.2, return_sequences=True)],
    "layer of layers": lambda: [Twice(), nn.GRU(2)],
}


class Twice(nn.Layer):
    """Its layers are created in the constructor, and built in the first call."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.first, self.second = nn.GRU(3, return_sequences=True), nn.Bidirectional(nn.LSTM(2))

    def call(self, *inputs: pg.Tensor, training: bool = False) -> pg.Tensor:
        h = self.first(inputs[0])
        return pg.concat([h, h * pg.mean(self.second(inputs[0]))], -1)


@pytest.mark.parametrize("name", NETWORKS)
def test_results_equal_those_of_models_of_each_length(name: str) -> None:
    model = model_of(NETWORKS[name])
    assert model.input_shape == (None, None, 3)
    for steps in (5, 2, 8, 5):
        fixed = model_of(NETWORKS[name], steps)
        fixed.set_weights(model.get_weights())
        x = sequences(steps)
        expected = fixed.predict(x)
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5, atol=1e-6)
        y = np.zeros_like(expected)
        assert model.evaluate(x, y) == pytest.approx(fixed.evaluate(x, y), rel=1e-5)
        if name == "dropout":
            model.fit(x, y, verbose=0)
            continue
        losses = [
            each.fit(x, y, 4, shuffle=False, verbose=0).history["loss"] for each in (model, fixed)
        ]
        np.testing.assert_allclose(*losses, rtol=1e-5)
        assert model.train_on_batch(x, y) == pytest.approx(fixed.train_on_batch(x, y), rel=1e-4)
        for ours, theirs in zip(model.get_weights(), fixed.get_weights(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
        fixed.close()


@pytest.mark.gpu
def test_a_gpu_runs_them_too() -> None:
    model = model_of(NETWORKS["LSTM"])
    x = [sequences(steps) for steps in (3, 1)]
    expected = [model.predict(each) for each in x]
    model.set_device("gpu")
    for each, result in zip(x, expected, strict=True):
        np.testing.assert_allclose(model.predict(each), result, rtol=1e-4, atol=1e-5)


def test_a_stream_may_mix_lengths() -> None:
    batches = [(sequences(steps, 4), np.ones((4, 2), np.float32)) for steps in (3, 5, 3, 2)]
    model = model_of(NETWORKS["LSTM"])
    data = pg.data.Dataset.from_generator(lambda: iter(batches), 4)
    losses = model.fit(data, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    means = [model.evaluate(x, y) for x, y in batches]
    assert model.evaluate(data) == pytest.approx(np.mean(means), rel=1e-5)


def test_what_is_saved_keeps_the_sizes_open(tmp_path: Path) -> None:
    model = model_of(NETWORKS["LSTM"])
    model.fit(sequences(4), np.zeros((6, 2), np.float32), verbose=0)
    model.save(tmp_path / "m.playgrad")
    model.save_weights(tmp_path / "m.safetensors")
    loaded = [pg.load(tmp_path / "m.playgrad"), pg.load_model(tmp_path / "m.safetensors")]
    for twin in [*loaded, model.clone()]:
        assert twin.input_shape == (None, None, 3)
        for steps in (1, 6):
            x = sequences(steps)
            np.testing.assert_allclose(twin.predict(x), model.predict(x), rtol=1e-5, atol=1e-6)


def test_steps_for_many_lengths_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_cache, "MOST_STEPS", 3)
    model = model_of(lambda: [nn.SimpleRNN(2)])
    numbers: list[int] = []
    for _ in range(3):
        for steps in (1, 2, 3, 4):
            x, y = sequences(steps, 5), np.zeros((5, 2), np.float32)
            model.fit(x, y, 4, verbose=0)
            model.train_on_batch(x, y)
            loss = model.evaluate(x, y)
        numbers.append(len(model.graph.nodes))
    assert len({*numbers}) == 1
    assert len(model.recipe.train_steps) <= 3
    assert loss == pytest.approx(np.mean(model.predict(x) ** 2), rel=1e-4)


def test_a_layer_that_needs_the_size_is_named() -> None:
    with pytest.raises(pg.ShapeError, match="'dense_1' needs to know dimension -1"):
        model_of(lambda: [nn.Flatten(), nn.Dense(2)])
    with pg.Graph().as_default():
        x = pg.Input((None, 3), batch_size=2)
        with pytest.raises(pg.ShapeError, match="'lstm_1' needs to know dimension 1"):
            nn.LSTM(2, stateful=True)(x)


def test_a_fixed_length_is_explained() -> None:
    """Both lengths are in the error, with what fixes the one of the model."""
    model = model_of(lambda: [nn.Conv1D(2, 1), nn.Flatten(), nn.Dense(2)], steps=5)
    expected = r"takes samples of shape \(5, 3\).*has samples of shape \(7, 3\)"
    with pytest.raises(pg.ShapeError, match=expected) as raised:
        model.predict(sequences(7))
    assert "for (7, 3), layer 'dense_1'" in (raised.value.hint or "")
    count = len(model.graph.nodes)
    with pytest.raises(pg.ShapeError):
        model.evaluate(sequences(7), np.zeros((6, 2)))
    assert len(model.graph.nodes) == count
    model = model_of(lambda: [nn.LSTM(2)], steps=5)
    with pytest.raises(pg.ShapeError, match=expected) as raised:
        model.predict(sequences(7))
    assert (raised.value.hint or "").endswith("begin the model with pg.Input((None, 3)).")


class Reading(pg.Model):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.memory = nn.Embedding(9, 4, mask_zero=True), nn.LSTM(3)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.memory(self.tokens(x), training=training)


def tokens_of(steps: int) -> Array:
    return np.random.default_rng(steps).integers(0, 9, (4, steps)).astype(np.int32)


def test_classes_and_chains_are_built_for_any_length() -> None:
    built, first, chain = Reading(), Reading(), pg.Sequential([nn.Embedding(9, 4), nn.LSTM(3)])
    built.build((None, None), "int32")
    chain.build((None,), "int32")
    first.compile(device="cpu")
    for model in (built, chain):
        model.compile("sgd", "mse", device="cpu")
        for steps in (4, 6, 2):
            x, y = tokens_of(steps), np.zeros((4, 3), np.float32)
            np.testing.assert_allclose(model.predict(x), np.asarray(model(x)), 1e-4, 1e-6)
            assert np.isfinite(model.fit(x, y, verbose=0).history["loss"]).all()
    first.predict(tokens_of(4))
    with pytest.raises(pg.ShapeError, match=r"samples of shape \(4,\).*shape \(6,\)") as raised:
        first.predict(tokens_of(6))
    assert 'model.build((None, None), "int32") before it sees data' in (raised.value.hint or "")
    with pytest.raises(pg.ShapeError, match=r"shape \(3,\).*shape \(2,\)") as raised:
        pg.Sequential([pg.Input((3,)), nn.Dense(1)]).predict(np.ones((1, 2)))
    assert raised.value.hint is None


def test_gradients_before_the_sizes_are_known_are_refused() -> None:
    with pg.Graph().as_default():
        x = pg.Input(STEPS)
        y = nn.LSTM(2)(x)
    with pytest.raises(pg.GraphError, match="operations of layer 'lstm_1' depend on sizes"):
        pg.gradients(pg.reduce_sum(y), [x])


def test_a_summary_leaves_the_sizes_open() -> None:
    model = model_of(NETWORKS["TimeDistributed"])
    summaries: list[str] = []
    model.summary(summaries.append)
    model.fit(sequences(4), np.zeros((6, 2), np.float32), verbose=0)
    model.summary(summaries.append)
    assert summaries[0] == summaries[1]
    assert re.search(r"\(TimeDistributed\) +\(\?, \?, 2\) +8\n", summaries[0])
