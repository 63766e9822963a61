"""Networks of integers: close to those of floats, the same in files, and honest about the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.integer_program import integer_program
from tests.compression.networks import NETWORKS, network

CALIBRATIONS = ["minmax", "percentile", "mse"]


def relative_error(exact: np.ndarray, close: np.ndarray) -> float:
    return float(np.linalg.norm(exact - close) / np.linalg.norm(exact))


@pytest.mark.parametrize("name", NETWORKS)
def test_integers_compute_nearly_what_floats_do(name: str) -> None:
    model, x = network(name)
    before = model.named_weights()
    small = pg.quantize(model, x)
    assert relative_error(model.predict(x), small.predict(x)) < 0.05
    report = small.report()
    assert {row.form for row in report.layers} <= {"", "int8", "folded", "removed"}
    assert report.worst_layers
    assert min(layer.signal_to_noise or 99 for layer in report.worst_layers) > 20
    weights = small.named_weights()
    assert all(
        weights[name].dtype == np.int8
        for name in weights
        if name.endswith(("kernel", "embeddings"))
    )
    after = model.named_weights()
    assert all(np.array_equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_calibrations_find_ranges(calibration: str) -> None:
    model, x = network("sequences")
    small = pg.quantize(model, x, calibration=calibration)
    assert relative_error(model.predict(x), small.predict(x)) < 0.05


def test_outliers_cost_less_without_all_of_them() -> None:
    model = pg.Sequential([nn.Dense(16), nn.Dense(4)])
    x = np.random.default_rng(0).normal(size=(512, 64)).astype(np.float32)
    model.build((64,))
    odd = x.copy()
    odd[0, 0] = 300
    errors = {
        each: relative_error(
            model.predict(x[1:]), pg.quantize(model, odd, calibration=each).predict(x[1:])
        )
        for each in CALIBRATIONS
    }
    assert errors["percentile"] < errors["minmax"] / 2


@pytest.mark.parametrize("name", NETWORKS)
def test_files_and_clones_compute_the_same(name: str, tmp_path: Path) -> None:
    model, x = network(name)
    small = pg.quantize(model, x)
    expected = small.predict(x)
    assert np.array_equal(small.clone().predict(x), expected)
    file = tmp_path / "small.safetensors"
    small.save_weights(file)
    assert np.array_equal(pg.load_model(file).predict(x), expected)
    other = pg.model_from_json(small.to_json())
    other.set_weights(small.named_weights())
    assert np.array_equal(other.predict(x), expected)
    y = np.zeros_like(expected)
    assert small.evaluate(x, y) == pytest.approx(np.square(expected).mean(), rel=1e-4)
    with pytest.raises(pg.GraphError, match="not depend on any of the variables to train"):
        small.fit(x, y, verbose=0)


def test_weights_of_four_bits_cost_more_than_of_eight() -> None:
    model, x = network("images")
    exact = model.predict(x)
    errors = [
        relative_error(exact, pg.quantize(model, x, weights=bits).predict(x))
        for bits in ("int8", "int4")
    ]
    assert errors[0] < errors[1] < 0.5
    kernel = pg.quantize(model, x, weights="int4").named_weights()["dense_1/kernel"]
    assert kernel.min() == -7 or kernel.max() == 7


def test_other_layers_stay_float32_and_the_report_says_why() -> None:
    x = np.random.default_rng(0).normal(size=(40, 6, 3)).astype(np.float32)
    entry = pg.Input((6, 3))
    twice = nn.Dense(3, name="twice")
    y = nn.LSTM(8, name="memory")(twice(twice(entry)))
    model = pg.Model(entry, nn.Dense(2, name="last")(nn.PReLU(name="own")(y)))
    small = pg.quantize(model, x)
    assert relative_error(model.predict(x), small.predict(x)) < 0.05
    forms = {row.name: (row.form, row.reason) for row in small.report().layers}
    assert forms["memory"] == forms["own"] == ("float32", "has no integer form")
    assert forms["twice"] == ("float32", "is called 2 times")
    assert forms["last"] == ("int8", "")
    assert "twice: float32, is called 2 times" in str(small.report())


def test_sequences_with_masks_stay_float32() -> None:
    x = np.random.default_rng(0).integers(0, 5, (40, 6)).astype(np.int32)
    model = pg.Sequential(
        [nn.Embedding(5, 4, mask_zero=True), nn.GlobalAveragePooling1D(), nn.Dense(2)]
    )
    model.build((6,), "int32")
    small = pg.quantize(model, x)
    assert relative_error(model.predict(x), small.predict(x)) < 0.05
    forms = [row.form for row in small.report().layers if row.form]
    assert forms == ["float32", "float32", "int8"]


def test_sums_that_might_overflow_stay_float32() -> None:
    model = pg.Sequential([nn.Dense(2, name="wide")])
    model.build((4,))
    model.set_weights([np.full((4, 2), 1e-9, np.float32), np.array([5, -5], np.float32)])
    x = np.ones((8, 4), np.float32)
    small = pg.quantize(model, x)
    assert np.array_equal(small.predict(x), model.predict(x))
    assert small.report().layers[0].reason == "its sums might not fit in 32 bits"


def test_channels_of_zeros_and_constant_activations() -> None:
    model = pg.Sequential([nn.Dense(3, activation="relu"), nn.Dense(2)])
    model.build((4,))
    weights = model.get_weights()
    weights[0][:, 1] = 0
    weights[1][:] = [0.5, 0.25, -9]
    model.set_weights(weights)
    x = np.full((30, 4), 2, np.float32)
    small = pg.quantize(model, x)
    assert relative_error(model.predict(x), small.predict(x)) < 0.02
    zeros = pg.quantize(model, 0 * x)
    assert np.isfinite(zeros.predict(x)).all()
    assert relative_error(model.predict(0 * x), zeros.predict(0 * x)) < 0.02


def built() -> pg.Sequential:
    model = pg.Sequential([nn.Dense(2)])
    model.build((3,))
    return model


NAN = np.array([[1, np.nan, 2]], np.float32)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (np.zeros((0, 3), np.float32), pg.DataError, "few hundred inputs"),
        (iter(()), pg.DataError, "no batches"),
        (None, pg.DataError, "no data to find the ranges"),
        (NAN, pg.DataError, "contains nan"),
        (np.ones((5, 4), np.float32), pg.ShapeError, "calibration data"),
        (np.full((5, 3), 1e38, np.float32), pg.DataError, "NaN or infinite values in"),
    ],
    ids=["empty", "no batches", "none", "nan", "shape", "overflow"],
)
def test_bad_data_is_refused(data: object, error: type[Exception], words: str) -> None:
    model = built()
    if isinstance(data, np.ndarray) and data.max(initial=0) > 1e30:
        model.set_weights([np.full((3, 2), 9, np.float32), np.zeros(2, np.float32)])
    with pytest.raises(error, match=words):
        pg.quantize(model, data)


def test_bad_arguments_are_refused() -> None:
    x = np.ones((5, 3), np.float32)
    with pytest.raises(pg.GraphError, match="is not built"):
        pg.quantize(pg.Sequential([nn.Dense(2)]), x)
    with pytest.raises(pg.GraphError, match="is quantized already"):
        pg.quantize(pg.quantize(built(), x), x)
    recurrent = pg.Sequential([pg.Input((4, 3)), nn.LSTM(2)])
    with pytest.raises(
        pg.GraphError, match="can compute in integers: 'lstm_1' has no integer form"
    ):
        pg.quantize(recurrent, np.ones((5, 4, 3), np.float32))
    with pytest.raises(pg.GraphError, match="no int3 weights with int8 activations"):
        pg.quantize(built(), x, weights="int3")
    with pytest.raises(pg.GraphError, match=r"no calibration 'median'.*minmax"):
        pg.quantize(built(), x, calibration="median")


def test_data_sets_calibrate() -> None:
    model, x = network("dense")
    batches = pg.data.Dataset.from_tensor_slices((x, np.zeros(len(x)))).batch(7)
    assert np.array_equal(pg.quantize(model, batches).predict(x), pg.quantize(model, x).predict(x))


def test_models_with_several_inputs_and_outputs() -> None:
    random = np.random.default_rng(0)
    first, second = pg.Input((4,), name="first"), pg.Input((6,), name="second")
    x = nn.Concatenate()([nn.Dense(5)(first), nn.Dense(3, activation="relu")(second)])
    model = pg.Model([first, second], {"left": nn.Dense(2)(x), "right": nn.Softmax()(x)})
    data = [random.normal(size=(40, size)).astype(np.float32) for size in (4, 6)]
    small = pg.quantize(model, data)
    exact, close = model.predict(data), small.predict(data)
    assert set(close) == {"left", "right"}
    for key, values in exact.items():
        assert relative_error(values, close[key]) < 0.05
    named = {"first": data[0], "second": data[1]}
    assert np.array_equal(pg.quantize(model, named).predict(named)["left"], close["left"])


def test_functions_of_users_become_tables() -> None:
    x = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    model = pg.Sequential(
        [
            nn.Dense(8, activation=lambda x: pg.sin(x) * 2.0),
            nn.Lambda(lambda x: pg.maximum(x, -0.5) + x * x),
            nn.Dense(2),
        ]
    )
    model.build((4,))
    small = pg.quantize(model, x)
    assert [layer.kind for layer in small.layers].count("lookup") == 2
    assert relative_error(model.predict(x), small.predict(x)) < 0.05


def test_layers_without_weights_may_be_shared_and_operations_may_stand_alone() -> None:
    x = np.random.default_rng(0).normal(size=(40, 6, 6, 2)).astype(np.float32)
    entry = pg.Input((6, 6, 2))
    pool, curve, relu = nn.MaxPool2D(2, 1), nn.Activation("tanh"), nn.ReLU(name="relu")
    first = curve(pool(relu(nn.Conv2D(3, 2)(entry))))
    second = curve(pool(relu(nn.Conv2D(3, 2)(entry))))
    total = pg.relu(first + second)
    model = pg.Model(entry, nn.Dense(2)(nn.Flatten()(total)))
    small = pg.quantize(model, x)
    assert relative_error(model.predict(x), small.predict(x)) < 0.05
    integer_program(small)
    aware = pg.quantization_aware(model, x)
    assert np.allclose(
        pg.quantize(aware).predict(x), aware.predict(x), atol=small.layers[-1].scale * 1.01
    )
