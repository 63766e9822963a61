"""TensorFlow.js opens exported networks in Chromium and predicts the same."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import ExportError
from tests.browser.playground import GOOD, Playground
from tests.browser.tensorflow_js import Predict, tensorflow_js
from tests.interchange.layer_variants import VARIANTS, variant
from tests.interchange.networks import lenet, predictions, randoms
from tests.interchange.test_keras_models import network
from tests.nn.test_layers import TABLE
from tests.sweeps import budget, dice

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser]

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def predict(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Predict]:
    with tensorflow_js(chromium, tmp_path_factory.mktemp("tfjs")) as opened:
        yield opened


def mlp() -> tuple[pg.Model, Array]:
    layers = [nn.Dense(16, activation="relu"), nn.BatchNormalization(), nn.Dense(3, name="scores")]
    return pg.Sequential([pg.Input((4,)), *layers, nn.Softmax()]), randoms(5, 4)


def digits() -> tuple[pg.Model, Array]:
    return lenet(), 100 * np.abs(randoms(3, 28, 28))


def text() -> tuple[pg.Model, Array]:
    model = pg.Sequential([
        pg.Input((6,), dtype="int32"),
        nn.Embedding(20, 8, mask_zero=True),
        nn.LSTM(5, return_sequences=True),
        nn.Bidirectional(nn.GRU(4, return_sequences=True, reset_after=False)),
        nn.LayerNormalization(),
        nn.TimeDistributed(nn.Dense(3, activation="silu")),
        nn.SimpleRNN(4),
        nn.Dense(3),
    ])  # fmt: skip
    return model, np.arange(18, dtype=np.int32).reshape(3, 6)


def residual() -> tuple[pg.Model, Array]:
    inputs = pg.Input((8, 8, 3))
    x = nn.Conv2D(4, 3, padding="same", use_bias=False)(inputs)
    x = nn.ReLU()(nn.BatchNormalization()(x))
    shared = nn.Dense(4, activation="tanh")
    x = nn.Add()([shared(x), shared(nn.Conv2D(4, 1)(inputs))])
    x = nn.SeparableConv2D(6, 3, strides=2, padding="same")(x)
    outputs = [nn.Dense(3)(nn.GlobalAveragePooling2D()(x)), nn.GlobalMaxPooling2D()(x)]
    return pg.Model(inputs, outputs), randoms(2, 8, 8, 3)


def check_same(model: pg.Model, xs: list[Array], predict: Predict, folder: Path) -> None:
    model.export(folder / "m.tfjs.zip")
    names, results = predict(folder / "m.tfjs.zip", xs)
    assert {name for name, _ in model.named_layers()} <= set(names)
    wanted = model.predict(xs if len(xs) > 1 else xs[0])
    for one, other in zip(results, wanted if isinstance(wanted, list) else [wanted], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("build", [mlp, digits, text, residual])
def test_networks_predict_the_same(
    build: Callable[[], tuple[pg.Model, Array]], predict: Predict, tmp_path: Path
) -> None:
    model, x = build()
    random = np.random.default_rng(0)
    model.set_weights([w + np.abs(random.normal(0, 0.1, w.shape)) for w in model.get_weights()])
    check_same(model, [x], predict, tmp_path)
    assert len(predictions(model, x)) == len(model.outputs)


@pytest.mark.parametrize("name", TABLE)
def test_layers_predict_the_same_or_are_refused_by_name(
    name: str, predict: Predict, tmp_path: Path
) -> None:
    model, xs = network(name)
    try:
        check_same(model, xs, predict, tmp_path)
    except ExportError as error:
        assert str(error).startswith(f"layer '{model.layers[0].kind}_1")
        assert "TensorFlow.js has no" in str(error)
        assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:layer .* got a sequence with a mask:RuntimeWarning")
@pytest.mark.parametrize("name", dice("tfjs").sample([*VARIANTS], budget(45, len(VARIANTS))))
def test_variants_of_layers_predict_the_same_or_are_refused(
    name: str, predict: Predict, tmp_path: Path
) -> None:
    model, xs = variant(name)
    try:
        check_same(model, xs, predict, tmp_path)
    except ExportError as error:
        assert "TensorFlow.js has no" in str(error)
        assert not list(tmp_path.iterdir())


ACTIVATIONS = (
    "elu", "gelu", "keras2_hard_sigmoid", "linear", "log_softmax", "mish", "relu", "relu6", "selu",
    "sigmoid", "silu", "softmax", "softplus", "softsign", "tanh",
)  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_the_same(name: str, predict: Predict, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((7,)), nn.Activation(name)])
    check_same(model, [2 * randoms(3, 7)], predict, tmp_path)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (lambda: nn.Dense(2, activation="hard_sigmoid"), "no activation 'hard_sigmoid'"),
        (lambda: nn.GRU(2), r"no GRU with reset_after \(nn.GRU\(..., reset_after=False\)"),
        (
            lambda: nn.MultiHeadAttention(1, 2),
            "no equivalent .* of kind 'multi_head_attention'",
        ),
        (lambda: nn.Conv1D(2, 2, padding="causal"), "no padding='causal'"),
        (lambda: nn.Bidirectional(nn.GRU(2)), "no GRU with reset_after"),
        (lambda: nn.Softmax(axis=1), "no axis=1 for softmax"),
    ],
)
def test_layers_missing_in_tensorflow_js_are_named(
    layer: Callable[[], nn.Layer], message: str, tmp_path: Path
) -> None:
    model = pg.Sequential([pg.Input((4, 3)), layer()])
    with pytest.raises(ExportError, match=f"^layer '.*': TensorFlow.js has {message}"):
        model.export(tmp_path / "m.tfjs.zip")
    assert not list(tmp_path.iterdir())


def masked(behind: Callable[[pg.Tensor], pg.Tensor]) -> pg.Model:
    x = pg.Input((5,), dtype="int32")
    return pg.Model(x, behind(nn.Embedding(20, 4, mask_zero=True)(x)))


@pytest.mark.filterwarnings("ignore:layer .* got a sequence with a mask:RuntimeWarning")
@pytest.mark.parametrize(
    ("behind", "message"),
    [
        (nn.GlobalAveragePooling1D(), "no mean of the steps that a mask keeps"),
        (lambda x: nn.LSTM(2)(nn.Conv1D(4, 2)(x)), "no recurrent layer that ignores the mask"),
        (
            lambda x: nn.LSTM(2)(nn.RepeatVector(3)(nn.LSTM(2)(x))),
            "no recurrent layer that ignores",
        ),
        (lambda x: nn.Add()([x, x]), "no add of sequences with a mask"),
        (lambda x: nn.Softmax()(x), "no softmax of sequences with a mask"),
    ],
)
def test_masks_that_tensorflow_js_treats_otherwise_are_named(
    behind: Callable[[pg.Tensor], pg.Tensor], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=f"^layer '.*': TensorFlow.js has {message}"):
        masked(behind).export(tmp_path / "m.tfjs.zip")
    assert not list(tmp_path.iterdir())


def test_a_reshape_shared_by_inputs_of_two_sizes_stays_open(
    predict: Predict, tmp_path: Path
) -> None:
    inputs = [pg.Input((2, 3)), pg.Input((4, 3))]
    rows = nn.Reshape((-1,))
    model = pg.Model(inputs, [rows(x) for x in inputs])
    check_same(model, [randoms(3, 2, 3), randoms(3, 4, 3)], predict, tmp_path)


def test_the_page_saves_a_model_that_tensorflow_js_opens(
    playground: Playground, predict: Predict, tmp_path: Path
) -> None:
    playground.finish(GOOD)
    playground.at("export").click()
    path = playground.download("export-menu-tfjs", tmp_path)
    assert path.name == "model.tfjs.zip"
    playground.page.keyboard.press("Escape")
    weights = playground.weights()
    x = randoms(5, 4)
    hidden = np.tanh(x @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    expected = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    names, (result,) = predict(path, [x])
    assert names[1:] == ["dense_1", "dense_2"]
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("model.json"))["format"] == "layers-model"
