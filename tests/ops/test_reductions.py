"""Reductions against PyTorch in float64, and NumPy where the whole array is meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad.contract.interpreter import evaluate, value
from playgrad.errors import UnsupportedOpError
from playgrad.graph.opdef import lookup
from tests.test_ops_against_torch import compare, uniform

X = uniform(3, 4, 5)
INFINITY = float("inf")


@pytest.mark.parametrize(("axis", "keepdims"), [(1, False), ((0, 2), True), (None, False)])
def test_values_and_gradients_match_pytorch(axis: Any, keepdims: bool) -> None:
    def along(function: Any, **options: Any) -> Any:
        dim = (0, 1, 2) if axis is None else axis
        return lambda x: function(x, dim=dim, keepdim=keepdims, **options)

    def ours(function: Any) -> Any:
        return lambda x: function(x, axis, keepdims)

    compare(ours(pg.sum), along(torch.sum), X)
    compare(ours(pg.mean), along(torch.mean), X)
    compare(ours(pg.max), along(torch.amax), X)
    compare(ours(pg.min), along(torch.amin), X)
    compare(ours(pg.var), along(torch.var, correction=0), X)
    compare(ours(pg.std), along(torch.std, correction=0), X)
    compare(ours(pg.logsumexp), along(torch.logsumexp), X * 300)
    compare(lambda x: pg.norm(x, None, axis, keepdims), along(torch.linalg.vector_norm), X)
    condition = X > 0.7
    with pg.Graph().as_default():
        x = pg.constant(condition)
        for function, expected in ((pg.any, np.any), (pg.all, np.all)):
            for tensor, array in ((x, condition), (pg.logical_not(x), ~condition)):
                actual = value(function(tensor, axis, keepdims))
                np.testing.assert_array_equal(actual, expected(array, axis, keepdims=keepdims))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 1.5, INFINITY, -INFINITY])
def test_norms_match_pytorch(order: float) -> None:
    if order == 0:  # constant, so that it has no gradient
        x = np.array([[0.0, 1.0, -2.0], [0.0, 0.0, 3.0]])
        with pg.Graph().as_default():
            assert value(pg.norm(x, 0, axis=1)).tolist() == [2.0, 1.0]
        return
    compare(lambda x: pg.norm(x, order, 1), lambda x: torch.linalg.vector_norm(x, order, 1), X)


def test_roots_of_0_have_slope_0() -> None:
    zeros = np.zeros((2, 3))
    with pg.Graph().as_default():
        x = pg.placeholder("float64", zeros.shape)
        for y in (pg.norm(x, axis=1), pg.norm(x, 3, axis=1), pg.std(x, axis=1)):
            (gradient,) = pg.gradients(y, [x])
            assert gradient is not None
            for result in evaluate([y, gradient], {x: zeros}):
                assert not result.any()


def test_other_matrix_norms_are_refused() -> None:
    with pg.Graph().as_default():
        x = pg.placeholder("float32", [3, 3])
        assert pg.norm(x, "fro").shape == ()
        with pytest.raises(UnsupportedOpError, match="no order 'nuc'"):
            pg.norm(x, "nuc")
        with pytest.raises(UnsupportedOpError, match="is for one axis, got 2"):
            pg.norm(x, 1)


def test_logsumexp_of_infinities_is_exact() -> None:
    x = np.array([[-INFINITY, -INFINITY], [INFINITY, 0.0], [-INFINITY, 3.0]], np.float32)
    with pg.Graph().as_default():
        assert value(pg.logsumexp(x, axis=1)).tolist() == [-INFINITY, INFINITY, 3.0]


@pytest.mark.parametrize("zeros", range(4))
def test_derivatives_of_products_with_zeros_match_pytorch(zeros: int) -> None:
    x = uniform(5) + 2.0
    x[:zeros] = 0.0
    weights = uniform(5, seed=3)
    with pg.Graph().as_default():
        ours = pg.placeholder("float64", x.shape)
        (first,) = pg.gradients(pg.prod(ours), [ours])
        assert first is not None
        (second,) = pg.gradients(first * pg.constant(weights, "float64"), [ours])
        assert second is not None
        actual = evaluate([first, second], {ours: x})
    tensor = torch.tensor(x, requires_grad=True)
    product = tensor[0] * tensor[1] * tensor[2] * tensor[3] * tensor[4]
    (slope,) = torch.autograd.grad(product, tensor, create_graph=True)
    (curve,) = torch.autograd.grad((slope * torch.tensor(weights)).sum(), tensor)
    np.testing.assert_allclose(actual[0], slope.detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(actual[1], curve.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("exclusive", [False, True])
def test_running_sums_match_pytorch(exclusive: bool) -> None:
    compare(
        lambda x: pg.cumsum(x, 1, exclusive),
        lambda x: torch.cumsum(x, 1) - (x if exclusive else 0),
        X,
    )
    compare(
        lambda x: pg.cumsum(x, -1, exclusive, reverse=True),
        lambda x: torch.cumsum(x.flip(2), 2).flip(2) - (x if exclusive else 0),
        X,
    )
    with pg.Graph().as_default():
        x = pg.constant([[1, 2], [3, 4]])
        assert value(pg.cumsum(x)).tolist() == [1, 3, 6, 10]


def test_argmin_returns_the_first_of_equal_elements() -> None:
    with pg.Graph().as_default():
        assert value(pg.argmin([[3, 1, 1], [2, 5, 2]], axis=-1)).tolist() == [1, 0]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 1, -1])
def test_positions_match_numpy(axis: int | None, keepdims: bool) -> None:
    x = uniform(2, 3, 4)
    with pg.Graph().as_default():
        for ours, theirs in ((pg.argmax, np.argmax), (pg.argmin, np.argmin)):
            expected = theirs(x, axis=axis, keepdims=keepdims)
            result = value(ours(x, axis, keepdims))
            assert result.shape == expected.shape
            np.testing.assert_array_equal(result, expected)
        assert value(pg.argmax(3.0)) == 0
        assert pg.argmax(pg.placeholder("float32", (None, 3))).shape == ()


def test_long_sums_have_small_errors() -> None:
    x = (uniform(200_003, 3) + 1000.0).astype(np.float32)
    exact = x.astype(np.float64)
    attrs = {"axes": [0], "keepdims": False}
    (mean,) = lookup("reduce_mean").reference([x], attrs)
    (total,) = lookup("reduce_sum").reference([x], attrs)
    (bias,) = lookup("sum_to").reference([x], {"shape": [3]})
    assert mean.dtype == total.dtype == bias.dtype == np.float32
    np.testing.assert_allclose(mean, exact.mean(0), rtol=1e-6)
    np.testing.assert_allclose(total, exact.sum(0), rtol=1e-6)
    np.testing.assert_allclose(bias, exact.sum(0), rtol=1e-6)


def test_reductions_of_no_elements_return_the_neutral_element() -> None:
    with pg.Graph().as_default():
        x = pg.constant(np.zeros((0, 3), np.float32))
        assert value(pg.sum(x, 0)).tolist() == [0.0, 0.0, 0.0]
        assert value(pg.prod(x, 0)).tolist() == [1.0, 1.0, 1.0]
        assert value(pg.any(x, 0)).tolist() == [False, False, False]
        assert value(pg.all(x, 0)).tolist() == [True, True, True]
        assert (
            value(pg.cumsum(x, 0)).shape == value(pg.cumsum(x, 0, exclusive=True)).shape == (0, 3)
        )
        assert value(pg.cumsum(x, 1, exclusive=True)).shape == (0, 3)
