"""Models as the guides of Keras build them: read from what Keras saved, they predict the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from tests.interchange.keras_guides import GUIDES, TABLE, TOKENS
from tests.interchange.keras_side import check_same, keras, predicted
from tests.sweeps import budget, dice

pytestmark = [
    # Keras converts arrays by a protocol that NumPy 2 deprecates.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:layer .* got a sequence with a mask:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask:UserWarning"),
]
layers = keras.layers
OFTEN = ["adapted_normalization", "autoencoder", "masked_lstm", "masked_mean", "models_in_models"]
OTHERS = [name for name in GUIDES if name not in OFTEN]


@pytest.mark.parametrize("name", [*OFTEN, *dice("guides").sample(OTHERS, budget(7, len(OTHERS)))])
def test_a_model_of_the_guides_and_its_weights_are_read(name: str, tmp_path: Path) -> None:
    build, xs = GUIDES[name]
    other = build()
    predicted(other, xs)  # which builds it
    other.save(tmp_path / "m.keras")
    other.save_weights(tmp_path / "m.weights.h5")
    model = pg.load_model(tmp_path / "m.keras")
    check_same(model, other, xs)
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    model.load_weights(tmp_path / "m.weights.h5")
    check_same(model, other, xs)


def test_weights_of_nested_models_are_found_by_class_and_shape(tmp_path: Path) -> None:
    inner = keras.Sequential([keras.Input((5,)), layers.Dense(5), layers.Dense(5), layers.Dense(3)])
    inputs = keras.Input((5,))
    other = keras.Model(inputs, layers.Dense(2)(inner(inputs)))
    other.save_weights(tmp_path / "m.weights.h5")
    own = pg.Sequential([nn.Dense(5), nn.Dense(5), nn.Dense(3)])
    model = pg.Sequential([pg.Input((5,)), own, nn.Dense(2)])
    model.load_weights(tmp_path / "m.weights.h5")
    check_same(model, other, [TABLE])


def test_weights_of_nested_models_in_an_unknown_order_are_refused(tmp_path: Path) -> None:
    inner = keras.Sequential([keras.Input((5,)), layers.Dense(5)])
    inputs = keras.Input((5,))
    keras.Model(inputs, layers.Dense(5)(inner(inputs))).save_weights(tmp_path / "m.weights.h5")
    model = pg.Sequential([pg.Input((5,)), nn.Dense(5), nn.Dense(5)])
    with pytest.raises(CheckpointError, match="2 layers like 'layers/dense', whose order is not"):
        model.load_weights(tmp_path / "m.weights.h5")
    model = pg.Sequential([pg.Input((5,)), nn.Dense(5), nn.Dense(4)])
    with pytest.raises(CheckpointError, match="has 2 layers like 'layers/dense' of these shapes"):
        model.load_weights(tmp_path / "m.weights.h5")


def test_moments_other_than_the_models_are_refused(tmp_path: Path) -> None:
    build, _ = GUIDES["adapted_normalization"]
    other = build()
    predicted(other, [TABLE])
    other.save_weights(tmp_path / "m.weights.h5")
    for factor in (1, 2):
        normalization = nn.Normalization()
        normalization.adapt(factor * TABLE)
        model = pg.Sequential([normalization, nn.Dense(4, "relu"), nn.Dense(1)])
        model.build((5,))
        if factor == 1:
            model.load_weights(tmp_path / "m.weights.h5")
            check_same(model, other, [TABLE])
        else:
            with pytest.raises(CheckpointError, match="'normalization_1' has other moments"):
                model.load_weights(tmp_path / "m.weights.h5")


def test_a_mask_of_the_program_replaces_that_of_the_layer(tmp_path: Path) -> None:
    def saved(mask: Any) -> Any:
        inputs = keras.Input((6,), dtype="int32")
        x = layers.Embedding(20, 4, mask_zero=True)(inputs)
        return keras.Model(inputs, layers.LSTM(3)(x, mask=mask(inputs)))

    other = saved(lambda tokens: keras.ops.not_equal(tokens, 2))
    other.save(tmp_path / "m.keras")
    model = pg.load_model(tmp_path / "m.keras")
    check_same(model, other, [TOKENS])
    by_zero = saved(lambda tokens: keras.ops.not_equal(tokens, 0))
    by_zero.set_weights(other.get_weights())
    assert np.abs(predicted(by_zero, [TOKENS]) - model.predict(TOKENS)).max() > 1e-3


def test_masked_networks_go_back_to_keras(tmp_path: Path) -> None:
    build, xs = GUIDES["masked_lstm"]
    other = build()
    other.save(tmp_path / "m.keras")
    model = pg.load_model(tmp_path / "m.keras")
    model.export(tmp_path / "again.keras")
    check_same(model, keras.models.load_model(tmp_path / "again.keras"), xs)


def test_an_operation_that_playgrad_does_not_read_is_named(tmp_path: Path) -> None:
    inputs = keras.Input((5,))
    keras.Model(inputs, layers.Dense(2)(keras.ops.sort(inputs))).save(tmp_path / "m.keras")
    with pytest.raises(CheckpointError, match="has the operation Sort between its layers"):
        pg.load_model(tmp_path / "m.keras")
