"""Prepared expressions give the values of ``evaluate`` and do not change their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playgrad.graph.opdef import Array
from playgrad.graph.spec import TensorSpec
from playgrad.ops.expression import expr as e
from playgrad.ops.expression.evaluate import evaluate, full, prepare
from playgrad.ops.expression.expr import Expr, Leaf
from playgrad.ops.expression.functions import select
from tests.test_expr import expressions

SHAPES: list[tuple[int, ...]] = [(), (1,), (4,), (3, 4), (3, 1), (2, 3, 4)]


def evaluated(exprs: list[Expr], leaves: list[Array]) -> list[Array]:
    shape = np.broadcast_shapes(*(leaf.shape for leaf in leaves))
    names = [leaf.dtype.name for leaf in leaves]
    return [full(evaluate(expr, leaves), shape, e.infer_dtype(expr, names)) for expr in exprs]


def prepared(exprs: list[Expr], leaves: list[Array]) -> list[Array]:
    run = prepare(exprs, [TensorSpec(leaf.shape, leaf.dtype.name) for leaf in leaves])
    with np.errstate(all="ignore"):
        return run(leaves)


def leaf_of(shape: tuple[int, ...], seed: int, kind: str) -> Array:
    # Rounded, so that some values are equal.
    values = np.random.default_rng(seed).normal(size=shape).round(1)
    array = np.asarray(values, kind)
    array.flags.writeable = False
    return array


@given(
    st.lists(expressions(2), min_size=1, max_size=3),
    st.tuples(st.sampled_from(SHAPES), st.sampled_from(SHAPES)),
    st.sampled_from(["float32", "float64"]),
)
def test_prepared_evaluation_matches_plain_evaluation(
    exprs: list[Expr], shapes: tuple[tuple[int, ...], tuple[int, ...]], kind: str
) -> None:
    leaves = [leaf_of(shape, seed, kind) for seed, shape in enumerate(shapes)]
    # A common subexpression in several places, one of which is a result.
    exprs = [*exprs, exprs[0] * exprs[-1], e.where(Leaf(0) < 0.0, exprs[0], exprs[-1] + 1.0)]
    for actual, expected in zip(prepared(exprs, leaves), evaluated(exprs, leaves), strict=True):
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        assert actual.flags.c_contiguous
        assert actual.tobytes() == expected.tobytes() or np.isnan(expected).any()
        np.testing.assert_array_equal(actual, expected)


def test_a_scalar_condition_does_not_share_overwritten_arrays() -> None:
    x = leaf_of((3, 4), 0, "float32")
    condition = np.asarray(True)
    doubled = Leaf(1) * 2.0
    exprs = [e.where(Leaf(0), doubled, 0.0), (doubled + 1.0) * 3.0]
    chosen, other = prepared(exprs, [condition, x])
    np.testing.assert_array_equal(chosen, x * 2)
    np.testing.assert_array_equal(other, (x * 2 + 1) * 3)


@pytest.mark.parametrize("kind", ["float32", "int32", "uint32", "float64", "uint8", "int8", "bool"])
def test_select_is_where(kind: str) -> None:
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 200, (5, 7)).astype(kind) for _ in range(2))
    condition = random.random((5, 7)) < 0.5
    zero = a.dtype.type(0)
    cases: list[tuple[Any, Any, Any]] = [
        (condition, a, b), (condition, a, zero), (condition, zero, b), (condition, zero, zero),
        (condition[:1], a, b), (condition, a[:, :1], b[0]), (condition[0], a[:, :1], zero),
        (np.asarray(True), a, b), (np.asarray(False), a, b[:1]), (np.asarray(False), a, zero),
    ]  # fmt: skip
    for case in cases:
        shape = np.broadcast_shapes(*map(np.shape, case))
        actual, expected = (np.broadcast_to(f(*case), shape) for f in (select, np.where))
        assert actual.dtype == a.dtype
        np.testing.assert_array_equal(actual, expected)


def test_select_keeps_every_bit() -> None:
    bits = np.array([0x80000000, 0x7F800001, 0x7FC12345, 0xFF800000], np.uint32)
    odd, one = bits.view(np.float32), np.ones(4, np.float32)
    condition = np.array([True, False, True, False])
    expected = np.where(condition, bits, one.view(np.uint32))
    assert select(condition, odd, one).view(np.uint32).tolist() == expected.tolist()
    minus_zero = np.float32(-0.0)
    assert np.signbit(select(condition, one, minus_zero)).tolist() == [False, True, False, True]
