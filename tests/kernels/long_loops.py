"""Operations with a long axis, for each kernel whose loops follow one, with few other elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Long(NamedTuple):
    """An operation with inputs that make the loops of a kernel take more than n rounds."""

    op: str
    inputs: tuple[Array, ...]
    attrs: Mapping[str, Any] = {}


def int8s(*shape: int) -> Array:
    return np.random.default_rng(0).integers(-127, 128, shape).astype(np.int8)


def floats(*shape: int) -> Array:
    return np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)


def ctc(op: str, n: int) -> Long:
    """Return two samples of different lengths, whose states in all times are over n."""
    times = n // 9 + 1
    scores = floats(2, times, 3)
    probabilities = scores - np.log(np.exp(scores).sum(2, keepdims=True))
    labels = np.array([[1, 2, 1, 2], [2, 2, 0, 0]], np.int32)
    lengths = np.array([4, 2], np.int32), np.array([times, times - 1], np.int32)
    return Long(op, (probabilities, labels, *lengths), {"blank": 0, "zero_infinity": False})


def attention(op: str, queries: int, keys: int) -> Long:
    sizes = (
        (queries, keys, keys) if op == "dot_product_attention" else (queries, keys, keys, queries)
    )
    inputs = tuple(floats(1, size, 1, 2) for size in sizes)
    return Long(op, inputs, {"scale": 0.7, "is_causal": False})


def pooling(op: str, n: int) -> Long:
    size = [11, n // 11 + 1]
    return Long(op, (floats(1, *size, 1),), {"pool_size": size, **WINDOW})


def quantized(op: str, image: tuple[int, ...], filters: tuple[int, ...], **attrs: Any) -> Long:
    outputs = filters[-1]
    numbers = [np.full(outputs, number, np.int32) for number in (7, (1 << 31) - 9, 44)]
    attrs = {"zero_point": -9, "low": -128, "high": 127} | attrs
    return Long(op, (int8s(*image), int8s(*filters), *numbers), attrs)


WINDOW = {"strides": [1, 1], "padding": [[0, 0], [0, 0]]}
QUANTIZED_WINDOW = WINDOW | {
    "dilation": [1, 1], "groups": 1, "input_dilation": [1, 1], "pad_value": 0,
}  # fmt: skip
NORMALIZED = {"epsilon": 1e-3}
SPLITS = 17
"""One more than the parts into which a product with few results is divided in any case."""

LONG: dict[str, Callable[[int], Long]] = {
    "argmax": lambda n: Long("argmax", (floats(2, n),), {"axis": 1}),
    "argmin, which is the last": lambda n: Long(
        "argmin", (-np.arange(n, dtype=np.int32),), {"axis": 0}
    ),
    "reduction": lambda n: Long("reduce_max", (floats(n, 257),), {"axes": [0], "keepdims": False}),
    "running sum": lambda n: Long(
        "cumsum", (floats(2, n),), {"axis": 1, "exclusive": False, "reverse": False}
    ),
    "running sums of many lines": lambda n: Long(
        "cumsum", (floats(257, n),), {"axis": 1, "exclusive": True, "reverse": True}
    ),
    "product": lambda n: Long(
        "matmul",
        (floats(SPLITS * n, 1), floats(SPLITS * n, 2)),
        {"transpose_a": True, "transpose_b": False},
    ),
    "filter gradient": lambda n: Long(
        "conv2d_filter_gradient",
        (floats(n // 4, 5, 18, 1), floats(n // 4, 4, 17, 1)),
        {**WINDOW, "kernel_size": [2, 2]},
    ),
    "filter gradient of long rows": lambda n: Long(
        "conv2d_filter_gradient",
        (floats(2, 1, n + 2, 1), floats(2, 1, n, 1)),
        {**WINDOW, "kernel_size": [1, 3]},
    ),
    "input gradient": lambda n: Long(
        "conv2d_input_gradient",
        (floats(1, 2, 1, n), floats(1, 1, 1, n)),
        {**WINDOW, "image_size": [1, 2]},
    ),
    "grouped convolution": lambda n: Long(
        "conv2d", (floats(1, 2, 3, n // 3 * 2), floats(1, 3, n // 3, 2)), {**WINDOW, "groups": 2}
    ),
    "grouped filter gradient": lambda n: Long(
        "conv2d_filter_gradient",
        (floats(2, 1, n + 1, 2), floats(2, 1, n, 2)),
        {**WINDOW, "kernel_size": [1, 2], "groups": 2},
    ),
    "grouped input gradient": lambda n: Long(
        "conv2d_input_gradient",
        (floats(1, 2, 1, n), floats(1, 1, 1, n)),
        {**WINDOW, "image_size": [1, 2], "groups": 2},
    ),
    "softmax": lambda n: Long("softmax", (floats(2, n),), {"axis": 1}),
    "cross-entropy": lambda n: Long(
        "sparse_softmax_cross_entropy", (floats(2, n // 3), np.array([0, 5], np.int32))
    ),
    "dense cross-entropy": lambda n: Long(
        "softmax_cross_entropy", (floats(2, n // 4), np.abs(floats(2, n // 4)))
    ),
    "layer normalization": lambda n: Long(
        "layer_normalization", (floats(2, n // 3), *[floats(n // 3)] * 2), NORMALIZED
    ),
    "gradient of layer normalization": lambda n: Long(
        "layer_normalization_gradient",
        (floats(2, n // 4), floats(n // 4), floats(2, n // 4)),
        NORMALIZED,
    ),
    "attention": lambda n: attention("dot_product_attention", 2, n),
    "gradient by queries": lambda n: attention("dot_product_attention_gradient", 2, n // 2),
    "gradient by keys": lambda n: attention("dot_product_attention_gradient", n, 2),
    "embedding of one word": lambda n: Long(
        "scatter_add", (floats(n, 2), np.ones(n, np.int32)), {"rows": 3}
    ),
    "scatter": lambda n: Long(
        "scatter_add", (floats(n), np.arange(n, dtype=np.int32) % 2), {"rows": 2}
    ),
    "CTC": lambda n: ctc("ctc_loss", n),
    "gradient of CTC": lambda n: ctc("ctc_loss_gradient", n),
    "max pooling": lambda n: pooling("max_pool2d", n),
    "average pooling": lambda n: pooling("avg_pool2d", n),
    "quantized product": lambda n: quantized("quantized_matmul", (2, 4 * n), (4 * n, 3)),
    "quantized convolution": lambda n: quantized(
        "quantized_conv2d", (1, 2, 3, 2 * n), (2, 2, 2 * n, 4), **QUANTIZED_WINDOW
    ),
    "quantized grouped convolution": lambda n: quantized(
        "quantized_conv2d", (1, 2, 3, n // 2), (1, 2, n // 4, 2), **QUANTIZED_WINDOW | {"groups": 2}
    ),
    "quantized softmax": lambda n: Long(
        "quantized_softmax", (int8s(2, n // 3), np.full(256, 3, np.int32))
    ),
    "quantized pooling": lambda n: Long(
        "quantized_avg_pool2d",
        (int8s(1, 3, n // 12 + 1, 1),),
        {
            "window": [3, n // 12 + 1],
            "strides": [1, 1],
            "padding": [[0, 0], [0, 0]],
            "input_zero_point": 3,
            "multipliers": [1 << 30],
            "shifts": [30],
            "zero_point": 0,
            "low": -128,
            "high": 127,
        },
    ),
    "gradient of resizing": lambda n: Long(
        "resize_gradient",
        (floats(1, 11, n // 11 + 1, 1),),
        {"image_size": [1, 1], "interpolation": "bilinear"},
    ),
}
