"""`pg.inspect`: weights, results of layers, and silenced units, without an effect on the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.graph.graph import reset_default_graph
from playgrad.inspection.compare import relative_change
from playgrad.inspection.weights import MOST_INPUTS, MOST_SIDE, MOST_UNITS, picture, statistics

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(7)
IMAGES = RNG.normal(size=(300, 12, 12, 1)).astype(np.float32)
CLASSES = RNG.integers(0, 3, 300).astype(np.int32)


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    yield
    reset_default_graph()


def network(seed: int = 3) -> pg.Sequential:
    with pg.Graph(seed).as_default():
        model = pg.Sequential(
            [
                nn.Conv2D(4, 3, activation="relu"),
                nn.BatchNormalization(),
                nn.Dropout(0.5),
                nn.Flatten(),
                nn.Dense(8, activation="relu"),
                nn.Dense(3),
            ]
        )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, metrics=["accuracy"], device="cpu")
    return model


def trained() -> pg.Sequential:
    model = network()
    model.fit(IMAGES, CLASSES, batch_size=32, epochs=2, verbose=0)
    return model


def test_layers_have_the_statistics_of_their_weights() -> None:
    model = trained()
    look = pg.inspect(model)
    names = ["conv2d_1", "batch_normalization_1", "dropout_1", "flatten_1", "dense_1", "dense_2"]
    assert [layer.name for layer in look.layers] == names
    assert [layer.parameters for layer in look.layers] == [40, 16, 0, 0, 3208, 27]
    dense = look.layers[4]
    assert (dense.kind, dense.shape) == ("Dense", (None, 8))
    kernel = model.named_weights()["dense_1/kernel"]
    seen = dense.weights[0]
    assert (seen.name, seen.shape) == ("kernel", (400, 8))
    assert seen.mean == pytest.approx(kernel.mean(), abs=1e-6)
    assert seen.deviation == pytest.approx(kernel.std(), rel=1e-5)
    assert (seen.smallest, seen.largest) == (kernel.min(), kernel.max())
    assert seen.norm == pytest.approx(np.linalg.norm(kernel), rel=1e-5)
    for name in [*names, "Conv2D", "(400, 8)", f"{seen.largest:.4g}"]:
        assert name in str(look)


def test_activations_match_the_outputs_of_each_layer() -> None:
    model = trained()
    weights = model.named_weights()
    seen = pg.inspect(model).activations(IMAGES[:300])
    assert np.array_equal(seen["dropout_1"], seen["batch_normalization_1"])  # as `predict` does
    np.testing.assert_allclose(seen["dense_2"], model.predict(IMAGES), rtol=1e-4, atol=1e-5)
    hidden = seen["flatten_1"] @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    np.testing.assert_allclose(seen["dense_1"], np.maximum(hidden, 0), rtol=1e-4, atol=1e-5)
    middle = IMAGES[:, 1:4, 2:5, 0].reshape(300, -1) @ weights["conv2d_1/kernel"].reshape(9, 4)
    expected = np.maximum(middle + weights["conv2d_1/bias"], 0)
    np.testing.assert_allclose(seen["conv2d_1"][:, 1, 2], expected, rtol=1e-4, atol=1e-5)


def expect_as_with_scaled_weights(model: Any, look: Any, factors: Array) -> None:
    """Equal are multiplied columns and biases of dense_1, and multiplied rows of dense_2."""
    scores, losses = look.predict(IMAGES), look.evaluate(IMAGES, CLASSES)
    assert not np.allclose(scores, model.predict(IMAGES))
    before = model.named_weights()
    for changes in (("dense_1/kernel", "dense_1/bias"), ("dense_2/kernel",)):
        weights = {name: value.copy() for name, value in before.items()}
        for name in changes:
            weights[name] *= factors[:, None] if name == "dense_2/kernel" else factors
        model.set_weights(weights)
        np.testing.assert_allclose(scores, model.predict(IMAGES), rtol=1e-4, atol=1e-5)
        loss, accuracy = model.evaluate(IMAGES, CLASSES, verbose=0)
        assert losses == {
            "loss": pytest.approx(loss, rel=1e-4), "accuracy": pytest.approx(accuracy)
        }  # fmt: skip
    model.set_weights(before)


def test_silencing_a_neuron_equals_zeroing_its_weights() -> None:
    model = trained()
    look = pg.inspect(model).silenced({"dense_1": [1, 6]})
    assert (look.activations(IMAGES)["dense_1"][:, [1, 6]] == 0).all()
    expect_as_with_scaled_weights(model, look, np.array([1, 0, 1, 1, 1, 1, 0, 1], np.float32))


def test_scaling_a_neuron_equals_scaling_its_weights() -> None:
    model = trained()
    look = pg.inspect(model).scaled({"dense_1": {1: 2.5, 6: 0}})
    factors = np.array([1, 2.5, 1, 1, 1, 1, 0, 1], np.float32)
    seen, whole = (each.activations(IMAGES)["dense_1"] for each in (look, pg.inspect(model)))
    np.testing.assert_allclose(seen, whole * factors, rtol=1e-6)
    expect_as_with_scaled_weights(model, look, factors)


def test_a_silenced_channel_is_zero_at_every_position() -> None:
    model = trained()
    first = pg.inspect(model).silenced({"conv2d_1": [2]})
    both = first.silenced({"dense_1": [0], "dense_2": [1]})
    seen = both.activations(IMAGES[:20])
    assert (seen["conv2d_1"][..., 2] == 0).all() and (seen["conv2d_1"][..., 1] != 0).any()
    weights = model.named_weights()
    hidden = seen["flatten_1"] @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    hidden = np.maximum(hidden, 0)
    hidden[:, 0] = 0
    np.testing.assert_allclose(seen["dense_1"], hidden, rtol=1e-4, atol=1e-5)
    assert (both.predict(IMAGES[:20])[:, 1] == 0).all()
    assert "scaled: conv2d_1: {2: 0.0}, dense_1: {0: 0.0}, dense_2: {1: 0.0}" in str(both)


def test_factors_of_one_unit_are_multiplied_and_zero_silences_it() -> None:
    look = pg.inspect(trained())
    twice = look.scaled({"dense_2": {1: -2}}).scaled({"dense_2": {1: 0.5, 2: 3}})
    expected = look.predict(IMAGES[:9]) * np.array([1, -1, 3], np.float32)
    np.testing.assert_allclose(twice.predict(IMAGES[:9]), expected, rtol=1e-6)
    assert "scaled: dense_2: {1: -1.0, 2: 3.0}" in str(twice)
    silent = twice.silenced({"dense_2": [1]})
    assert np.array_equal(
        silent.predict(IMAGES[:9]), look.scaled({"dense_2": {1: 0, 2: 3}}).predict(IMAGES[:9])
    )
    lost = look.scaled({"dense_1": dict.fromkeys(range(8), 3e38)}).silenced({"dense_2": [1]})
    outputs = lost.predict(IMAGES * 100)
    assert (outputs[:, 1] == 0).all() and not np.isfinite(outputs[:, [0, 2]]).all()


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), 1e39, "2", None])
def test_a_factor_is_a_finite_number(factor: Any) -> None:
    with pytest.raises(pg.GraphError, match=r"a unit of layer 'dense_1' cannot be scaled by"):
        pg.inspect(trained()).scaled({"dense_1": {0: factor}})


def test_a_changed_pixel_is_followed_through_all_layers() -> None:
    """The ratios match results that NumPy computes from the weights."""
    model = trained()
    changed = IMAGES[:4].copy()
    changed[2, 5, 6, 0] += 3
    weights = model.named_weights()

    def by_hand(x: Array) -> dict[str, Array]:
        windows = np.lib.stride_tricks.sliding_window_view(x[..., 0], (3, 3), axis=(1, 2))
        kernel = weights["conv2d_1/kernel"].reshape(9, 4)
        maps = windows.reshape(*windows.shape[:3], 9) @ kernel + weights["conv2d_1/bias"]
        norm = {key: weights[f"batch_normalization_1/{key}"] for key in
                ("gamma", "beta", "moving_mean", "moving_variance")}  # fmt: skip
        conv = np.maximum(maps, 0)
        scale = norm["gamma"] / np.sqrt(norm["moving_variance"] + 1e-3)
        normal = (conv - norm["moving_mean"]) * scale + norm["beta"]
        flat = normal.reshape(len(x), -1)
        dense = np.maximum(flat @ weights["dense_1/kernel"] + weights["dense_1/bias"], 0)
        scores = dense @ weights["dense_2/kernel"] + weights["dense_2/bias"]
        return {"conv2d_1": conv, "batch_normalization_1": normal, "dropout_1": normal,
                "flatten_1": flat, "dense_1": dense, "dense_2": scores}  # fmt: skip

    before, after = by_hand(IMAGES[:4]), by_hand(changed)
    expected = {
        name: np.linalg.norm(after[name] - before[name]) / np.linalg.norm(before[name])
        for name in before
    }
    ratios = pg.inspect(model).compare(IMAGES[:4], changed)
    assert list(ratios) == list(expected)
    assert ratios == pytest.approx(expected, rel=1e-3)
    assert min(ratios.values()) > 0
    assert set(pg.inspect(model).compare(changed, changed).values()) == {0.0}


def test_versions_of_samples_have_one_shape_and_a_change_from_zero_is_infinite() -> None:
    model = trained()
    look = pg.inspect(model)
    with pytest.raises(pg.ShapeError, match=r"changed has shape \(2, 12, 12, 1\), but x has"):
        look.compare(IMAGES[:3], IMAGES[:2])
    zeros = np.zeros((2, 3), np.float32)
    assert relative_change(zeros, zeros) == 0
    assert relative_change(zeros, zeros + 1) == np.inf
    silent = look.silenced({"dense_1": range(8)}).compare(IMAGES[:3], -IMAGES[:3])
    assert silent["dense_1"] == silent["dense_2"] == 0 < silent["conv2d_1"]


def test_inspection_changes_neither_weights_nor_later_training() -> None:
    courses = []
    for looks in (False, True):
        model = network(seed=5)
        model.fit(IMAGES, CLASSES, batch_size=32, epochs=1, verbose=0)
        if looks:
            nodes, before = len(model.graph.nodes), model.named_weights()
            look = pg.inspect(model).silenced({"dense_1": [0, 1, 2], "conv2d_1": [3]})
            look.activations(IMAGES[:5])
            look.evaluate(IMAGES, CLASSES)
            assert len(model.graph.nodes) == nodes
            after = model.named_weights()
            assert all(np.array_equal(before[name], after[name]) for name in before)
        history = model.fit(IMAGES, CLASSES, batch_size=32, epochs=2, verbose=0)
        courses.append((list(history.losses), model.get_weights()))
    (losses, weights), (losses_looked, weights_looked) = courses
    assert losses == losses_looked
    assert all(np.array_equal(a, b) for a, b in zip(weights, weights_looked, strict=True))


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ({"dense_9": [0]}, "no layer 'dense_9'"),
        ({"dense_1": [8]}, "no unit 8.*0 to 7"),
        ({"dense_1": [-1]}, "no unit -1"),
        ({"dense_1": [0.5]}, "no unit 0.5"),
    ],
)
def test_a_wrong_unit_is_refused_with_the_valid_range(
    units: dict[str, list[Any]], message: str
) -> None:
    with pytest.raises(pg.GraphError, match=message):
        pg.inspect(trained()).silenced(units)


def test_a_network_that_draws_random_numbers_is_refused() -> None:
    inputs = pg.Input((4,))
    hidden = nn.Dense(4)(inputs)
    model = pg.Model(inputs, nn.Dense(2)(hidden + pg.random_uniform_like(hidden)))
    with pytest.raises(pg.GraphError, match="draws random numbers"):
        pg.inspect(model).activations(np.ones((1, 4), np.float32))


def test_a_shared_layer_has_a_result_for_each_call_and_is_silenced_in_all() -> None:
    inputs = pg.Input((4,))
    shared = nn.Dense(4, activation="tanh", name="shared")
    model = pg.Model(inputs, nn.Dense(2)(shared(shared(inputs))))
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    seen = pg.inspect(model).silenced({"shared": 2}).activations(x)
    assert list(seen) == ["shared", "shared:2", "dense_1"]
    assert (seen["shared"][:, 2] == 0).all() and (seen["shared:2"][:, 2] == 0).all()
    weights = model.named_weights()
    second = np.tanh(seen["shared"] @ weights["shared/kernel"] + weights["shared/bias"])
    second[:, 2] = 0
    np.testing.assert_allclose(seen["shared:2"], second, rtol=1e-5, atol=1e-6)


def test_a_model_for_batches_of_one_size_takes_any_number_of_samples() -> None:
    inputs = pg.Input((4,), 8)
    model = pg.Model(inputs, nn.Dense(2)(inputs))
    x = RNG.normal(size=(11, 4)).astype(np.float32)
    weights = model.named_weights()
    expected = x @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    np.testing.assert_allclose(pg.inspect(model).predict(x), expected, rtol=1e-5, atol=1e-6)


def test_filters_are_pictures_of_each_pair_of_channels() -> None:
    kernel = RNG.normal(size=(3, 5, 2, 4)).astype(np.float32)
    seen = picture(kernel)
    assert seen is not None and seen.values.shape == (4, 2, 3, 5)
    assert np.array_equal(seen.values[3, 1], kernel[:, :, 1, 3])
    assert seen.norms[3] == pytest.approx(np.linalg.norm(kernel[..., 3]), rel=1e-6)
    large = picture(np.zeros((3, 3, 64, 256), np.float32))
    assert large is not None
    assert large.values.shape == (MOST_UNITS, MOST_INPUTS, 3, 3)
    assert (large.total_units, large.total_inputs) == (256, 64)


def test_dense_kernels_are_pixel_images_or_a_bounded_matrix() -> None:
    kernel = RNG.normal(size=(12, 5)).astype(np.float32)
    image = picture(kernel, (3, 4))
    assert image is not None and image.layout == "filters"
    assert np.array_equal(image.values[2, 0], kernel[:, 2].reshape(3, 4))
    matrix = picture(kernel)
    assert matrix is not None and np.array_equal(matrix.values[0, 0], kernel)
    large = RNG.normal(size=(1000, 300)).astype(np.float32)
    sampled = picture(large)
    assert sampled is not None and sampled.values.shape == (1, 1, MOST_SIDE, MOST_SIDE)
    assert (sampled.total_inputs, sampled.total_units) == (1000, 300)
    rows = np.arange(MOST_SIDE) * 1000 // MOST_SIDE
    assert np.array_equal(sampled.values[0, 0, :, 5], large[rows, sampled.units[5]])
    assert picture(np.zeros((0, 3), np.float32)) is None


def test_statistics_of_lost_weights_are_nan_without_an_error() -> None:
    seen = statistics("kernel", np.array([[1, np.nan]], np.float32))
    assert np.isnan(seen.mean) and seen.zeros == 0
    assert statistics("kernel", np.zeros((2, 2), np.float32)).zeros == 1
