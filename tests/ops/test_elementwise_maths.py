"""Elementwise functions against PyTorch, in float64, and the meaning of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as torch_nn

import playgrad as pg
from playgrad.contract.interpreter import evaluate, value
from playgrad.errors import DTypeError
from tests.test_ops_against_torch import compare

X = np.linspace(-7.7, 7.9, 37)
INSIDE = np.linspace(-0.97, 0.95, 19)

FUNCTIONS: list[tuple[Callable[..., pg.Tensor], Callable[..., torch.Tensor], Any]] = [
    (pg.log1p, torch.log1p, np.abs(X)),
    (pg.expm1, torch.expm1, X),
    (pg.log2, torch.log2, np.abs(X)),
    (pg.log10, torch.log10, np.abs(X)),
    (pg.tan, torch.tan, INSIDE),
    (pg.arcsin, torch.arcsin, INSIDE),
    (pg.arccos, torch.arccos, INSIDE),
    (pg.arctan, torch.arctan, X),
    (pg.sinh, torch.sinh, X),
    (pg.cosh, torch.cosh, X),
    (pg.arcsinh, torch.arcsinh, X),
    (pg.arccosh, torch.arccosh, np.abs(X) + 1.1),
    (pg.arctanh, torch.arctanh, INSIDE),
    (pg.erf, torch.erf, X),
    (pg.gelu, torch_nn.gelu, X),
    (lambda x: pg.gelu(x, True), lambda x: torch_nn.gelu(x, approximate="tanh"), X),
    (pg.mish, torch_nn.mish, X),
    (pg.softsign, torch_nn.softsign, X),
    (pg.relu6, torch_nn.relu6, X),
    (pg.hard_sigmoid, lambda x: torch_nn.relu6(x + 3.0) / 6.0, X),
    (pg.hard_silu, torch_nn.hardswish, X),
    (pg.hard_tanh, torch_nn.hardtanh, X),
    (pg.log_sigmoid, torch_nn.logsigmoid, X),
    (lambda x: pg.elu(x, 0.7), lambda x: torch_nn.elu(x, 0.7), X),
    (lambda x: pg.celu(x, 0.5), lambda x: torch_nn.celu(x, 0.5), X),
    (lambda x: pg.clip(x, -2.0, 3.0), lambda x: torch.clip(x, -2.0, 3.0), X),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "x"), FUNCTIONS, ids=[theirs.__name__ for _, theirs, _ in FUNCTIONS]
)
def test_values_and_gradients_match_pytorch(ours: Any, theirs: Any, x: Any) -> None:
    compare(ours, theirs, x)


def test_functions_of_two_arguments_match_pytorch() -> None:
    y = np.linspace(0.3, 2.6, 37)
    compare(pg.arctan2, torch.arctan2, X, y)
    compare(pg.mod, torch.remainder, X, -y)
    compare(pg.maximum, torch.maximum, X, y)


def test_powers_of_0_match_pytorch() -> None:
    base = np.array([0.0, 0.0, 0.0, 0.0, 2.0])
    exponent = np.array([0.0, 1.0, 2.0, 3.5, 0.0])
    compare(pg.pow, torch.pow, base, exponent)


def test_powers_of_integers_match_numpy() -> None:
    x = np.array([-3, 0, 1, 2, 46341, 2**31 - 1], np.int32)
    exponents = np.array([5, 4, 3, 2, 1, 0], np.int32)
    with pg.Graph().as_default():
        i = pg.constant(x)
        np.testing.assert_array_equal(value(i**2), x**2)
        assert (i**2).dtype == "int32"
        np.testing.assert_array_equal(value(2 ** (i + 0)), [0, 1, 2, 4, 0, 0])
        np.testing.assert_array_equal(value(pg.pow(i, exponents)), x**exponents)
        by_half = value(pg.pow(i, 0 - pg.constant(exponents)))
        theirs = torch.pow(torch.from_numpy(x), torch.from_numpy(-exponents))
        np.testing.assert_array_equal(by_half, theirs.numpy(), "rounded towards 0, as in PyTorch")
        for power in (lambda: i**-1, lambda: pg.pow(i, [-1, 0, 0, 0, 0, 0])):
            with pytest.raises(DTypeError, match=r"no negative powers.*pg\.cast"):
                power()
        with pytest.raises(DTypeError):
            i**0.5


@pytest.mark.parametrize("kind", ["int32", "uint32", "uint8", "int8", "float32"])
def test_operators_have_the_meaning_of_numpy(kind: str) -> None:
    low = -9 if kind in ("int32", "float32") else 0
    a, b = np.arange(low, 9, 2).astype(kind), np.array([1, 2, 3, 4, 5, 6, 7, 8, 9]).astype(kind)
    a = np.resize(a, 9)
    with pg.Graph().as_default():
        x, y = pg.placeholder(kind, a.shape), pg.placeholder(kind, b.shape)
        results = evaluate([x / y, x // y, x % y, 7 // y, 7 % y, 7 / y], {x: a, y: b})
    quotient, rest = results[0], results[1:5]
    np.testing.assert_allclose(quotient, a / b, rtol=1e-6)
    np.testing.assert_allclose(results[5], 7 / b, rtol=1e-6)
    assert quotient.dtype == results[5].dtype == np.float32
    seven = np.asarray(7, kind)
    for actual, expected in zip(rest, [a // b, a % b, seven // b, seven % b], strict=True):
        np.testing.assert_array_equal(actual, expected)
        assert actual.dtype == kind


def test_quotients_of_integers_are_floats() -> None:
    with pg.Graph().as_default():
        pixels = pg.constant(np.array([0, 51, 255], np.uint8))
        np.testing.assert_allclose(value(pixels / 255), [0.0, 0.2, 1.0])
        np.testing.assert_allclose(value(pixels / 2.5), [0.0, 20.4, 102.0], rtol=1e-6)
        np.testing.assert_allclose(value(pg.div(7, 2)), 3.5)
        with pytest.raises(DTypeError, match="element types differ"):
            pg.div(pixels, pg.constant([1.0]))


def test_exclusive_or_combines_bools() -> None:
    with pg.Graph().as_default():
        x = pg.constant([True, True, False, False])
        assert value(x ^ pg.constant([True, False, True, False])).tolist() == [0, 1, 1, 0]


def test_small_losses_from_logits_are_exact() -> None:
    logits = np.array([[20.0], [-20.0], [0.0], [90.0]], np.float32)
    labels = np.array([[1.0], [0.0], [1.0], [1.0]], np.float32)
    with pg.Graph().as_default():
        x = pg.placeholder("float32", logits.shape)
        loss = pg.nn.BinaryCrossentropy(from_logits=True).per_sample(pg.constant(labels), x)
        (gradient,) = pg.gradients(loss, [x])
        assert gradient is not None
        losses, slopes = evaluate([loss, gradient], {x: logits})
    exact = np.log1p(np.exp(-np.abs(logits.astype(np.float64))))[:, 0]
    np.testing.assert_allclose(losses, exact, rtol=1e-6)
    np.testing.assert_allclose(slopes[:3, 0], [-2.0611537e-9, 2.0611537e-9, -0.5], rtol=1e-6)


def test_arguments_can_be_given_by_name() -> None:
    x = pg.constant([1.0, 2.0])
    np.testing.assert_array_equal(pg.clip(x, x_max=1.5, x_min=0.0).numpy(), [1.0, 1.5])
    assert pg.relu(x=x, name="named").node.name == "named"
    with pytest.raises(TypeError, match="missing a required argument: 'x_max'"):
        pg.clip(x, x_min=0.0)


def test_numbers_beside_lists_of_floats_become_floats() -> None:
    """As in NumPy, without a tensor among the arguments."""
    with pg.eager():
        assert pg.maximum([1.5, 5.0], 2).numpy().tolist() == [2.0, 5.0]
        assert pg.clip([1.5, 5.0], 0, 2).numpy().tolist() == [1.5, 2.0]
        assert pg.where([True, False], [1.5, 2.5], 0).numpy().tolist() == [1.5, 0.0]
        assert pg.add(2, np.array([0.5])).dtype == "float32"
        assert pg.add([1, 2], 3).dtype == "int32"
        with pytest.raises(pg.ShapeError, match="cannot make an array"):
            pg.add([[1.0], [1.0, 2.0]], 3)
