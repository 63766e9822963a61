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


def test_a_length_at_loading_gives_the_predictions_of_keras(network: tuple[Any, Path]) -> None:
    theirs, path = network
    for steps in (1, 2, 7):
        x = np.random.default_rng(steps).normal(size=(3, steps, 3)).astype(np.float32)
        model = pg.load_model(path, sequence_length=steps)
        expected = theirs(x).detach().numpy()
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-6)
        model.close()


def test_a_missing_length_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((None, 3)), L.LSTM(2)]).save(path)
    expected = r"load_model\(file, sequence_length=50\)"
    with pytest.raises(pg.SequenceLengthError, match=expected) as raised:
        pg.load_model(path)
    assert raised.value.inputs == (((None, 3), "float32"),)


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
