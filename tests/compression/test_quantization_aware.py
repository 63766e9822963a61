"""Training with the rounding of integers, which the network of integers then has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.compression.networks import NETWORKS, network


@pytest.mark.parametrize("name", NETWORKS)
def test_the_network_of_integers_is_the_one_that_was_trained(name: str, tmp_path: Path) -> None:
    model, x = network(name)
    y = model.predict(x)[::-1].copy()
    before = model.named_weights()
    aware = pg.quantization_aware(model, x)
    untrained = aware.named_weights()
    aware.compile(pg.optim.Adam(3e-3), "mse", device="cpu")
    history = aware.fit(x, y, batch_size=8, epochs=4, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    trained = aware.named_weights()
    assert any(not np.array_equal(untrained[key], trained[key]) for key in untrained)
    small = pg.quantize(aware)
    last = next(layer for layer in small.layers if layer.kind == "dequantize")
    difference = np.abs(small.predict(x) - aware.predict(x)) / last.scale
    assert difference.max() <= 1.001
    assert (difference > 0.5).mean() < 0.01
    after = model.named_weights()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    file = tmp_path / "aware.safetensors"
    aware.save_weights(file)
    again = pg.quantize(pg.load_model(file))
    assert np.array_equal(again.predict(x), small.predict(x))


def test_without_data_the_first_batch_sets_the_ranges() -> None:
    model, x = network("dense")
    aware = pg.quantization_aware(model)
    with pytest.raises(pg.DataError, match="no data to find the ranges"):
        pg.quantize(aware)
    aware.train_on_batch(x, model.predict(x))
    small = pg.quantize(aware)
    assert np.allclose(small.predict(x), aware.predict(x), atol=small.layers[-1].scale * 1.001)


def test_weights_of_four_bits_stay_those_of_the_training() -> None:
    model, x = network("dense")
    aware = pg.quantization_aware(model, x, bits=4)
    small = pg.quantize(aware)
    kernel = small.named_weights()["dense_2/kernel"]
    assert np.abs(kernel).max() == 7
    assert {row.form for row in small.report().layers if row.name == "dense_2"} == {"int4"}
    assert np.allclose(small.predict(x), aware.predict(x), atol=small.layers[-1].scale * 1.001)


def test_frozen_ranges_stay_while_weights_are_trained() -> None:
    model, x = network("dense")
    aware = pg.quantization_aware(model, x, momentum=0.5)
    for layer in aware.layers:
        if isinstance(layer, nn.FakeQuantize):
            layer.trainable = False
    before = aware.named_weights()
    aware.fit(3 * x, model.predict(x), epochs=2, verbose=0)
    after = aware.named_weights()
    changed = {key for key in before if not np.array_equal(before[key], after[key])}
    assert changed
    assert not any(key.startswith("fake_quantize") for key in changed)


def test_bad_arguments_are_refused() -> None:
    model, x = network("dense")
    with pytest.raises(pg.ShapeError, match="2 to 8 bits, got 9"):
        pg.quantization_aware(model, x, bits=9)
    with pytest.raises(pg.GraphError, match="has FakeQuantize layers already"):
        pg.quantization_aware(pg.quantization_aware(model, x))
    with pytest.raises(pg.GraphError, match="is quantized already"):
        pg.quantization_aware(pg.quantize(model, x))
    with pytest.raises(pg.GraphError, match="is not built"):
        pg.quantization_aware(pg.Sequential([nn.Dense(2)]))
    coarse = pg.Sequential([pg.Input((3,)), nn.FakeQuantize(4), nn.Dense(2)])
    with pytest.raises(pg.GraphError, match="rounds to 4 bits"):
        pg.quantize(coarse, np.ones((4, 3), np.float32))


@pytest.mark.parametrize("kind", [pg.parallel.DataParallel, pg.parallel.Pipeline])
def test_strategies_train_with_rounding(kind: type[pg.parallel.DataParallel]) -> None:
    model, x = network("dense")
    y = model.predict(x)[::-1].copy()
    aware = pg.quantization_aware(model, x)
    aware.compile(pg.optim.SGD(1e-2), "mse", device="cpu", strategy=kind(["cpu:0", "cpu:1"]))
    before = aware.named_weights()
    aware.fit(x, y, batch_size=8, epochs=2, verbose=0)
    after = aware.named_weights()
    assert before["fake_quantize_2/high"] != after["fake_quantize_2/high"]
    small = pg.quantize(aware)
    assert np.allclose(small.predict(x), aware.predict(x), atol=small.layers[-1].scale * 1.001)


@pytest.mark.parametrize("folded", [False, True])
def test_zeros_and_shared_values_stay_while_rounding_is_trained(folded: bool) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(32, 6, 6, 4)).astype(np.float32)
    normalization = [nn.BatchNormalization()] if folded else []
    layers = [nn.SeparableConv2D(6, 3), *normalization, nn.ReLU(), nn.Flatten(), nn.Dense(3)]
    model = pg.Sequential([pg.Input((6, 6, 4)), *layers])
    model.compile(pg.optim.Adam(0.01, weight_decay=0.1, use_ema=True), "mse")
    small = pg.cluster(pg.prune(model, 0.6), 4)
    aware = pg.quantization_aware(small, x)
    before = {key: value for key, value in aware.named_weights().items() if value.ndim > 1}
    assert sum((value == 0).sum() for value in before.values()) > 100
    aware.fit(x, random.normal(size=(32, 3)), batch_size=8, epochs=3, verbose=0)
    for key, old in before.items():
        new = aware.named_weights()[key]
        assert (new != old).any()
        np.testing.assert_array_equal(new == 0, old == 0)
        is_scaled = folded and "separable" in key and "depthwise" not in key
        assert is_scaled or len(np.unique(new)) == len(np.unique(old)) <= 5


def test_sparsity_grows_on_while_rounding_is_trained() -> None:
    model, x = network("dense")
    model.compile("adam", "mse")
    small = pg.prune(model, 0.8, pg.PolynomialSparsity(steps=4, every=2))
    aware = pg.quantization_aware(small, x)
    aware.fit(x, model.predict(x), batch_size=8, epochs=8, verbose=0)
    kernels = [value for value in aware.named_weights().values() if value.ndim > 1]
    zeros, count = sum((k == 0).sum() for k in kernels), sum(k.size for k in kernels)
    assert zeros == pytest.approx(0.8 * count, abs=1)
