"""Distributions and matrices of initializers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn import initializers

Array = np.ndarray[Any, Any]


def value_of(initializer: Any, *shape: int, seed: int = 5) -> Array:
    with pg.Graph().as_default() as graph:
        result = initializers.get(initializer)(shape, seed)
    with pg.Session(graph, "cpu") as session:
        value: Array = session.run(result)
    return value


@pytest.mark.parametrize(
    ("initializer", "variance", "limit"),
    [
        ("lecun_uniform", 1 / 300, 0.1),
        ("lecun_normal", 1 / 300, 2 / 300**0.5 / 0.879),
        (nn.TruncatedNormal(0.0, 0.1), 0.01 * 0.7737, 0.2),
        (nn.VarianceScaling(2.0, "fan_out", "uniform"), 2 / 200, (6 / 200) ** 0.5),
        (nn.VarianceScaling(2.0, "fan_avg"), 2 / 250, 2 * (2 / 250) ** 0.5 / 0.879),
        (nn.VarianceScaling(distribution="untruncated_normal"), 1 / 300, 1.0),
        ("random_normal", 0.05**2, 1.0),
        ("random_uniform", 0.05**2 / 3, 0.05),
    ],
)
def test_initializers_have_their_variance(initializer: Any, variance: float, limit: float) -> None:
    value = value_of(initializer, 300, 200)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value.var(), variance, rtol=0.03)
    assert abs(value.mean()) < 0.01 * limit
    assert abs(value).max() <= limit * 1.001
    assert np.any(value != value_of(initializer, 300, 200, seed=6))


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (3, 3, 2, 8)])
def test_orthogonal_matrices_are_scaled_and_seeded(shape: tuple[int, ...]) -> None:
    value = value_of(nn.Orthogonal(gain=2.0), *shape)
    assert value.shape == shape
    matrix = value.reshape(-1, shape[-1])
    short = matrix.T @ matrix if len(matrix) >= shape[-1] else matrix @ matrix.T
    np.testing.assert_allclose(short, 4 * np.eye(len(short)), atol=1e-5)
    np.testing.assert_array_equal(value, value_of(nn.Orthogonal(gain=2.0), *shape))
    assert np.any(value != value_of(nn.Orthogonal(gain=2.0, seed=9), *shape))


def test_identity_is_scaled_and_padded() -> None:
    np.testing.assert_array_equal(value_of(nn.Identity(3.0), 2, 3), [[3, 0, 0], [0, 3, 0]])


def test_initializers_are_saved_with_layers() -> None:
    layer = nn.Dense(3, kernel_initializer=nn.VarianceScaling(2.0, "fan_out"))
    assert nn.Dense.from_config(layer.get_config()).kernel_initializer == layer.kernel_initializer
    with pg.Graph().as_default():
        model = pg.Sequential([nn.Dense(4, kernel_initializer="orthogonal")])
        model.build((4,))
        kernel = model.named_weights()["dense_1/kernel"]
        np.testing.assert_allclose(kernel.T @ kernel, np.eye(4), atol=1e-5)
        model.close()


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(pg.ShapeError, match=r"needs two dimensions, not \(3,\)"):
        value_of("orthogonal", 3)
    with pytest.raises(pg.ShapeError, match="an identity matrix has two dimensions"):
        value_of("identity", 3, 3, 3)
    with pytest.raises(ValueError, match="mode of VarianceScaling must be one of fan_in"):
        nn.VarianceScaling(mode="fan")
    with pytest.raises(ValueError, match="scale of VarianceScaling must be positive"):
        nn.VarianceScaling(0.0)


def test_alternative_names_of_layers_are_accepted() -> None:
    assert nn.MaxPooling2D is nn.MaxPool2D
    assert nn.AveragePooling2D is nn.AveragePool2D
    assert nn.MultiHeadAttention(num_heads=2, key_dim=3).get_config()["num_heads"] == 2
