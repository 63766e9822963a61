"""Networks that lose units and channels, with the layers after them."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.compression.networks import network


def joined() -> pg.Model:
    """A network in which channels are tied, repeated, concatenated and flattened."""
    x = pg.Input((8, 8, 3))
    first = nn.Conv2D(6, 3, padding="same", use_bias=False)(x)
    second = nn.Conv2D(6, 1, use_bias=False)(x)
    total = nn.ReLU()(nn.BatchNormalization(center=False)(nn.Add()([first, second])))
    spread = nn.DepthwiseConv2D(3, depth_multiplier=2)(total)
    both = nn.Concatenate()([nn.MaxPool2D(2)(spread), nn.AveragePool2D(2)(spread)])
    hidden = nn.Dense(8, activation="relu", use_bias=False)(nn.Flatten()(both))
    return pg.Model(x, nn.Dense(3)(hidden))


def test_units_without_weights_leave_the_results_as_they_are() -> None:
    model = joined()
    random = np.random.default_rng(0)
    weights = {
        name: random.uniform(0.5, 1, value.shape).astype(np.float32)
        for name, value in model.named_weights().items()
    }
    for name in ("conv2d_1/kernel", "conv2d_2/kernel"):
        weights[name][..., [1, 4, 5]] = 0
    weights["batch_normalization_1/moving_mean"][:] = 0
    weights["depthwise_conv2d_1/bias"][:] = 0
    weights["dense_1/kernel"][:, [0, 3, 5, 6]] = 0
    model.set_weights(weights)
    small = pg.prune(model, 0.5, structured=True)
    shapes = {name: value.shape for name, value in small.named_weights().items()}
    assert shapes["conv2d_1/kernel"] == (3, 3, 3, 3)
    assert shapes["depthwise_conv2d_1/kernel"] == (3, 3, 3, 2)
    assert shapes["dense_1/kernel"] == (3 * 3 * 12, 4) and shapes["dense_2/kernel"] == (4, 3)
    x = random.normal(size=(5, 8, 8, 3)).astype(np.float32)
    np.testing.assert_allclose(small.predict(x), model.predict(x), rtol=1e-5)
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, weights[name])
    report = small.report()
    assert report.multiply_adds < 0.6 * report.multiply_adds_before


@pytest.mark.parametrize("name", ["dense", "sequences", "branches", "words"])
def test_a_narrow_network_is_trained_saved_and_quantized(name: str, tmp_path) -> None:
    model, x = network(name)
    small = pg.prune(model, 0.5, structured=True)
    assert small.count_params() < model.count_params()
    y = np.zeros_like(model.predict(x))
    first, *_, last = small.fit(x, y, epochs=4, verbose=0).history["loss"]
    assert last < first
    small.save_weights(tmp_path / "narrow.safetensors")
    loaded = pg.load_model(tmp_path / "narrow.safetensors")
    np.testing.assert_allclose(loaded.predict(x), small.predict(x), rtol=1e-5, atol=1e-6)
    if name == "dense":
        assert pg.quantize(small, x).predict(x).shape == y.shape


def test_layers_that_cannot_become_narrower_are_named() -> None:
    model, _ = network("images")
    with pytest.raises(pg.GraphError, match="'conv2d_1' is followed by 'conv2d_2'"):
        pg.prune(model, 0.5, structured=True)
    model, _ = network("words")
    assert "is followed by 'permute_1'" in str(pg.prune(model, 0.5, structured=True).report())


def test_one_unit_stays() -> None:
    model, x = network("dense")
    small = pg.prune(model, 0.999, structured=True)
    assert small.get_layer("dense_1").kernel.shape == (3, 1)
    assert small.predict(x).shape == (24, 4)


def test_senseless_arguments() -> None:
    model, x = network("dense")
    schedule = pg.PolynomialSparsity(100)
    with pytest.raises(pg.GraphError, match="units are removed at once"):
        pg.prune(model, 0.5, schedule, structured=True)
    with pytest.raises(pg.GraphError, match="clustered"):
        pg.prune(pg.cluster(model, 4), 0.5, structured=True)
    with pytest.raises(pg.GraphError, match="quantized already"):
        pg.prune(pg.quantize(model, x), 0.5, structured=True)


def test_units_before_a_softmax_go_and_those_with_it_stay() -> None:
    layers = [nn.Dense(8, activation="relu"), nn.Dense(6, activation="softmax")]
    model = pg.Sequential([pg.Input((4,)), *layers, nn.Dense(5), nn.Dense(3, activation="softmax")])
    weights = model.named_weights()
    weights["dense_1/kernel"][:, [0, 3, 5, 6]] = 0
    weights["dense_3/kernel"][:, [1, 4]] = 0
    model.set_weights(weights)
    small = pg.prune(model, 0.4, structured=True)
    shapes = {name: value.shape for name, value in small.named_weights().items()}
    assert shapes["dense_1/kernel"] == (4, 5) and shapes["dense_2/kernel"] == (5, 6)
    assert shapes["dense_3/kernel"] == (6, 3) and shapes["dense_4/kernel"] == (3, 3)
    x = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    np.testing.assert_allclose(small.predict(x), model.predict(x), rtol=1e-5)
    reasons = {row.name: row.reason for row in small.report().layers if row.reason}
    assert reasons == {
        "dense_2": "has an activation that needs all of its results, so it keeps its width"
    }
