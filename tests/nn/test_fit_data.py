"""Training data: its dtype on the device, its replacement, and data that is refused."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from tests.nn.small_models import LABELS, X, classifier


@pytest.mark.gpu
def test_data_of_another_shape_takes_the_place_of_the_old() -> None:
    host = registry.gpu(0).host
    gc.collect()  # what earlier tests left in cycles must not be freed between two readings
    before = host.stats()["bytes"]
    model = pg.Sequential([nn.Dense(2)])
    taken = []
    for count in (40_000, 2_000, 40_000):
        model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="gpu")
        x = np.resize(X, (count, 4))
        model.fit(x, np.resize(LABELS, count), batch_size=2000, verbose=0)
        model.evaluate(x, np.resize(LABELS, count))
        taken.append(host.stats()["bytes"] - before)
    data = 2 * 38_000 * (4 * 4 + 4)  # the data of fit and evaluate, in bytes
    assert taken[0] - taken[1] > 0.9 * data
    assert taken[2] - taken[0] < 0.1 * data
    model.close()
    gc.collect()
    assert host.stats()["bytes"] <= before  # less if a buffer of an earlier test was freed late


def test_fewer_samples_than_a_batch_form_one_batch() -> None:
    model = classifier()
    model.fit(X, LABELS, batch_size=10, verbose=0)
    before = model.session.value(model.optimizer.iterations)
    model.fit(X[:7], LABELS[:7], batch_size=10, epochs=2, verbose=0)
    # One batch of all 7 samples in each epoch.
    assert model.session.value(model.optimizer.iterations) == before + 2
    assert len(model.history.losses) == 2


def test_bytes_stay_bytes_on_the_device() -> None:
    images = np.random.default_rng(0).integers(0, 256, (30, 3, 3)).astype(np.uint8)
    model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.fit(images, images[:, 0, 0] / 255, verbose=0)
    held = {v.node.name: v.dtype for v in pg.global_variables(model.graph)}
    assert held["data/train/x"] == "uint8"
    assert held["data/train/y"] == "float32"
    assert model.inputs[0].dtype == "uint8"
    with pytest.raises(pg.DTypeError, match=r"takes uint8 values .*x\.astype\('uint8'\)"):
        model.predict(images / 255)
    # A model declared with float inputs casts the bytes itself.
    model = pg.Sequential([pg.Input((3, 3)), nn.Flatten(), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.evaluate(images, images[:, 0, 0])
    assert model.inputs[0].dtype == "float32"


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        (X[:0], LABELS[:0], pg.DataError, r"x is empty: its shape is \(0, 4\)"),
        (X, LABELS[:0], pg.DataError, "y is empty"),
        (X, LABELS[:9], pg.DataError, "x and y differ in length: 50 and 9 samples"),
        (X[:, :3], LABELS, pg.ShapeError, r"shape \(4,\) \(layer 'dense_1'\), but x .* \(3,\)"),
        (X[0], LABELS[:4], pg.ShapeError, r"single sample write sample\[None\]"),
        (np.where(X[3, 1] == X, np.nan, X), LABELS, pg.DataError, r"x contains nan \(sample 3\)"),
        (X * np.inf, LABELS, pg.DataError, "x contains -?inf|x contains nan"),
        (X.astype(np.float64) * 1e300, LABELS, pg.DataError, "x contains .*e\\+"),
        (X, LABELS + 1, pg.DataError, "y contains the label 2 .* 2 classes: labels must be 0 to 1"),
        (X, LABELS - 1, pg.DataError, "the label -1"),
        (X, LABELS + 0.5, pg.DataError, "whole class numbers"),
        ([["a", "b"]], LABELS, pg.DTypeError, "x must hold numbers, got <U1"),
        ([[1, 2], [3]], LABELS, pg.DataError, "samples of x differ in shape"),
        (3.0, LABELS, pg.DataError, "x is a single number"),
        (X, np.full(50, 2**40), pg.DataError, "do not fit into 32 bits"),
        (None, LABELS, pg.DTypeError, "x must hold numbers, got object"),
    ],
)
def test_unusable_data_is_refused_and_changes_nothing(
    x: Any, y: Any, error: type[Exception], words: str
) -> None:
    model = classifier()
    model.fit(X, LABELS, verbose=0)
    before = model.named_weights()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(error, match=words):
            model.fit(x, y, verbose=0)
        with pytest.raises(error, match=r"validation x|validation y|'dense_1'"):
            model.fit(X, LABELS, validation_data=(x, y), verbose=0)
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, before[name])
    model.fit(X, LABELS, verbose=0)


@pytest.mark.parametrize("name", ["batch_size", "epochs"])
@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_counts_must_be_whole(name: str, value: Any) -> None:
    with pytest.raises(pg.DataError, match=f"{name} must be a whole number of at least 1"):
        classifier().fit(X, LABELS, **{name: value})
    if name == "batch_size":
        with pytest.raises(pg.DataError, match="batch_size must be a whole number"):
            classifier().evaluate(X, LABELS, value)
        with pytest.raises(pg.DataError, match="batch_size must be a whole number"):
            classifier().predict(X, value)


def test_half_precision_data_is_accepted() -> None:
    half = X.astype(np.float16)
    assert len(classifier().fit(half, LABELS, verbose=0).losses) == 2
    half[7, 2] = np.inf
    with pytest.raises(pg.DataError, match=r"x contains inf \(sample 7\)"):
        classifier().fit(half, LABELS, verbose=0)


def test_whole_numbers_take_the_dtype_of_the_model() -> None:
    model = pg.Sequential([pg.Input((4,), dtype="uint8"), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    small, large = np.full((3, 4), 200), np.full((3, 4), 300)
    np.testing.assert_array_equal(model.predict(small), model.predict(small.astype(np.uint8)))
    model.fit(small, np.zeros(3), verbose=0)
    for values in (large, -small):
        with pytest.raises(pg.DTypeError, match="x takes uint8 values, but some do not fit"):
            model.predict(values)


@pytest.mark.gpu
def test_data_too_large_for_the_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playgrad.training.device_data._largest_binding", lambda device: 2000)
    model = pg.Sequential([nn.Flatten(), nn.Dense(1)])
    model.compile("sgd", "mse", device="gpu")
    images = np.zeros((60, 3, 3), np.float32)
    with pytest.raises(
        pg.OutOfMemoryError, match=r"train x of shape \(60, 3, 3\).* 2,160 bytes.*as uint8"
    ):
        model.fit(images, np.zeros(60), verbose=0)
    model.fit(images[:30], np.zeros(30), verbose=0)
    model.close()


def test_bool_inputs_and_targets_are_accepted() -> None:
    """A mask can be the input of a model; as numbers, bools are 0 and 1."""
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    seen = x > 0
    with pg.Graph(seed=0).as_default():
        values, mask = pg.Input((3,)), pg.Input((3,), dtype="bool")
        kept = pg.where(mask, values, 0.0)
        model = pg.Model([values, mask], nn.Dense(1)(kept))
    np.testing.assert_allclose(
        model.predict([x, seen]),
        np.where(seen, x, 0) @ model.named_weights()["dense_1/kernel"],
        1e-5,
    )
    model.compile(pg.optim.Adam(0.1), nn.BinaryCrossentropy(from_logits=True), ["accuracy"])
    model.fit([x, seen], x.max(axis=1) > 0.5, batch_size=10, epochs=10, verbose=0)
    assert model.evaluate([x, seen], x.max(axis=1) > 0.5)[1] > 0.7
    np.testing.assert_array_equal(
        model.predict([seen, seen]), model.predict([seen.astype(np.float32), seen])
    )
    with pytest.raises(pg.DTypeError, match=r"takes bool values.*holds floats"):
        model.predict([x, x])
    model.close()
