"""Principal components of the values of layers are NumPy's, up to the sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import DataError, GraphError
from playgrad.graph.graph import reset_default_graph
from playgrad.inspection.projection import (
    MOST_VALUES,
    principal_components,
    project,
    projectable_layers,
)

Array = np.ndarray[Any, Any]
X = np.random.default_rng(1).normal(size=(60, 6)).astype(np.float32) * [5, 3, 1, 1, 1, 1]
X = X.astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    yield
    reset_default_graph()


def eigen_points(values: Array) -> tuple[Array, Array]:
    """The same by another way: eigenvectors of the covariance."""
    centred = values.astype(np.float64) - values.mean(axis=0, dtype=np.float64)
    lengths, vectors = np.linalg.eigh(np.cov(centred.T, bias=True))
    points: Array = centred @ vectors[:, [-1, -2]]
    return points, lengths[[-1, -2]] / lengths.sum()


@pytest.mark.parametrize("columns", [6, 100])
def test_the_components_are_eigenvectors_of_the_covariance(columns: int) -> None:
    values = np.random.default_rng(2).normal(size=(60, columns)) * np.linspace(4, 1, columns)
    points, explained = principal_components(values)
    expected, shares = eigen_points(values)
    assert np.allclose(np.abs(points), np.abs(expected), atol=1e-6)
    assert np.allclose(explained, shares)
    assert np.allclose(points.mean(axis=0), 0, atol=1e-9)
    for axis in (0, 1):  # the sign is the same each time
        assert points[np.abs(points[:, axis]).argmax(), axis] > 0
    assert np.array_equal(points, principal_components(values)[0])


@pytest.mark.parametrize(("columns", "most"), [(6, 4), (6, 50), (100, 50), (1, 50)])
def test_more_components_are_the_next_eigenvectors(columns: int, most: int) -> None:
    values = np.random.default_rng(2).normal(size=(60, columns)) * np.linspace(4, 1, columns)
    points, explained = principal_components(values, most)
    count = max(2, min(columns, most))
    assert points.shape == (60, count) and len(explained) == count
    assert np.array_equal(points[:, :2], principal_components(values)[0])
    lengths = np.linalg.eigvalsh(np.atleast_2d(np.cov(values.T, bias=True)))[::-1][:count]
    assert np.allclose(points.var(axis=0)[: len(lengths)], lengths)
    assert np.allclose(points.T @ points, np.diag((points**2).sum(axis=0)), atol=1e-6)
    assert (np.diff(explained) <= 1e-12).all()


def test_values_of_any_size_or_no_variance_are_projected() -> None:
    for factor in (1e-200, 1e200):
        points, explained = principal_components(np.array([[1.0, 0], [3, 0], [8, 0]]) * factor)
        assert np.allclose(points / factor, [[-3, 0], [-1, 0], [4, 0]])
        assert np.allclose(explained, [1, 0])
    points, explained = principal_components(np.ones((5, 3)))
    assert not points.any() and explained == (0, 0)
    points, _ = principal_components(np.array([[2.0], [4.0]]))
    assert np.allclose(np.abs(points), [[1, 0], [1, 0]])


def model_of(layers: list[nn.Layer]) -> pg.Sequential:
    model = pg.Sequential(layers)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.02), loss, device="cpu")
    model.fit(X, Y, batch_size=20, epochs=2, verbose=0)
    return model


def test_any_layer_is_projected() -> None:
    model = model_of([nn.Dense(5, activation="tanh"), nn.Dropout(0.5), nn.Dense(2)])
    names = [layer.name for layer in projectable_layers(model)]
    assert names == ["input", "dense_1", "dropout_1", "dense_2"]
    weights = model.named_weights()
    hidden = np.tanh(X @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    for name, values in (("input", X), ("dense_1", hidden), ("dropout_1", hidden)):
        projection = project(model, X, name)
        expected, shares = eigen_points(values)
        assert np.allclose(np.abs(projection.points), np.abs(expected), rtol=1e-3, atol=1e-4)
        assert np.allclose(projection.explained, shares, atol=1e-4)
        assert projection.rows.tolist() == list(range(60))
    with pytest.raises(GraphError, match="no layer 'dense_3'") as error:
        project(model, X, "dense_3")
    assert "input, dense_1" in str(error.value.hint)


def test_samples_with_values_that_are_not_finite_are_left_out() -> None:
    model = model_of([nn.Dense(4), nn.Dense(2)])
    weights = model.named_weights()
    model.set_weights({k: np.full_like(v, np.nan) for k, v in weights.items()})
    with pytest.raises(DataError, match="two samples with finite values, got 0 of 60"):
        project(model, X, "dense_1")
    with pytest.raises(DataError, match="got 1 of 1"):
        project(model, X[:1])


def test_integer_inputs_and_very_large_layers_are_not_offered() -> None:
    tokens = np.arange(40, dtype=np.int32).reshape(10, 4) % 7
    model = pg.Sequential([nn.Embedding(7, 3), nn.Flatten(), nn.Dense(2)])
    model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    model.fit(tokens, np.arange(10) % 2, verbose=0)
    assert projectable_layers(model)[0].name == "embedding_1"
    wide = pg.Sequential([nn.Dense(MOST_VALUES + 1), nn.Dense(2)])
    wide.build((1,))
    assert [layer.name for layer in projectable_layers(wide)] == ["input", "dense_2"]
