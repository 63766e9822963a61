"""Convolution and pooling: padding, sizes, and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.contract.interpreter import evaluate, value
from playgrad.errors import ShapeError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.ops import (
    Variable,
    avg_pool2d,
    constant,
    conv1d,
    conv2d,
    conv2d_transpose,
    depthwise_conv2d,
    max_pool2d,
    placeholder,
    reduce_sum,
    resize,
)
from playgrad.runtime.session import Session


def test_same_padding_is_larger_at_the_end() -> None:
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
        ({"dilation_rate": (0, 1)}, "dilation_rate must be one or two positive numbers"),
        ({"groups": 0}, "groups must be at least 1, not 0"),
        ({"groups": 2}, "take 6 in 2 groups"),
        ({"strides": (1, 2, 3)}, "strides must be one or two positive numbers"),
    ],
)
def test_wrong_windows_are_refused(arguments: dict[str, Any], words: str) -> None:
    image, filters = placeholder("float32", [None, 8, 8, 3]), np.ones((2, 2, 3, 1), np.float32)
    with pytest.raises(ShapeError, match=words):
        conv2d(image, filters, **arguments)


def test_same_padding_needs_the_size_of_the_image() -> None:
    image = placeholder("float32", [None, None, None, 1])
    with pytest.raises(ShapeError, match="needs the height and width"):
        max_pool2d(image, padding="same")
    assert max_pool2d(image).shape == (None, None, None, 1)
    filters = np.ones((3, 3, 1, 2), np.float32)
    assert conv2d(image, filters, padding="same").shape == (None, None, None, 2)  # strides of 1


def test_transposed_convolution_accepts_images_of_unknown_size() -> None:
    image = placeholder("float32", [None, None, None, 1])
    result = conv2d_transpose(image, np.ones((2, 2, 3, 1), np.float32), 2, "same")
    assert result.shape == (None, None, None, 3)
    (pixels,) = evaluate([result], {image: np.ones((1, 3, 2, 1), np.float32)})
    assert pixels.shape == (1, 6, 4, 3)
    assert (pixels == 1).all()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda x, w: conv1d(x[:, 0], w[0], padding="full"),
            '"causal" or \\(before, after\\), not',
        ),
        (lambda x, w: conv1d(x[:, 0], w[0], padding=(1, 2, 3)), "must be .*not \\(1, 2, 3\\)"),
        (lambda x, w: conv1d(x[:, 0], w[0], (1, 2)), "strides of conv1d must be one number"),
        (lambda x, w: conv1d(x, w), "sequence of conv1d.* must have 3 dimensions"),
        (lambda x, w: conv2d_transpose(x, w, 2, "same", 2), "less than the strides .* not 2"),
        (lambda x, w: conv2d_transpose(x, w), "has 3 channels, but the filters .* take 1"),
        (lambda x, w: depthwise_conv2d(x, w[:, :, :2]), "has 3 channels, .* take 2"),
    ],
)
def test_wrong_use_of_other_convolutions_is_refused(build: Any, words: str) -> None:
    image, filters = placeholder("float32", [2, 8, 8, 3]), constant(np.ones((2, 2, 3, 1)))
    with pytest.raises(ShapeError, match=words):
        build(image, filters)


def test_an_image_that_became_too_small_is_explained() -> None:
    image = placeholder("float32", [None, 2, 2, 1])
    with pytest.raises(ShapeError, match="Use a smaller window, less pooling before it"):
        conv2d(image, np.ones((3, 3, 1, 1), np.float32))


def test_max_pooling_handles_nan_and_windows_of_padding() -> None:
    image = np.full((1, 2, 2, 1), -np.inf, np.float32)
    pooled, positions = evaluate(max_pool2d(image, 2, 1, ((1, 1), (1, 1))).node.outputs, {})
    assert np.all(pooled == -np.inf)
    assert positions[0, :, :, 0].tolist() == [[0, 0, 1], [0, 0, 1], [2, 2, 3]]
    image[0, 1, 0, 0] = np.nan
    pooled, positions = evaluate(max_pool2d(image).node.outputs, {})
    assert np.isnan(pooled).all()
    assert positions.item() == 2


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_empty_batches_give_empty_results_and_zero_gradients(graph: Graph, device: str) -> None:
    x = placeholder("float32", [2, 5, 6, 4])
    filters = Variable(np.ones((2, 2, 4, 4), np.float32))
    images = x[:0]
    results = [
        conv2d(images, filters, dilation_rate=2),
        conv2d(images, filters[:, :, :2], groups=2),
        conv2d_transpose(images, filters, 2),
        depthwise_conv2d(images, filters),
        resize(images, (3, 9)),
        max_pool2d(images),
    ]
    loss = sum((reduce_sum(result) for result in results), start=constant(0.0))
    with Session(graph, device) as session:
        feeds = {x: np.ones((2, 5, 6, 4), np.float32)}
        *values, grad = session.run([*results, *gradients(loss, [filters])], feeds)
    assert [len(value) for value in values] == [0] * len(results)
    assert grad.shape == (2, 2, 4, 4)
    assert not grad.any()
