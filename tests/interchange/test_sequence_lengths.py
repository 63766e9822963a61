"""Files of Keras whose inputs leave the number of steps open, as ``Input((None, n))`` does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from tests.interchange.keras_side import keras

# Keras converts arrays to torch by a protocol that NumPy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
L = keras.layers
NETWORKS: dict[str, Callable[[], Any]] = {
    "LSTM": lambda: [L.LSTM(4), L.Dense(2)],
    "GRU": lambda: [L.GRU(4, return_sequences=True), L.GRU(3)],
    "SimpleRNN": lambda: [L.SimpleRNN(4, go_backwards=True)],
    "Bidirectional": lambda: [L.Bidirectional(L.LSTM(3, return_sequences=True)), L.LSTM(2)],
    "TimeDistributed": lambda: [L.TimeDistributed(L.Dense(3)), L.GRU(2)],
}


@pytest.fixture(params=NETWORKS)
def network(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Any, Path]:
    model = keras.Sequential([keras.Input((None, 3)), *NETWORKS[request.param]()])
    path = tmp_path / "model.keras"
    model.save(path)
    return model, path


def test_a_model_takes_sequences_of_any_length(network: tuple[Any, Path]) -> None:
    theirs, path = network
    model = pg.load_model(path)
    for steps in (2, 7, 1, 7):
        x = np.random.default_rng(steps).normal(size=(3, steps, 3)).astype(np.float32)
        expected = theirs(x).detach().numpy()
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-6)
    assert model.input_shape == (None, None, 3)
    model.close()


def words() -> Any:
    tokens = keras.Input((None,), dtype="int32")
    return keras.Model(tokens, L.Dense(2)(L.LSTM(4)(L.Embedding(9, 3, mask_zero=True)(tokens))))


def pooled() -> Any:
    tokens = keras.Input((None,), dtype="int32")
    h = L.GlobalAveragePooling1D()(L.Embedding(9, 3, mask_zero=True)(tokens))
    return keras.Model(tokens, L.Dense(2)(h))


def tagged() -> Any:
    """A result for each step, of several branches."""
    steps = keras.Input((None, 3))
    h = L.Concatenate()(
        [L.Conv1D(4, 3, padding="same")(steps), L.GRU(2, return_sequences=True)(steps)]
    )
    return keras.Model(steps, L.TimeDistributed(L.Dense(2))(L.MultiHeadAttention(1, 4)(h, h)))


def pictures() -> Any:
    images = keras.Input((None, None, 3))
    h = L.GroupNormalization(2)(L.Conv2D(4, 3, activation="relu")(images))
    return keras.Model(images, L.Dense(2)(L.GlobalMaxPooling2D()(h)))


def tokens_of(size: int) -> Any:
    return np.random.default_rng(size).integers(0, 9, (6, size)).astype(np.int32)


def numbers_of(*sizes: int) -> Any:
    return np.random.default_rng(sizes[0]).normal(size=(6, *sizes)).astype(np.float32)


TRAINED: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "words": (words, [tokens_of(5), tokens_of(2), tokens_of(9)]),
    "pooled": (pooled, [tokens_of(5), tokens_of(2), tokens_of(9)]),
    "tagged": (tagged, [numbers_of(5, 3), numbers_of(2, 3), numbers_of(8, 3)]),
    "pictures": (pictures, [numbers_of(6, 5, 3), numbers_of(4, 9, 3), numbers_of(8, 8, 3)]),
}


@pytest.mark.parametrize("name", TRAINED)
def test_lengths_take_turns_in_evaluations_and_trainings(name: str, tmp_path: Path) -> None:
    """One after the other, with the same weights, as in Keras."""
    make, inputs = TRAINED[name]
    theirs = make()
    # A higher rate makes some random weights diverge, after which nothing is compared.
    theirs.compile(keras.optimizers.SGD(0.01), "mse")
    theirs.save(tmp_path / "model.keras")
    model = pg.load_model(tmp_path / "model.keras")
    for x in [*inputs, inputs[0]]:
        expected = theirs(x).detach().numpy()
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-3, atol=1e-5)
        y = np.full(expected.shape, 0.5, np.float32)
        assert model.evaluate(x, y) == pytest.approx(theirs.evaluate(x, y, verbose=0), rel=1e-3)
        ours = model.fit(x, y, 4, epochs=2, shuffle=False, verbose=0).history["loss"]
        losses = theirs.fit(x, y, 4, epochs=2, shuffle=False, verbose=0).history["loss"]
        np.testing.assert_allclose(ours, losses, rtol=1e-3)
    model.export(tmp_path / "again.keras")
    again = pg.load_model(tmp_path / "again.keras")
    assert again.input_shape == model.input_shape
    np.testing.assert_allclose(again.predict(inputs[1]), model.predict(inputs[1]), 1e-5, 1e-6)


def test_a_format_that_needs_a_length_says_so(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    words().save(path)
    expected = "any length, but its operations, the first in layer 'lstm.*', depend on the length"
    with pytest.raises(pg.SequenceLengthError, match=expected) as raised:
        pg.load_model(path).export(tmp_path / "model.onnx")
    assert "sequence_length=50" in (raised.value.hint or "")
    pg.load_model(path, sequence_length=4).export(tmp_path / "model.onnx")


def test_a_length_at_loading_gives_the_predictions_of_keras(network: tuple[Any, Path]) -> None:
    theirs, path = network
    for steps in (1, 2, 7):
        x = np.random.default_rng(steps).normal(size=(3, steps, 3)).astype(np.float32)
        model = pg.load_model(path, sequence_length=steps)
        expected = theirs(x).detach().numpy()
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-6)
        model.close()


def test_a_missing_length_is_asked_for(tmp_path: Path) -> None:
    """Layers that keep their states have a size of batches, and of sequences, too."""
    path = tmp_path / "model.keras"
    inputs = keras.Input(batch_shape=(2, None, 3))
    keras.Sequential([inputs, L.LSTM(2, stateful=True)]).save(path)
    expected = r"load_model\(file, sequence_length=50\)"
    with pytest.raises(pg.SequenceLengthError, match=expected) as raised:
        pg.load_model(path)
    assert raised.value.inputs == (((None, 3), "float32"),)


def test_layers_that_keep_their_states_are_loaded_for_one_length(tmp_path: Path) -> None:
    inputs = keras.Input(batch_shape=(2, None, 3))
    theirs = keras.Sequential([inputs, L.LSTM(4, stateful=True)])
    theirs.save(tmp_path / "model.keras")
    model = pg.load_model(tmp_path / "model.keras", sequence_length=5)
    x = np.random.default_rng(1).normal(size=(2, 5, 3)).astype(np.float32)
    for _ in range(2):
        expected = theirs(x).detach().numpy()
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-6)


def test_a_saved_model_keeps_the_length_and_says_so(tmp_path: Path) -> None:
    path, again = tmp_path / "model.keras", tmp_path / "again.keras"
    keras.Sequential([keras.Input((None, 3)), L.LSTM(2)]).save(path)
    pg.load_model(path, sequence_length=4).export(again)
    assert pg.load_model(again, sequence_length=4).input_shape == (None, 4, 3)
    with pytest.raises(pg.CheckpointError, match=r"sequence_length is 5, .* samples: \(4, 3\)"):
        pg.load_model(again, sequence_length=5)


def test_images_of_any_size_have_no_sequence_length(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((None, None, 1)), L.Conv2D(2, 3), L.GlobalMaxPooling2D()]).save(
        path
    )
    assert pg.load_model(path).input_shape == (None, None, None, 1)
    with pytest.raises(pg.CheckpointError, match="sequence_length is 5"):
        pg.load_model(path, sequence_length=5)


def test_tokens_of_open_length_are_read(tmp_path: Path) -> None:
    tokens = keras.Input((None,), dtype="int32")
    h = L.Embedding(5, 3, mask_zero=True)(tokens)
    theirs = keras.Model(tokens, L.LSTM(2)(h))
    path = tmp_path / "model.keras"
    theirs.save(path)
    x = np.array([[1, 2, 0, 0], [3, 4, 1, 2]], np.int32)
    model = pg.load_model(path.read_bytes(), sequence_length=4)
    expected = theirs(x).detach().numpy()
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-6)
    model.close()


@pytest.mark.parametrize("length", [0, -1, 2.5, True, 10_001])
def test_other_lengths_are_refused(length: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((None, 3)), L.LSTM(2)]).save(path)
    with pytest.raises(ValueError, match="sequence_length must be a whole number"):
        pg.load_model(path, sequence_length=length)
