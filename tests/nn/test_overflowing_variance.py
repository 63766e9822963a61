"""Normalization of numbers whose variance is out of range: NaN, never a silent 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.ops.reductions.statistics import inverse_deviation
from tests.drivers.careless import careless_gpu

Array = np.ndarray[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ROWS = np.array([[1e20, -3e20, 2, 5], [1, -3, 2, 5], [5e19, 0, 0, 0], [2, 2, 2, 3]], np.float32)
"""The squares of the first and the third row are beyond float32, the other squares are not."""
HUGE = np.array([True, False, True, False])


def batch(layer: nn.Layer, training: bool = True) -> Callable[[pg.Tensor], pg.Tensor]:
    """Return batch normalization of the rows as channels."""
    return lambda x: pg.transpose(layer(pg.transpose(x), training=training))


def in_shape(layer: nn.Layer, *shape: int) -> Callable[[pg.Tensor], pg.Tensor]:
    return lambda x: pg.reshape(layer(pg.reshape(x, [-1, *shape])), [-1, 4])


def former_moments(x: pg.Tensor) -> pg.Tensor:
    """Return batch normalization by moving averages, of which some are infinite."""
    variances = np.where(HUGE, np.inf, 4.0).tolist()
    return batch(nn.BatchNormalization(moving_variance_initializer=Fixed(variances)), False)(x)


class Fixed(nn.Initializer):
    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __call__(self, shape: Any, seed: Any = None, dtype: Any = "float32") -> Array:
        return np.array(self.values, np.float32)


NORMALIZATIONS: dict[str, Callable[[pg.Tensor], pg.Tensor]] = {
    "operation": lambda x: pg.layer_normalization(x, np.ones(4, "f"), np.zeros(4, "f")),
    "layer": lambda x: nn.LayerNormalization()(x),
    "layer without scale": lambda x: nn.LayerNormalization(center=False, scale=False)(x),
    "layer along two axes": lambda x: in_shape(nn.LayerNormalization((1, 2)), 2, 2)(x),
    "batch": lambda x: batch(nn.BatchNormalization())(x),
    "batch, synchronized": lambda x: batch(nn.BatchNormalization(synchronized=True))(x),
    "batch, by moving averages": former_moments,
    "features": lambda x: pg.transpose(
        nn.Normalization(mean=[0.0] * 4, variance=np.where(HUGE, np.inf, 4.0))(pg.transpose(x))
    ),
    "group": lambda x: nn.GroupNormalization(1)(x),
    "RMS": lambda x: nn.RMSNormalization()(x),
    "variance": lambda x: x * inverse_deviation(pg.var(x, -1, keepdims=True), 1e-3),
}


@pytest.fixture(scope="module")
def careless() -> Iterator[str]:
    with careless_gpu() as name:
        yield name


def values(function: Callable[[pg.Tensor], pg.Tensor], device: str) -> list[Array]:
    """Return the result, and its gradient by the rows in some direction."""
    with pg.Graph().as_default() as graph, graph.device(device):
        x = pg.placeholder("float32", ROWS.shape)
        y = function(x)
        direction = np.random.default_rng(1).normal(size=ROWS.shape).astype(np.float32)
        (slope,) = pg.gradients(pg.reduce_sum(y * direction), [x])
        assert slope is not None
    with pg.Session(graph, device) as session:
        return list(session.run([y, slope], {x: ROWS}))


def check(name: str, device: str) -> None:
    for value in values(NORMALIZATIONS[name], device):
        np.testing.assert_array_equal(np.isnan(value), np.broadcast_to(HUGE[:, None], value.shape))
        assert np.isfinite(value[~HUGE]).all()
        assert value[~HUGE].any()


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_is_nan(name: str) -> None:
    check(name, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_is_nan_on_a_gpu(name: str, careless: str) -> None:
    """Also where the driver assumes that there is no NaN."""
    check(name, "gpu:0")
    check(name, careless)


def test_fit_reports_it() -> None:
    model = pg.Sequential([nn.LayerNormalization(), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    with pytest.raises(pg.NonFiniteError, match="the loss became NaN at step 1"):
        model.fit(ROWS, ROWS[:, :1] * 0, verbose=0)


def test_an_exported_script_gives_nan(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((4,)), nn.LayerNormalization()])
    model.export(tmp_path / "model.py")
    namespace: dict[str, Any] = {"__name__": "script", "__file__": str(tmp_path / "model.py")}
    exec((tmp_path / "model.py").read_text(), namespace)
    np.testing.assert_allclose(namespace["predict"](ROWS), model.predict(ROWS), 1e-5, 1e-6)
