"""Frozen layers and regularizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import GPU_BY_NIGHT, X, Y

Array = np.ndarray[Any, Any]


def model_of(*layers: nn.Layer, strategy: Any = None, device: str = "cpu") -> pg.Sequential:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential(list(layers))
        model.compile(pg.optim.Adam(0.05), "mse", device=device, strategy=strategy)
        model.build((4,))
    return model


def moved(model: pg.Sequential, steps: int = 2) -> list[str]:
    before = model.named_weights()
    model.fit(X, Y, 25, steps, 0)
    after = model.named_weights()
    return [name for name, value in after.items() if np.any(value != before[name])]


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_a_frozen_layer_does_not_move(device: str) -> None:
    model = model_of(nn.Dense(3, activation="tanh"), nn.Dense(1), device=device)
    model.layers[0].trainable = False
    assert sorted(moved(model)) == ["dense_2/bias", "dense_2/kernel"]
    assert [v.variable_name for v in model.trainable_variables] == [
        "dense_2/kernel",
        "dense_2/bias",
    ]
    assert model.optimizer is not None
    slots = [v.variable_name for v in model.optimizer.variables]
    assert not any("dense_1" in name for name in slots)
    phases = {node.name for node in model.graph.nodes if node.phase == "gradient"}
    assert phases and not any("dense_1" in name for name in phases)
    model.layers[0].trainable = True  # even after training: the next fit follows it
    assert len(moved(model)) == 4
    model.trainable = False
    assert not model.trainable
    with pytest.raises(pg.GraphError, match=r"any of the variables.*Set trainable = True"):
        model.fit(X, Y, verbose=0)
    model.close()


def test_train_on_batch_respects_frozen_layers() -> None:
    model = model_of(nn.Dense(3), nn.Dense(1))
    for frozen in (0, 1):
        model.trainable = True
        model.layers[frozen].trainable = False
        before = model.named_weights()
        model.train_on_batch(X, Y)
        after = model.named_weights()
        changed = {name[:7] for name in after if np.any(after[name] != before[name])}
        assert changed == {f"dense_{2 - frozen}"}
    model.close()


def test_summary_counts_frozen_weights() -> None:
    model = model_of(nn.Dense(3), nn.BatchNormalization(), nn.Dense(1))
    lines: list[str] = []
    model.layers[0].trainable = False
    model.summary(lines.append)
    assert "31 parameters, 10 of them trainable" in lines[0]
    model.layers[0].trainable = True
    model.layers[1].trainable = False
    model.layers[1].trainable = True  # the moving averages stay as they were
    assert len(model.trainable_variables) == 6
    model.close()


def test_a_frozen_batch_normalization_keeps_its_averages() -> None:
    model = model_of(nn.Dense(3), nn.BatchNormalization(), nn.Dense(1))
    model.layers[1].trainable = False
    assert not any("batch_normalization" in name for name in moved(model))
    # It normalizes by them in training too: the loss of a step equals that of an evaluation.
    expected = model.evaluate(X, Y)
    np.testing.assert_allclose(model.train_on_batch(X, Y), expected, rtol=1e-5)
    model.close()


def test_a_layer_frozen_before_building_stays_frozen_in_copies() -> None:
    layer = nn.Dense(3)
    layer.trainable = False
    model = model_of(layer, nn.Dense(1))
    assert layer.get_config()["trainable"] is False
    assert not nn.Dense.from_config(layer.get_config()).trainable
    twin = model.clone()
    assert not twin.layers[0].trainable
    assert len(moved(twin)) == len(moved(model)) == 2
    model.close()
    twin.close()


def test_minimize_without_variables_leaves_out_frozen_layers() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.constant(np.ones((1, 2), np.float32))
        frozen, free = nn.Dense(2), nn.Dense(1)
        y = free(frozen(x))
        frozen.trainable = False
        update = pg.optim.SGD(0.1).minimize(pg.reduce_sum(y))
    with pg.Session(graph, "cpu") as session:
        before = session.value(frozen.variables["kernel"])
        session.run(update)
        np.testing.assert_array_equal(session.value(frozen.variables["kernel"]), before)


def regularized() -> list[nn.Layer]:
    return [
        nn.Dense(3, "tanh", kernel_regularizer="l2", bias_regularizer=nn.L1(0.1)),
        nn.Dense(1, kernel_regularizer=nn.L1L2(0.02, 0.03)),
    ]


def penalty(weights: dict[str, Array]) -> float:
    first, last = weights["dense_1/kernel"], weights["dense_2/kernel"]
    return float(
        0.01 * (first**2).sum()
        + 0.1 * abs(weights["dense_1/bias"]).sum()
        + 0.02 * abs(last).sum()
        + 0.03 * (last**2).sum()
    )


def test_penalties_are_part_of_the_loss() -> None:
    model = model_of(*regularized())
    model.fit(X, Y, 25, 1, 0)
    weights = model.named_weights()
    error = float(((model.predict(X)[:, 0] - Y) ** 2).mean())
    expected = error + penalty(weights)
    np.testing.assert_allclose(model.evaluate(X, Y), expected, rtol=1e-5)
    np.testing.assert_allclose(model.train_on_batch(X, Y), expected, rtol=1e-5)
    model.close()


def test_penalties_of_results_are_means_over_samples() -> None:
    """As in Keras: the sum over the batch, divided by its size."""
    model = model_of(nn.Dense(3, activity_regularizer=nn.L1L2(0.1, 0.2)), nn.Dense(1))
    model.fit(X, Y, 25, 1, 0)
    weights = model.named_weights()
    hidden = X @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    error = float(((model.predict(X)[:, 0] - Y) ** 2).mean())
    expected = error + (0.1 * np.abs(hidden) + 0.2 * hidden**2).sum(axis=1).mean()
    for batch_size in (50, 7):  # the last batch of 7 is filled up
        np.testing.assert_allclose(model.evaluate(X, Y, batch_size), expected, rtol=1e-5)
    np.testing.assert_allclose(model.train_on_batch(X, Y), expected, rtol=1e-5)
    model.close()


@pytest.mark.parametrize("layer", [nn.Conv2D, nn.Conv2DTranspose, nn.DepthwiseConv2D])
def test_penalties_of_results_train(layer: Any) -> None:
    size = (2, 1) if layer is not nn.DepthwiseConv2D else (1,)
    small = layer(*size, use_bias=False, activity_regularizer="l2")
    small = layer.from_config(small.get_config())
    model = pg.Sequential([small, nn.Flatten(), nn.Dense(1)])
    model.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    images = np.ones((4, 2, 2, 1), np.float32)
    model.fit(images, np.zeros(4), epochs=3, verbose=0)
    model.layers[2].trainable = False
    model.set_weights([w * (i == 0) for i, w in enumerate(model.get_weights())])
    before = np.abs(model.get_weights()[0]).sum()
    model.fit(images, np.zeros(4), epochs=3, verbose=0)
    assert 0 < np.abs(model.get_weights()[0]).sum() < before
    model.close()


def test_unsupported_activity_regularizers_are_refused() -> None:
    @dataclass(frozen=True)
    class Largest(nn.Regularizer):
        def __call__(self, weight: pg.Tensor) -> pg.Tensor:
            return pg.reduce_max(weight)

    model = model_of(nn.Dense(3, activity_regularizer=Largest()), nn.Dense(1))
    with pytest.raises(pg.GraphError, match="Largest cannot be an activity_regularizer"):
        model.fit(X, Y, verbose=0)


def test_penalties_shrink_weights() -> None:
    model = model_of(nn.Dense(1, use_bias=False, kernel_regularizer=nn.L2(0.5)))
    model.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    zeros = np.zeros_like(X)
    before = model.named_weights()["dense_1/kernel"]
    model.fit(zeros, np.zeros(50), 50, 3, 0)
    # The gradient of 0.5 * w**2 is w.
    np.testing.assert_allclose(model.named_weights()["dense_1/kernel"], before * 0.9**3, rtol=1e-5)
    model.close()


@pytest.mark.parametrize("strategy", [pg.parallel.DataParallel(2), pg.parallel.Pipeline(2, 2)])
def test_penalties_and_frozen_layers_agree_on_several_devices(strategy: Any) -> None:
    losses = []
    for used in (None, strategy):
        active = nn.Dense(2, activity_regularizer=nn.L2(0.1))
        model = model_of(*regularized(), active, nn.Dense(1), strategy=used)
        model.layers[2].trainable = False
        losses.append(model.fit(X, Y, 10, 2, 0).losses)
        model.close()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)


def test_regularizers_are_named_and_saved() -> None:
    config = regularized()[1].get_config()
    assert config["kernel_regularizer"] == {"kind": "l1_l2", "l1": 0.02, "l2": 0.03}
    assert nn.Dense.from_config(config).kernel_regularizer == nn.L1L2(0.02, 0.03)
    with pytest.raises(pg.GraphError, match=r"no regularizer 'l3'.*l1, l2, l1_l2"):
        nn.Conv2D(2, 3, kernel_regularizer="l3")
    with pytest.raises(ValueError, match="l2 of L2 must be a number of at least 0, got -1"):
        nn.L2(-1)


@pytest.mark.parametrize(
    ("layer", "shape", "names"),
    [
        (nn.Conv1D, (6, 2), ["kernel", "bias"]),
        (nn.Conv2D, (6, 6, 2), ["kernel", "bias"]),
        (nn.Conv2DTranspose, (3, 3, 2), ["kernel", "bias"]),
        (nn.DepthwiseConv2D, (6, 6, 2), ["depthwise", "bias"]),
        (nn.SeparableConv2D, (6, 6, 2), ["depthwise", "pointwise", "bias"]),
        (nn.Embedding, (6,), ["embeddings"]),
    ],
)
def test_each_weight_has_its_regularizer(layer: Any, shape: Any, names: list[str]) -> None:
    factors = {f"{name}_regularizer": nn.L1(2.0**n) for n, name in enumerate(names)}
    starts = {f"{name}_initializer": "ones" for name in names}
    filters = {"depthwise_conv2d": (3,), "embedding": (7, 3)}.get(layer.kind, (4, 3))
    model = pg.Sequential([pg.Input(shape), layer(*filters, **factors, **starts)])
    penalties = [float(one.numpy()) for one in model.losses]
    sizes = [weight.size for weight in model.get_weights()]
    assert penalties == [2.0**n * size for n, size in enumerate(sizes)] and len(sizes) == len(names)
    copy = layer.from_config(model.layers[0].get_config())
    assert all(getattr(copy, name) == factor for name, factor in factors.items())
    model.close()
