"""Batch normalization: training, and its moving averages."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
random = np.random.default_rng(4)
X = random.normal(3.0, 2.0, size=(12, 5)).astype(np.float32)
IMAGES = random.normal(-1.0, 3.0, size=(6, 4, 3, 2)).astype(np.float32)


def normalized(*layers: nn.Layer, device: str = "cpu", rate: float = 0.1) -> pg.Sequential:
    model = pg.Sequential(layers)
    model.compile(pg.optim.SGD(rate), "mse", device=device)
    return model


@pytest.mark.parametrize(("axis", "others"), [(-1, (0, 1, 2)), (1, (0, 2, 3))])
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_training_normalizes_by_the_batch(device: str, axis: int, others: tuple[int, ...]) -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input(IMAGES.shape[1:])
        y = nn.BatchNormalization(axis)(x, training=True)
    with pg.Session(graph, device) as session:
        result = session.run(y, {x: IMAGES})
    mean = IMAGES.mean(others, keepdims=True)
    expected = (IMAGES - mean) / np.sqrt(IMAGES.var(others, keepdims=True) + 1e-3)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_a_small_variance_beside_a_large_mean_survives() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input((1,))
        y = nn.BatchNormalization(epsilon=0.0)(x, training=True)
    values = np.array([[4096.0], [4096.5], [4097.0], [4096.5]], np.float32)
    with pg.Session(graph, "cpu") as session:
        result = session.run(y, {x: values})
    np.testing.assert_allclose(result[:, 0], [-np.sqrt(2), 0, np.sqrt(2), 0], atol=1e-3)


@pytest.mark.parametrize("whole_fit", [True, False])
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_moving_averages_follow_the_batches(device: str, whole_fit: bool) -> None:
    model = normalized(nn.BatchNormalization(momentum=0.75), nn.Dense(1), device=device)
    if whole_fit:
        model.fit(X, X[:, :1], batch_size=12, epochs=2, verbose=0)
    else:
        for _ in range(2):
            model.train_on_batch(X, X[:, :1])
    weights = model.named_weights()
    kept = 0.75**2
    for name, start, moment in (("mean", 0, X.mean(0)), ("variance", 1, X.var(0))):
        expected = start * kept + moment * (1 - kept)
        average = weights[f"batch_normalization_1/moving_{name}"]
        np.testing.assert_allclose(average, expected, rtol=1e-5)
    before = model.named_weights()
    prediction, _ = model.predict(X), model.evaluate(X, X[:, :1])
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, before[name])  # read, but not updated
    w = {name.rpartition("/")[2]: value for name, value in weights.items()}
    factor = w["gamma"] / np.sqrt(w["moving_variance"] + 1e-3)
    hidden = (X - w["moving_mean"]) * factor + w["beta"]
    expected = hidden @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    np.testing.assert_allclose(prediction, expected, rtol=1e-4, atol=1e-5)
    model.close()


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_a_failed_step_leaves_the_averages_unchanged(device: str) -> None:
    model = normalized(nn.BatchNormalization(), nn.Dense(1), device=device)
    model.train_on_batch(X, X[:, :1])
    before = model.named_weights()
    targets = np.full((12, 1), 3e38, np.float32)  # finite, unlike their squares
    with pytest.raises(pg.NonFiniteError):
        model.fit(X, targets, batch_size=12, epochs=3, verbose=0)
    with pytest.raises(pg.NonFiniteError):
        model.train_on_batch(X, targets)
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    model.close()


def test_a_shared_layer_is_updated_by_each_of_its_calls() -> None:
    with pg.Graph().as_default():
        a, b = pg.Input((5,)), pg.Input((5,))
        shared = nn.BatchNormalization(momentum=0.5)
        model = pg.Model([a, b], nn.Add()(shared(a), shared(b)))
    model.compile("sgd", "mse", device="cpu")
    model.train_on_batch([X, X + 8], X)
    moving = model.named_weights()["batch_normalization_1/moving_mean"]
    np.testing.assert_allclose(moving, 0.25 * X.mean(0) + 0.5 * (X.mean(0) + 8), rtol=1e-5)


def test_normalization_weights_are_summarized_and_saved() -> None:
    model = normalized(nn.Dense(3), nn.BatchNormalization(scale=False), nn.Dense(1))
    model.build((5,))
    assert [name for name in model.named_variables if "normalization" in name] == [
        "batch_normalization_1/beta",
        "batch_normalization_1/moving_mean",
        "batch_normalization_1/moving_variance",
    ]
    assert len(model.trainable_variables) == 5
    lines: list[str] = []
    model.summary(lines.append)
    assert "batch_normalization_1 (BatchNormalization)  (?, 3)                 9" in lines[0]
    assert lines[0].endswith("31 parameters, 25 of them trainable")
    model.fit(X, X[:, :1], verbose=0)
    for format in ("safetensors", "npz"):
        file = io.BytesIO()
        model.save_weights(file, format)
        twin = pg.Sequential.from_config(model.get_config())
        twin.compile(device="cpu")
        twin.build((5,))
        twin.load_weights(file.getvalue())
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "kind", [nn.BatchNormalization, nn.LayerNormalization, nn.GroupNormalization]
)
def test_initializers_and_regularizers_apply_to_normalization(kind: Any) -> None:
    more: dict[str, Any] = {"groups": 1} if kind is nn.GroupNormalization else {}
    if kind is nn.BatchNormalization:
        more = {"moving_mean_initializer": nn.Constant(3), "moving_variance_initializer": "zeros"}
    layer = kind(
        beta_initializer=nn.Constant(2),
        gamma_initializer=nn.Constant(-4),
        beta_regularizer=nn.L1(0.5),
        gamma_regularizer="l2",
        **more,
    )
    twin = type(layer).from_config(layer.get_config())
    model = normalized(twin)
    model.build((5,))
    weights = {name.rpartition("/")[2]: value for name, value in model.named_weights().items()}
    starts = {"gamma": -4, "beta": 2}
    if kind is nn.BatchNormalization:
        starts |= {"moving_mean": 3, "moving_variance": 0}
    for name, start in starts.items():
        np.testing.assert_array_equal(weights[name], np.full(5, start), err_msg=name)
    with model.graph.as_default():
        penalties = [penalty.numpy() for penalty in model.losses]
    np.testing.assert_allclose(sorted(penalties), [0.01 * 16 * 5, 0.5 * 2 * 5], rtol=1e-6)


@pytest.mark.parametrize(("synchronized", "forward", "backward"), [(True, 4, 2), (False, 2, 0)])
def test_replicas_average_only_the_necessary_statistics(
    synchronized: bool, forward: int, backward: int
) -> None:
    """Synchronized layers share the moments and their gradients, others only the values that update
    the moving averages."""
    model = normalized(nn.Dense(2), nn.BatchNormalization(synchronized=synchronized), nn.Dense(1))
    model.train_on_batch(X, X[:, :1])
    agreed = [
        node
        for node in model.graph.nodes
        if node.op.name == "cross_replica_mean" and "batch_normalization" in node.name
    ]
    assert len([node for node in agreed if node.phase != "gradient"]) == forward
    assert len([node for node in agreed if node.phase == "gradient"]) == backward
