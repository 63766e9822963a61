"""Layers that change images at random in training, against NumPy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import ShapeError
from tests.nn.small_models import DEVICES, GPU_BY_NIGHT, Array

IMAGES = np.random.default_rng(2).uniform(0, 255, (3, 4, 6, 2)).astype(np.float32)


def trained(layer: nn.Layer, device: str = "cpu", images: Array = IMAGES) -> Array:
    """Return the images as a training step sees them; the batch is not known beforehand."""
    with pg.Graph(seed=3).as_default():
        x = pg.placeholder("float32", (None, *images.shape[1:]))
        y = layer(x, training=True)
        with pg.Session(device=device) as session:
            result: Array = session.run(y, {x: images})
            return result


def mapped(index: Array, size: int, mode: str) -> Array:
    if mode == "wrap":
        return index % size
    if mode == "reflect":
        return np.minimum(index % (2 * size), 2 * size - 1 - index % (2 * size))
    return index.clip(0, size - 1)


def warped(
    places: Callable[[Array, Array], tuple[Array, Array]],
    mode: str = "reflect",
    nearest: bool = False,
) -> Array:
    """Return images sampled pixel by pixel at other places."""
    _, height, width, _ = IMAGES.shape
    cy, cx = (height - 1) / 2, (width - 1) / 2
    result = np.zeros(IMAGES.shape, np.float64)

    def at(row: int, column: int) -> Array:
        if mode == "constant" and not (0 <= row < height and 0 <= column < width):
            return np.full((3, 2), 7.0)
        r, c = mapped(np.array(row), height, mode), mapped(np.array(column), width, mode)
        return IMAGES[:, r, c].astype(np.float64)

    for i in range(height):
        for j in range(width):
            y, x = places(np.float64(i - cy), np.float64(j - cx))
            y, x = y + cy, x + cx
            if nearest:
                result[:, i, j] = at(math.floor(y + 0.5), math.floor(x + 0.5))
                continue
            top, left = math.floor(y), math.floor(x)
            for r, wy in ((top, top + 1 - y), (top + 1, y - top)):
                for c, wx in ((left, left + 1 - x), (left + 1, x - left)):
                    result[:, i, j] += at(r, c) * wy * wx
    return result


@pytest.mark.slow
def test_a_batch_may_have_more_pixels_than_float32_counts() -> None:
    images = np.zeros((60, 543, 543, 1), np.float32)  # over 2**24
    images[:] = np.arange(543**2, dtype=np.float32).reshape(543, 543, 1) % 1024
    layer = nn.RandomTranslation((0.0, 0.0), (0.0, 0.0), interpolation="nearest")
    np.testing.assert_array_equal(trained(layer, images=images), images)


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
@pytest.mark.parametrize("mode", ["reflect", "constant", "wrap", "nearest"])
def test_translation_supports_all_fill_modes(mode: str, device: str) -> None:
    layer = nn.RandomTranslation((0.6, 0.6), (-0.8, -0.8), mode, fill_value=7)
    expected = warped(lambda y, x: (y - 2.4, x + 4.8), mode)
    np.testing.assert_allclose(trained(layer, device), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_rotation_and_zoom_interpolate_pixels(device: str) -> None:
    a = 2 * math.pi * 0.1
    turned = warped(lambda y, x: (x * np.sin(a) + y * np.cos(a), x * np.cos(a) - y * np.sin(a)))
    result = trained(nn.RandomRotation((0.1, 0.1)), device)
    np.testing.assert_allclose(result, turned, rtol=1e-4, atol=1e-2)
    zoomed = warped(lambda y, x: (y * 1.3, x * 0.6), nearest=True)
    layer = nn.RandomZoom((0.3, 0.3), (-0.4, -0.4), interpolation="nearest")
    np.testing.assert_allclose(trained(layer, device), zoomed, rtol=1e-6)


def test_positive_factors_have_the_documented_directions() -> None:
    """Positive factors: down, right, counter-clockwise, smaller."""
    image = np.zeros((1, 5, 5, 1), np.float32)
    image[0, 2, 4] = 1  # at the right
    turned = trained(nn.RandomRotation((0.25, 0.25), "constant"), images=image)
    assert turned[0, 0, 2, 0] == pytest.approx(1, abs=1e-5)  # at the top
    moved = trained(nn.RandomTranslation((0.2, 0.2), (-0.4, -0.4)), images=image)
    assert moved[0, 3, 2, 0] == pytest.approx(1, abs=1e-5)
    smaller = trained(nn.RandomZoom((1.0, 1.0), fill_mode="constant"), images=image)
    assert smaller[0, 2, 3, 0] == pytest.approx(1, abs=1e-5)
    same = trained(nn.RandomZoom((0.0, 0.0)), images=IMAGES)
    np.testing.assert_allclose(same, IMAGES, rtol=1e-5)


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_contrast_and_brightness_are_adjusted_and_clipped(device: str) -> None:
    mean = IMAGES.mean((1, 2), keepdims=True)
    contrast = trained(nn.RandomContrast((-0.5, 0.5)), device)
    factors = (contrast - mean) / (IMAGES - mean)
    assert np.all(contrast >= 0) and np.all(contrast <= 255) and np.nanmax(factors) < 1.6
    fixed = trained(nn.RandomContrast((0.5, -0.5)), device)
    np.testing.assert_allclose(fixed, (IMAGES - mean) / 2 + mean, rtol=1e-4)
    brighter = trained(nn.RandomBrightness((0.2, 0.2), (0, 255)), device)
    np.testing.assert_allclose(brighter, (IMAGES + 51).clip(0, 255), rtol=1e-5)


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_flips_occur_with_equal_frequency(device: str) -> None:
    images = np.repeat(np.arange(6, dtype=np.float32).reshape(1, 2, 3, 1), 400, axis=0)
    result = trained(nn.RandomFlip(seed=4), device, images)[..., 0]
    flat, across = np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)[:, ::-1]
    kinds = [flat, across, flat[::-1], across[::-1]]
    counts = [int((result == kind).all((1, 2)).sum()) for kind in kinds]
    assert sum(counts) == 400 and min(counts) > 65
    only = trained(nn.RandomFlip("vertical"), device, images)[..., 0]
    assert (only == flat).all((1, 2)).sum() + (only == flat[::-1]).all((1, 2)).sum() == 400


def test_numbers_are_uniform_and_differ_between_images() -> None:
    images = np.zeros((2000, 1, 1, 1), np.float32)
    drawn = np.sort(trained(nn.RandomBrightness(0.5, (-1, 1)), images=images).ravel())
    assert len(np.unique(drawn)) > 1990
    np.testing.assert_allclose(drawn, np.linspace(-1, 1, 2000), atol=0.08)


LAYERS = [
    nn.RandomFlip("horizontal"),
    nn.RandomTranslation(0.2, (0.0, 0.1), "wrap"),
    nn.RandomRotation(0.1, seed=5),
    nn.RandomZoom(0.2),
    nn.RandomContrast(0.2),
    nn.RandomBrightness(0.2, (0, 1)),
]


def test_layers_are_active_in_training_only_and_can_be_copied() -> None:
    model = pg.Sequential([*LAYERS, nn.Flatten(), nn.Dense(2)])
    model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    plain = pg.Sequential([nn.Flatten(), nn.Dense(2)])
    labels = np.array([0, 1, 0])
    images = IMAGES / 255
    losses = [model.fit(images, labels, verbose=0, epochs=4).losses for _ in range(2)]
    assert len(set(np.concatenate(losses).tolist())) == 8
    plain.predict(images)
    plain.set_weights(dict(zip(plain.named_variables, model.named_weights().values(), strict=True)))
    np.testing.assert_allclose(model.predict(images), plain.predict(images), rtol=1e-5)
    twin = model.clone()
    np.testing.assert_allclose(twin.predict(images), model.predict(images), rtol=1e-6)
    for layer in LAYERS:
        json.dumps(layer.get_config())


def test_data_parallel_replicas_draw_the_numbers_of_the_whole_batch() -> None:
    losses = []
    for strategy in (None, pg.parallel.DataParallel(2)):
        pg.reset_default_graph()
        model = pg.Sequential([nn.RandomRotation(0.2), nn.RandomFlip(), nn.Flatten(), nn.Dense(1)])
        model.compile("sgd", "mse", device="cpu", strategy=strategy)
        images = np.concatenate([IMAGES, IMAGES[:1]]) / 255
        losses.append(model.fit(images, np.arange(4.0), verbose=0, epochs=3).losses)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.RandomRotation(-0.1), "factor of RandomRotation must be a number of at least"),
        (lambda: nn.RandomZoom((-2, 0)), "height_factor of RandomZoom .*at least -1"),
        (lambda: nn.RandomContrast((2.0, 0.0)), "factor of RandomContrast"),
        (lambda: nn.RandomFlip("diagonal"), "mode"),
        (lambda: nn.RandomTranslation(0.1, 0.1, "mirror"), "fill_mode"),
        (lambda: nn.RandomBrightness(0.1)(pg.Input((4,))), r"\(batch, height, width, channels\)"),
    ],
)
def test_wrong_arguments_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        make()
