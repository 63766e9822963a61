"""Keras opens exported networks, predicts the same, and trains them further."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import ExportError
from playgrad.interchange.keras.layers import ACTIVATIONS
from playgrad.nn.layer import layer_type, record_of
from tests.interchange.keras_side import check_same, keras, opened
from tests.interchange.layer_variants import VARIANTS, variant
from tests.interchange.networks import MODELS, built
from tests.nn.test_layers import TABLE
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]

# Keras converts batches to torch by a protocol that NumPy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

TORCH_CANNOT = {"layer_normalization of columns", "layer_normalization of each channel"}
"""Keras normalizes along any axis, but with torch along the last ones only."""


TORCH_REPEATS_PIXELS = "average_pool2d of rank 4, 28"
"""With torch, Keras repeats pixels at odd borders, which it leaves out of the mean otherwise."""
KNOWN = [name for name in VARIANTS if name != TORCH_REPEATS_PIXELS]


def exported(model: pg.Model, folder: Path) -> Any:
    model.export(folder / "m.keras")
    return opened(folder / "m.keras")


def network(name: str) -> tuple[pg.Model, list[Array]]:
    """Return a network of one layer of the table, with weights unlike those at the start."""
    layer, arrays, _ = TABLE[name]
    new = layer_type(layer.kind).from_config(layer.get_config())
    inputs = [pg.Input(array.shape[1:]) for array in arrays]
    model = pg.Model(inputs, new(inputs if len(inputs) > 1 else inputs[0]))
    random = np.random.default_rng(0)
    weights = model.get_weights()
    model.set_weights([w + np.abs(random.normal(0, 0.1, w.shape)).astype(w.dtype) for w in weights])
    return model, arrays


@pytest.mark.parametrize("name", TABLE)
def test_layers_predict_the_same(name: str, tmp_path: Path) -> None:
    model, arrays = network(name)
    if not record_of(model.layers[0].kind).keras:
        with pytest.raises(ExportError, match=f"layer '{model.layers[0].kind}_1': Keras has no"):
            model.export(tmp_path / "m.keras")
        assert not list(tmp_path.iterdir())
    elif name in TORCH_CANNOT:
        with pytest.raises(RuntimeError, match="normalized_shape"):
            check_same(model, exported(model, tmp_path), arrays)
    else:
        check_same(model, exported(model, tmp_path), arrays)


@pytest.mark.filterwarnings("ignore:layer .* got a sequence with a mask:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask:UserWarning")
@pytest.mark.parametrize("name", dice("keras").sample(KNOWN, budget(30, len(KNOWN))))
def test_variants_of_layers_predict_the_same(name: str, tmp_path: Path) -> None:
    model, xs = variant(name)
    check_same(model, exported(model, tmp_path), xs)


@pytest.mark.parametrize("name", MODELS)
def test_networks_keep_names_and_predict_the_same(name: str, tmp_path: Path) -> None:
    model, x = built(name)
    other = exported(model, tmp_path)
    names = {layer.name for layer in other.layers if not isinstance(layer, keras.layers.InputLayer)}
    assert names == {name for name, _ in model.named_layers()}
    check_same(model, other, [x])


def test_inputs_named_like_layers_or_in_a_scope_get_other_names(tmp_path: Path) -> None:
    one, two = pg.Input((3,), name="features"), pg.Input((3,), name="left/input")
    three = pg.Input((3,), name="left_input")
    joined = nn.Add()([one, two, nn.Dense(3)(three)])
    model = pg.Model([one, two, three], nn.Dense(2, name="features")(joined))
    other = exported(model, tmp_path)
    assert [each.name for each in other.inputs] == ["features_1", "left_input", "left_input_1"]
    check_same(model, other, [np.random.default_rng(i).normal(size=(4, 3)) for i in range(3)])


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_are_the_same(name: str, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((7,)), nn.Dense(9), nn.Activation(name)])
    check_same(model, exported(model, tmp_path), [np.random.default_rng(1).normal(0, 3, (4, 7))])


@pytest.mark.parametrize(
    "optimizer",
    [
        pg.optim.SGD(0.05),
        pg.optim.SGD(0.05, momentum=0.8, nesterov=True, weight_decay=0.1),
        pg.optim.Momentum(0.05),
        pg.optim.Adam(0.01, amsgrad=True, clipnorm=0.1),
        pg.optim.AdamW(0.01, use_ema=True),
        pg.optim.RMSprop(0.01, momentum=0.5, centered=True),
        pg.optim.Adagrad(0.1, initial_accumulator_value=0.3),
        pg.optim.Adadelta(1.0),
        pg.optim.Adamax(0.01, global_clipnorm=0.5),
        pg.optim.Lion(0.01, gradient_accumulation_steps=2),
        pg.optim.Adam(pg.optim.ExponentialDecay(0.01, 2, 0.5)),
        pg.optim.SGD(pg.optim.PiecewiseConstantDecay([1, 2], [0.1, 0.01, 0.001])),
        pg.optim.SGD(pg.optim.CosineDecay(0.1, 5)),
    ],
    ids=lambda optimizer: f"{optimizer.kind}-{type(optimizer.schedule).__name__}",
)
def test_training_continues_with_the_same_steps(optimizer: Any, tmp_path: Path) -> None:
    layers = [nn.Dense(6, "tanh", kernel_regularizer="l2"), nn.Dense(4)]
    # Keras adds epsilon to the root before the correction of the averages, unlike Algorithm 1.
    tolerance = 2e-3 if isinstance(optimizer, pg.optim.Adam) else 1e-5
    check_training(pg.Sequential([pg.Input((3,)), *layers]), optimizer, tmp_path, tolerance)


def test_training_continues_in_layers_that_keras_stores_otherwise(tmp_path: Path) -> None:
    # Weights in groups, in another shape, or fixed.
    frozen = nn.Dense(4)
    frozen.trainable = False
    model = pg.Sequential([
        pg.Input((3, 4)),
        frozen,
        nn.MultiHeadAttention(2, 3, use_bias=False),
        nn.Bidirectional(nn.SimpleRNN(3, kernel_regularizer="l2")),
        nn.BatchNormalization(),
        nn.Dense(4, kernel_constraint=nn.MaxNorm(0.7), bias_regularizer=nn.L1(0.1)),
    ])  # fmt: skip
    check_training(model, pg.optim.Momentum(0.05), tmp_path)


def check_training(model: pg.Model, optimizer: Any, folder: Path, tolerance: float = 1e-5) -> None:
    """Check that playgrad and Keras get the same weights by the same batches."""
    model.compile(optimizer, nn.SparseCategoricalCrossentropy(from_logits=True))
    other = exported(model, folder)
    random = np.random.default_rng(2)
    for _ in range(3):
        x = random.normal(size=(6, *model.input_shape[1:])).astype(np.float32)
        y = random.integers(0, 4, 6)
        model.train_on_batch(x, y)
        other.train_on_batch(x, y)
    check_same(model, other, [x], tolerance)


def test_losses_metrics_and_their_weights_are_kept(tmp_path: Path) -> None:
    inputs = pg.Input((6,))
    outputs = [
        nn.Dense(4, "softmax", name="kind")(inputs),
        nn.Dense(1, "sigmoid", name="is")(inputs),
    ]
    model = pg.Model(inputs, outputs)
    model.compile(
        "sgd",
        ["sparse_categorical_crossentropy", nn.BinaryCrossentropy(label_smoothing=0.2)],
        metrics=[
            ["accuracy", nn.TopKAccuracy(2), "sparse_categorical_crossentropy"],
            ["accuracy", "mse", nn.Precision(0.4), nn.AUC(num_thresholds=50), "poisson"],
        ],
        loss_weights=[0.5, 2.0],
        weighted_metrics=[[], ["mae"]],
    )
    other = exported(model, tmp_path)
    random = np.random.default_rng(3)
    x = random.normal(size=(32, 6)).astype(np.float32)
    ys = [random.integers(0, 4, 32), random.integers(0, 2, (32, 1)).astype(np.float32)]
    ours, theirs = (each.evaluate(x, ys, verbose=0, return_dict=True) for each in (model, other))
    assert len(ours) == 12
    assert theirs == pytest.approx(ours, rel=1e-4)


@pytest.mark.parametrize(
    ("loss", "metric", "message"),
    [
        (lambda y, p: (y - p) ** 2, None, "the loss 'custom'"),
        ("mse", lambda y, p: p, "the metric '<lambda>' is a function"),
        ("mse", "log_cosh", "no metric 'log_cosh'"),
    ],
)
def test_settings_that_keras_lacks_are_left_out_with_a_warning(
    loss: Any, metric: Any, message: str, tmp_path: Path
) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2)])
    model.compile("sgd", loss, [] if metric is None else [metric])
    with pytest.warns(RuntimeWarning, match=f"no compile settings: .*{message}"):
        other = exported(model, tmp_path)
    assert not other.compiled
    check_same(model, other, [np.ones((2, 3), np.float32)])


def test_the_learning_rate_is_the_present_one(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2)])
    model.compile(pg.optim.SGD(0.5), "mse")
    slower = nn.LearningRateScheduler(lambda epoch: 0.125)
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0, callbacks=[slower])
    assert float(exported(model, tmp_path).optimizer.learning_rate) == 0.125


def test_names_keep_blanks_but_not_dots(tmp_path: Path) -> None:
    """Keras with PyTorch cannot open a layer that is named "a.b"."""
    x = pg.Input((3,), name="the input")
    y = nn.Dense(2, name="a_b")(nn.Dense(4, "tanh", name="a.b")(x))
    model = pg.Model(x, nn.Add(name="my sum")([y, nn.Dense(2, name="a.b.c")(y)]), "the.model")
    model.compile("adam", "mse", device="cpu")
    with pytest.warns(RuntimeWarning, match=r"'a\.b' is 'a_b_1', 'a\.b\.c' is 'a_b_c'"):
        other = exported(model, tmp_path)
    assert [each.name for each in other.layers] == ["the input", "a_b_1", "a_b", "a_b_c", "my sum"]
    data = np.ones((2, 3), np.float32)
    check_same(model, other, [data])
    other.save(tmp_path / "theirs.keras")
    back = pg.load_model(tmp_path / "theirs.keras")
    assert [name for name, _ in back.named_layers()] == ["a_b_1", "a_b", "a_b_c", "my sum"]
    check_same(back, other, [data])
    other.fit(data, data[:, :2], verbose=0)


def test_operations_outside_of_layers_are_named_and_nothing_written(tmp_path: Path) -> None:
    inputs = pg.Input((3,))
    model = pg.Model(inputs, nn.Dense(2)(pg.exp(inputs)))
    with pytest.raises(ExportError, match=r"operation 'exp' \(exp\) is not part of a layer"):
        model.export(tmp_path / "m.keras")
    assert not list(tmp_path.iterdir())


def test_the_file_is_whole_and_has_nothing_else(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), nn.Dense(2, name="scores")], name="classifier")
    model.export(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["metadata.json", "config.json", "model.weights.h5"]
        config = json.loads(archive.read("config.json"))
    assert config["config"]["name"] == "classifier"
    assert [layer["name"] for layer in config["config"]["layers"]][1:] == ["scores"]
