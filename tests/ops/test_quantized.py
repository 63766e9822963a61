"""Quantized operations against whole numbers of Python, which never overflow.

The oracle is written from docs/quantized-arithmetic.md, element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import GraphError
from playgrad.graph.opdef import lookup
from playgrad.graph.spec import TensorSpec
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]
Case = tuple[list[Array], dict[str, Any]]
CASES = 200
"""Random cases of each operation, on the cpu."""
ON_GPU = 4
"""Random cases of each operation on a GPU, of which each compiles a kernel."""
NIGHT = 60


def int8s(random: Random, *shape: int) -> Array:
    numbers = [random.choice((-128, -127, 0, 127, *([None] * 12))) for _ in range(math.prod(shape))]
    values = [random.randint(-128, 127) if n is None else n for n in numbers]
    return np.array(values, np.int8).reshape(shape)


def wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def clamped(number: int, attrs: dict[str, Any]) -> int:
    return max(attrs["low"], min(attrs["high"], number))


def requantized(acc: int, multiplier: int, shift: int, attrs: dict[str, Any]) -> int:
    rounded = math.floor(Fraction(acc * multiplier, 2**shift) + Fraction(1, 2))
    return clamped(rounded + attrs["zero_point"], attrs)


def range_attrs(random: Random) -> dict[str, int]:
    low, high = sorted(random.choice(((-128, 127), (random.randint(-128, 127), 127), (3, 3))))
    return {"zero_point": random.randint(-128, 127), "low": low, "high": high}


def channels(random: Random, outputs: int) -> list[Array]:
    """A bias, a multiplier and a shift for each output: mostly such that results differ."""
    bias = [
        random.choice((random.randint(-4000, 4000), -(2**31), 2**31 - 1)) for _ in range(outputs)
    ]
    multiplier = [random.choice((random.randrange(2**30, 2**31), 2**31 - 1, 2**30)) for _ in bias]
    shift = [random.choice((random.randint(34, 44), random.randint(1, 62))) for _ in bias]
    return [np.array(numbers, np.int32) for numbers in (bias, multiplier, shift)]


def matmul_case(random: Random) -> Case:
    lead = [random.randint(1, 4) for _ in range(random.randint(0, 2))]
    depth, outputs = random.randint(1, 20), random.randint(1, 9)
    inputs = [int8s(random, *lead, depth), int8s(random, depth, outputs)]
    return [*inputs, *channels(random, outputs)], range_attrs(random)


def matmul(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    x, w, bias, multiplier, shift = (array.tolist() for array in inputs)
    rows = np.asarray(x).reshape(-1, len(w)).tolist()
    result = [
        [
            requantized(
                wrapped(bias[n] + sum(a * w[k][n] for k, a in enumerate(row))),
                multiplier[n], shift[n], attrs,
            )
            for n in range(len(bias))
        ]
        for row in rows
    ]  # fmt: skip
    return np.array(result, np.int8).reshape(*inputs[0].shape[:-1], len(bias))


def conv2d_case(random: Random) -> Case:
    while True:
        groups, deep, wide = random.choice(((1, 3, 5), (1, 4, 4), (3, 1, 1), (4, 1, 2), (2, 2, 3)))
        size = [random.randint(1, 3), random.randint(1, 3)]
        image = [random.randint(1, 2), random.randint(1, 6), random.randint(1, 6), groups * deep]
        attrs = {
            "strides": [random.randint(1, 3), random.randint(1, 2)],
            "padding": [[random.randint(0, 2), random.randint(0, 2)] for _ in range(2)],
            "dilation": [random.randint(1, 2), random.randint(1, 2)],
            "groups": groups,
            "input_dilation": [random.randint(1, 2), random.randint(1, 3)],
            "pad_value": random.randint(-128, 127),
            **range_attrs(random),
        }
        shapes = image, [*size, deep, groups * wide]
        specs = [TensorSpec(tuple(shape), "int8") for shape in shapes]
        specs += [TensorSpec((groups * wide,), "int32")] * 3
        try:
            lookup("quantized_conv2d").infer(specs, attrs)
        except pg.ShapeError:
            continue
        inputs = [int8s(random, *image), int8s(random, *size, deep, groups * wide)]
        return [*inputs, *channels(random, groups * wide)], attrs


def conv2d(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    x, w, bias, multiplier, shift = inputs
    (batch, height, width, _), (filter_height, filter_width, deep, outputs) = x.shape, w.shape
    between, dilation, strides = attrs["input_dilation"], attrs["dilation"], attrs["strides"]
    inside = [(size - 1) * step + 1 for size, step in zip((height, width), between, strict=True)]
    sizes = [
        (n + sum(sides) - (m - 1) * d - 1) // s + 1
        for n, sides, m, d, s in zip(
            inside, attrs["padding"], w.shape[:2], dilation, strides, strict=True
        )
    ]
    wide = outputs // attrs["groups"]

    def pixel(image: int, y: int, x_: int, channel: int) -> int:
        row, column = y - attrs["padding"][0][0], x_ - attrs["padding"][1][0]
        if not (0 <= row < inside[0] and 0 <= column < inside[1]):
            return int(attrs["pad_value"])
        if row % between[0] or column % between[1]:
            return int(attrs["pad_value"])
        return int(x[image, row // between[0], column // between[1], channel])

    result = np.zeros((batch, *sizes, outputs), np.int8)
    for image, y, column, n in np.ndindex(result.shape):
        acc = int(bias[n]) + sum(
            int(w[i, j, k, n])
            * pixel(
                image,
                y * strides[0] + i * dilation[0],
                column * strides[1] + j * dilation[1],
                n // wide * deep + k,
            )
            for i, j, k in np.ndindex(filter_height, filter_width, deep)
        )
        number = requantized(wrapped(acc), int(multiplier[n]), int(shift[n]), attrs)
        result[image, y, column, n] = number
    return result


def add_case(random: Random) -> Case:
    shape = [random.randint(1, 5), random.randint(1, 5)]
    attrs = {
        "left_zero_point": random.randint(-128, 127), "right_zero_point": random.randint(-128, 127),
        "left_multiplier": random.choice((random.randint(0, 2**21), 2**21)),
        "right_multiplier": random.choice((random.randint(0, 2**21), 2**21)),
        "shift": random.choice((random.randint(1, 30), random.randint(18, 23))),
        **range_attrs(random),
    }  # fmt: skip
    return [int8s(random, *shape), int8s(random, *random.choice((shape, shape[1:])))], attrs


def add(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    a, b = np.broadcast_arrays(*inputs)

    def one(left: int, right: int) -> int:
        total = (left - attrs["left_zero_point"]) * attrs["left_multiplier"]
        total += (right - attrs["right_zero_point"]) * attrs["right_multiplier"]
        return requantized(total, 1, attrs["shift"], attrs)

    numbers = [one(*pair) for pair in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)]
    return np.array(numbers, np.int8).reshape(a.shape)


def rescale_case(random: Random) -> Case:
    attrs = {
        "input_zero_point": random.randint(-128, 127),
        "multiplier": random.choice((random.randrange(2**30, 2**31), 2**30, 2**31 - 1)),
        "shift": random.choice((random.randint(1, 62), random.randint(29, 34))),
        **range_attrs(random),
    }
    return [int8s(random, random.randint(1, 30))], attrs


def rescale(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    numbers = [
        requantized(x - attrs["input_zero_point"], attrs["multiplier"], attrs["shift"], attrs)
        for x in inputs[0].tolist()
    ]
    return np.array(numbers, np.int8)


def lookup_case(random: Random) -> Case:
    return [int8s(random, random.randint(1, 6), random.randint(1, 6)), int8s(random, 256)], {}


def looked_up(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    x, table = inputs
    return np.array([[table[n + 128] for n in row] for row in x.tolist()], np.int8)


def softmax_case(random: Random) -> Case:
    count = random.randint(1, 40)
    bits = min(22, 31 - math.ceil(math.log2(count)))
    scale = 2.0 ** random.uniform(-9, 0)
    table = [round(2**bits * math.exp(scale * (i - 255))) for i in range(256)]
    return [int8s(random, random.randint(1, 4), count), np.array(table, np.int32)], {}


def softmax(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    table, rows = inputs[1].tolist(), []
    for row in inputs[0].tolist():
        e = [table[q - max(row) + 255] for q in row]
        assert 256 * max(e) + sum(e) // 2 < 2**32
        rows.append([min(127, (256 * each + sum(e) // 2) // sum(e) - 128) for each in e])
    return np.array(rows, np.int8)


def pool_case(random: Random) -> Case:
    window = [random.randint(1, 3), random.randint(1, 3)]
    padding = [[random.randint(0, n - 1), random.randint(0, n - 1)] for n in window]
    shape = [
        random.randint(1, 2),
        *(n + random.randint(0, 4) for n in window),
        random.randint(1, 5),
    ]
    strides = [random.randint(1, 3), random.randint(1, 3)]
    return [int8s(random, *shape)], {"window": window, "strides": strides, "padding": padding}


def mean_case(random: Random) -> Case:
    inputs, attrs = pool_case(random)
    pixels = attrs["window"][0] * attrs["window"][1]
    count = pixels if any(map(any, attrs["padding"])) else 1
    return inputs, attrs | {
        "input_zero_point": random.randint(-128, 127),
        "multipliers": [random.randint(2**30, 2**31 - 1) for _ in range(count)],
        "shifts": [random.randint(28, 36) for _ in range(count)],
        **range_attrs(random),
    }


def pooled(
    rule: Callable[..., int],
) -> Callable[[Sequence[Array], dict[str, Any]], Array]:
    def pool(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
        (x,) = inputs
        sizes = [
            (n + sum(sides) - size) // stride + 1
            for n, sides, size, stride in zip(
                x.shape[1:3], attrs["padding"], attrs["window"], attrs["strides"], strict=True
            )
        ]
        result = np.zeros((len(x), *sizes, x.shape[3]), np.int8)
        for image, y, column, channel in np.ndindex(result.shape):
            spans = [
                range(max(0, at * stride - sides[0]), min(n, at * stride - sides[0] + size))
                for at, n, sides, size, stride in zip(
                    (y, column), x.shape[1:3], attrs["padding"], attrs["window"], attrs["strides"],
                    strict=True,
                )
            ]  # fmt: skip
            numbers = [int(x[image, i, j, channel]) for i in spans[0] for j in spans[1]]
            result[image, y, column, channel] = rule(numbers, attrs)
        return result

    return pool


def largest(numbers: list[int], attrs: dict[str, Any]) -> int:
    return max(numbers)


def mean(numbers: list[int], attrs: dict[str, Any]) -> int:
    outside = attrs["window"][0] * attrs["window"][1] - len(numbers)
    total = sum(number - attrs["input_zero_point"] for number in numbers)
    multiplier, shift = attrs["multipliers"][outside], attrs["shifts"][outside]
    return requantized(total, multiplier, shift, attrs)


def quantize_case(random: Random) -> Case:
    scale = float(np.float32(2.0 ** random.uniform(-12, 12)))
    x = [scale * random.choice((random.uniform(-140, 140), random.randint(-280, 280) / 2, math.inf))
         for _ in range(random.randint(1, 40))]  # fmt: skip
    return [np.array(x, np.float32)], {"scale": scale, "zero_point": random.randint(-128, 127)}


def quantized(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    factor = Fraction(float(np.float32(1 / Fraction(attrs["scale"]))))
    results = []
    for x in inputs[0].tolist():
        if math.isinf(x):
            results.append(127 if x > 0 else -128)
            continue
        product = float(np.float32(float(Fraction(x) * factor)))  # 48 bits, so rounded once
        results.append(max(-128, min(127, round(product) + attrs["zero_point"])))
    return np.array(results, np.int8)


def dequantize_case(random: Random) -> Case:
    scale = float(np.float32(2.0 ** random.uniform(-12, 12)))
    return [int8s(random, 30)], {"scale": scale, "zero_point": random.randint(-128, 127)}


def dequantized(inputs: Sequence[Array], attrs: dict[str, Any]) -> Array:
    differences = [q - attrs["zero_point"] for q in inputs[0].tolist()]
    return np.array([float(d * Fraction(attrs["scale"])) for d in differences], np.float32)


ORACLES: dict[str, tuple[Callable[[Random], Case], Callable[..., Array]]] = {
    "quantize": (quantize_case, quantized),
    "dequantize": (dequantize_case, dequantized),
    "quantized_matmul": (matmul_case, matmul),
    "quantized_conv2d": (conv2d_case, conv2d),
    "quantized_add": (add_case, add),
    "rescale": (rescale_case, rescale),
    "lookup": (lookup_case, looked_up),
    "quantized_softmax": (softmax_case, softmax),
    "quantized_max_pool2d": (pool_case, pooled(largest)),
    "quantized_avg_pool2d": (mean_case, pooled(mean)),
}


@pytest.mark.parametrize("name", ORACLES)
def test_results_are_those_of_whole_numbers(name: str) -> None:
    op, (make, oracle) = lookup(name), ORACLES[name]
    random = dice("quantized", name)
    for _ in range(budget(CASES, 10 * CASES)):
        inputs, attrs = make(random)
        expected = oracle(inputs, attrs)
        results = list(op.reference(inputs, attrs))
        if op.prepare is not None:
            specs = [TensorSpec(array.shape, array.dtype.name) for array in inputs]
            results += op.prepare(specs, attrs)(inputs)
        for result in results:
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected, err_msg=str(attrs))


@pytest.mark.gpu
@pytest.mark.rotates
@pytest.mark.parametrize(
    "name", [n for n in ORACLES if n not in ("quantized_matmul", "quantized_conv2d")]
)
def test_a_gpu_has_the_same_bits(name: str) -> None:
    random = dice("quantized on a GPU", name)
    cases = [ORACLES[name][0](random) for _ in range(budget(ON_GPU, NIGHT))]
    feeds: dict[pg.Tensor, Array] = {}
    fetches: list[pg.Tensor] = []
    with (graph := pg.Graph()).as_default(), graph.device("gpu:0"):
        for inputs, attrs in cases:
            tensors = [pg.placeholder(array.dtype, array.shape) for array in inputs]
            feeds |= zip(tensors, inputs, strict=True)
            fetches.append(graph.add(lookup(name), tensors, attrs).output)
    with pg.Session(graph, device="gpu:0") as session:
        results = session.run(fetches, feeds)
    for (inputs, attrs), result in zip(cases, results, strict=True):
        (expected,) = lookup(name).reference(inputs, attrs)
        np.testing.assert_array_equal(result, expected, err_msg=str(attrs))


def test_a_gradient_through_whole_numbers_is_an_error_by_name() -> None:
    x = pg.placeholder("float32", [3])
    y = pg.dequantize_linear(pg.quantize_linear(x, 0.5, 3), 0.5, 3)
    with pytest.raises(GraphError, match="dequantize"):
        pg.gradients(y, [x])
