"""Convolution and pooling: padding, sizes, and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.errors import ShapeError
from playgrad.ops import avg_pool2d, constant, conv2d, max_pool2d, placeholder
from tests.contract.interpreter import evaluate, value


def test_same_padding_has_its_larger_half_below() -> None:
    image, filters = constant(np.ones((1, 4, 4, 1), np.float32)), np.ones((2, 2, 1, 1), np.float32)
    result = conv2d(image, filters, padding="same")
    assert result.node.attrs["padding"] == [[0, 1], [0, 1]]
    assert value(result)[0, :, :, 0].tolist()[3] == [2, 2, 2, 1]
    assert max_pool2d(image, 3, 2, "same").shape == (1, 2, 2, 1)
    assert avg_pool2d(image, (2, 1)).shape == (1, 2, 4, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"padding": "full"}, 'padding must be "valid", "same" or'),
        ({"padding": ((1, 1),)}, 'padding must be "valid", "same" or'),
        ({"strides": 0}, "strides must be one or two positive numbers, not 0"),
        ({"strides": (1, 2, 3)}, "strides must be one or two positive numbers"),
    ],
)
def test_wrong_windows(arguments: dict[str, Any], words: str) -> None:
    image, filters = placeholder("float32", [None, 8, 8, 3]), np.ones((2, 2, 3, 1), np.float32)
    with pytest.raises(ShapeError, match=words):
        conv2d(image, filters, **arguments)


def test_same_padding_needs_the_size_of_the_image() -> None:
    image = placeholder("float32", [None, None, None, 1])
    with pytest.raises(ShapeError, match="needs the height and width"):
        max_pool2d(image, padding="same")
    assert max_pool2d(image).shape == (None, None, None, 1)


def test_an_image_that_became_too_small_is_explained() -> None:
    image = placeholder("float32", [None, 2, 2, 1])
    with pytest.raises(ShapeError, match="Use a smaller window, less pooling before it"):
        conv2d(image, np.ones((3, 3, 1, 1), np.float32))


def test_maxima_of_nan_and_of_nothing_but_padding() -> None:
    image = np.full((1, 2, 2, 1), -np.inf, np.float32)
    pooled, positions = evaluate(max_pool2d(image, 2, 1, ((1, 1), (1, 1))).node.outputs, {})
    assert np.all(pooled == -np.inf)
    assert positions[0, :, :, 0].tolist() == [[0, 0, 1], [0, 0, 1], [2, 2, 3]]
    image[0, 1, 0, 0] = np.nan
    pooled, positions = evaluate(max_pool2d(image).node.outputs, {})
    assert np.isnan(pooled).all()
    assert positions.item() == 2
