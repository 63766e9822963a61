"""Predictions again and again, of batches like earlier ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import DataError, DTypeError, ShapeError

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def network(*layers: nn.Layer) -> pg.Sequential:
    model = pg.Sequential([*layers])
    model.compile("sgd", "mse", device="cpu")
    return model


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_of_later_batches_are_checked(value: float) -> None:
    model = network(nn.Dense(2))
    model.predict(X[:1])
    wrong = X[:1].copy()
    wrong[0, 2] = value
    with pytest.raises(DataError, match=r"x contains -?(nan|inf) \(sample 0\)"):
        model.predict(wrong)
    with pytest.raises(ShapeError, match="samples of shape"):
        model.predict(X[:1, :3])


def test_numbers_of_later_batches_are_looked_up_where_they_are() -> None:
    model = network(nn.Embedding(5, 3))
    table = model.predict(np.arange(5, dtype=np.int32)[None])[0]
    np.testing.assert_array_equal(
        model.predict(np.int32([[4, 0, 1, 1, 2]]))[0], table[[4, 0, 1, 1, 2]]
    )
    for wrong in (5, -1):
        with pytest.raises(DataError, match="does not fit"):
            model.predict(np.int32([[0, 1, wrong, 1, 1]]))


@pytest.mark.parametrize(
    "kind", ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]
)
def test_batches_of_every_dtype_are_predicted_alike(kind: str) -> None:
    model = network(nn.Dense(3))
    model.build((4,))
    x = np.abs(8 * X).astype(kind)
    expected = model.predict(x.astype(np.float32))
    for _ in range(2):
        np.testing.assert_array_equal(model.predict(x), expected)
        np.testing.assert_array_equal(model.predict(np.asfortranarray(x)), expected)
        np.testing.assert_array_equal(model.predict(x[::-1]), expected[::-1])


def test_whole_numbers_do_not_become_others_in_later_batches() -> None:
    model = network(nn.Embedding(9, 2))
    model.build((3,), "uint8")
    model.predict(np.int32([[1, 2, 3]]))
    with pytest.raises(DTypeError, match="do not fit"):
        model.predict(np.int32([[1, 2, 259]]))


def test_results_belong_to_the_caller() -> None:
    model = network(nn.Flatten())
    for _ in range(3):
        x = X.copy()
        result = model.predict(x)
        result += 1
        np.testing.assert_array_equal(x, X)
        x[:] = 0
        np.testing.assert_array_equal(result, X + 1)


def test_later_batches_follow_the_model() -> None:
    model = network(nn.Dense(3), nn.Dense(2))
    first = model.predict(X)
    model.fit(X, np.zeros((6, 2), np.float32), verbose=0)
    assert np.abs(model.predict(X) - first).max() > 0
    model.pop()
    trained = model.predict(X)
    kernel, bias = model.get_weights()
    np.testing.assert_allclose(trained, X @ kernel + bias, rtol=1e-4, atol=1e-6)
    model.compile("sgd", "mse", device="reference")
    np.testing.assert_allclose(model.predict(X), trained, rtol=1e-5)
    weights = model.get_weights()
    model.close()
    model.set_weights(weights)
    np.testing.assert_allclose(model.predict(X), trained, rtol=1e-5)


def test_more_samples_than_a_batch_are_divided_also_if_they_are_known() -> None:
    model = network(nn.Dense(3))
    whole = model.predict(X)
    for size in (1, 4, 6, 100):
        np.testing.assert_allclose(model.predict(X, size), whole, rtol=1e-6)


def test_a_known_batch_is_no_dictionary() -> None:
    x = pg.Input((4,), name="points")
    model = pg.Model(x, nn.Dense(2)(x))
    model.compile("sgd", "mse", device="cpu")
    expected = model.predict(X)
    for _ in range(2):
        np.testing.assert_array_equal(model.predict({"points": X}), expected)
        assert model.takes_dictionary
        np.testing.assert_array_equal(model.predict(X), expected)
        assert not model.takes_dictionary


@pytest.mark.gpu
def test_results_of_a_gpu_belong_to_the_caller() -> None:
    model = pg.Sequential([nn.Dense(3)])
    model.compile("sgd", "mse", device="gpu")
    for _ in range(2):
        before = model.predict(X)
        after = model.predict(X)
        after += 1
        np.testing.assert_array_equal(after, before + 1)
