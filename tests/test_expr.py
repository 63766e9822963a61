"""The expression language: dtypes, values in NumPy, and the same values from WGSL."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playgrad.errors import DTypeError, UnsupportedOpError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.ops import placeholder
from playgrad.ops.expression import expr as e
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.evaluate import evaluate
from playgrad.ops.expression.expr import Call, Cast, Const, Expr, Leaf
from playgrad.ops.expression.functions import FUNCTIONS
from playgrad.runtime.session import Session

X, Y = Leaf(0), Leaf(1)
FLOATS = np.array(
    [0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 2.5, -2.5, 7.25, 80.0, -80.0, 1e-20, 1e20], np.float32
)
INTS = np.array([0, 1, -1, 2, -3, 7, -7, 1000, -1000], np.int32)
POSITIVE = np.abs(FLOATS) + np.float32(1e-3)


def on_gpu(exprs: list[Expr], *arrays: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Return the values of ``exprs``, computed by one kernel."""
    with (graph := Graph()).as_default():
        inputs = [placeholder(array.dtype, array.shape) for array in arrays]
        attrs = {"expressions": [e.to_json(expr) for expr in exprs]}
        outputs = graph.add(lookup("fused"), inputs, attrs).outputs
    with Session(graph, device="gpu:0") as session:
        results: list[np.ndarray[Any, Any]] = session.run(
            list(outputs), dict(zip(inputs, arrays, strict=True))
        )
    return results


def agree(exprs: list[Expr], *arrays: np.ndarray[Any, Any], atol: float = 1e-6) -> None:
    for expr, actual in zip(exprs, on_gpu(exprs, *arrays), strict=True):
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        expected = np.broadcast_to(evaluate(expr, arrays), shape)
        assert actual.dtype == expected.dtype, expr
        np.testing.assert_allclose(
            actual, expected, rtol=2e-5, atol=atol, err_msg=repr(expr), equal_nan=True
        )


# Dtypes of expressions


@pytest.mark.parametrize(
    ("expr", "leaves", "result"),
    [
        (X + Y, ["float32", "float32"], "float32"),
        (X + 1, ["int32"], "int32"),
        (2.0 * X, ["float64"], "float64"),
        (X < 0, ["int32"], "bool"),
        (Cast("int32", X) + 1, ["float32"], "int32"),
        (e.where(X < 0.0, 0.0, X), ["float32"], "float32"),
        (e.call("not", X < 1.0), ["float32"], "bool"),
        (Const(1.5), [], "float32"),
        (Const(True), [], "bool"),
    ],
)
def test_dtypes_are_inferred(expr: Expr, leaves: list[str], result: str) -> None:
    assert e.infer_dtype(expr, leaves) == result


@pytest.mark.parametrize(
    ("expr", "leaves", "words"),
    [
        (X + Y, ["float32", "int32"], "element types differ: float32 and int32"),
        (e.exp(X), ["int32"], "exp does not take int32"),
        (X + Y, ["bool", "bool"], "add does not take bool"),
        (e.where(X, 1.0, 2.0), ["float32"], "the condition must be bool, not float32"),
        (e.call("and", X, Y), ["int32", "int32"], "and does not take int32"),
    ],
)
def test_wrong_dtypes_are_refused(expr: Expr, leaves: list[str], words: str) -> None:
    with pytest.raises(DTypeError, match=words):
        e.infer_dtype(expr, leaves)


@pytest.mark.parametrize(
    ("expr", "kind", "words"),
    [
        (X * 0.5, "int32", "mul of int32 values and 0.5 is not exact"),
        (Y + (X + -1), "uint32", "add of uint32 values and -1 is not exact"),
    ],
)
def test_constants_are_not_rounded_silently(expr: Expr, kind: str, words: str) -> None:
    e.expect_constants_fit(expr, ["float32", "float32"])
    with pytest.raises(DTypeError, match=words):
        e.expect_constants_fit(expr, [kind, kind])


def test_float64_is_refused_on_gpus() -> None:
    with pytest.raises(UnsupportedOpError, match="float64"):
        wgsl.render(Cast("float64", X), ["x"], ["float32"])


# Building and traversing


def expressions(leaves: int) -> st.SearchStrategy[Expr]:
    """Draw float expressions that are finite for moderate inputs."""
    base = st.one_of(
        st.integers(0, leaves - 1).map(Leaf),
        st.sampled_from([0.0, 0.5, -1.25, 3.0]).map(Const),
    )

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        def unary(name: str) -> st.SearchStrategy[Expr]:
            return inner.map(lambda a: e.call(name, a))

        def binary(name: str) -> st.SearchStrategy[Expr]:
            return st.tuples(inner, inner).map(lambda pair: e.call(name, *pair))

        select = st.tuples(inner, inner, inner).map(lambda t: e.where(t[0] < t[1], t[2], t[0]))
        return st.one_of(
            *(unary(name) for name in ("neg", "abs", "tanh", "sin", "cos")),
            *(binary(name) for name in ("add", "sub", "mul", "maximum", "minimum")),
            select,
        )

    # A leaf in front fixes the dtype.
    return st.recursive(base, grow, max_leaves=12).map(lambda expr: Leaf(0) + expr)


@given(expressions(2))
def test_expressions_survive_json(expr: Expr) -> None:
    assert e.from_json(e.to_json(expr)) == expr


@given(expressions(2), expressions(1), expressions(1))
def test_substituting_is_composing(expr: Expr, first: Expr, second: Expr) -> None:
    x = np.linspace(-1.0, 1.0, 7)
    together = evaluate(e.substitute(expr, [first, second]), [x])
    apart = evaluate(expr, [evaluate(first, [x]), evaluate(second, [x])])
    np.testing.assert_array_equal(together, apart)


@given(expressions(2))
def test_float64_and_float32_are_kept(expr: Expr) -> None:
    for kind in (np.float32, np.float64):
        values = [np.linspace(-1.0, 1.0, 5, dtype=kind), np.ones(5, kind)]
        assert evaluate(expr, values).dtype == kind


def test_count_returns_the_number_of_operations() -> None:
    assert e.count(X) == 0
    assert e.count(Cast("int32", X + Y) * 2) == 2


# NumPy's values


def test_remainders_and_quotients_of_whole_numbers_round_down() -> None:
    a, b = np.array([7, -7, 7, -7, 7], np.int32), np.array([2, 2, -2, -2, 0], np.int32)
    assert evaluate(e.call("floor_div", X, Y), [a, b]).tolist() == [3, -4, -4, 3, 0]
    assert evaluate(e.call("mod", X, Y), [a, b]).tolist() == [1, 1, -1, -1, 0]


def test_the_error_function_matches_the_standard_library() -> None:
    values = np.concatenate([np.linspace(-5, 5, 1001), [1e-30, np.inf, -np.inf, np.nan]])
    expected = [math.erf(x) for x in values]
    np.testing.assert_array_equal(evaluate(e.call("erf", X), [values]), expected)
    single = evaluate(e.call("erf", X), [values.astype(np.float32)])
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=5e-7)


def test_invalid_values_do_not_warn() -> None:
    bad = np.array([np.nan, np.inf, -1.0, 0.0], np.float32)
    with np.errstate(all="raise"):
        result = evaluate(e.log(X) + e.sqrt(X) + 1.0 / X + e.exp(X * 1e9), [bad])
    assert result.shape == (4,)


# The GPU's values


BINARY = {
    "add", "sub", "mul", "div", "mod", "floor_div", "pow", "arctan2", "maximum", "minimum",
    "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor",
}  # fmt: skip
WIDE = np.array([80.0, -80.0, 1e-20, 1e20, -1e20, np.inf, -np.inf, np.nan, -0.0], np.float32)
NEAR_ZERO = np.array([1e-7, -1e-6, 1e-4, -1e-3, 0.01, -0.1], np.float32)
ONES = np.array([1.0, -1.0, 0.99, -0.99, 1.01], np.float32)
EXTREME = np.array([-(2**31), 2**31 - 1, -(2**31) + 1, 0, -1, 1, 7, -7, 3], np.int32)
UNSIGNED = np.array([0, 1, 2, 7, 100, 255, 2**31, 2**32 - 1], np.uint32)


def _arguments(name: str, values: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Return values for each argument of a function, all pairs if it has two."""
    if name == "select":
        return [np.array([True, False])[:, None], values[None, :], values[None, ::-1]]
    return [values[:, None], values[None, :]] if name in BINARY else [values]


def _values(name: str) -> np.ndarray[Any, Any]:
    """Return the range to test: what WGSL specifies and single precision can represent."""
    if FUNCTIONS[name].domain == "b":
        return np.array([True, False])
    values = np.concatenate([FLOATS, NEAR_ZERO, ONES, WIDE])
    size = np.abs(values)
    if name in ("sin", "cos", "tan"):
        return values[~(size > 100)]
    if name in ("mod", "floor_div"):  # float32 holds the quotient
        return values[(size == 0) | (size > 1e-2) & (size < 1e2) | ~np.isfinite(values)]
    if name in ("mul", "div"):  # no result overflows, nor is subnormal
        return values[(size == 0) | (size > 1e-7) & (size < 1e4) | ~np.isfinite(values)]
    return values


def _call(name: str, count: int) -> Expr:
    return Call(name, tuple(Leaf(i) for i in range(count)))


@pytest.mark.gpu
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_on_the_gpu_match_numpy(name: str) -> None:
    """Small results have small errors, except sine and cosine after whole turns."""
    arrays = _arguments(name, _values(name))
    atol = 2e-7 if name in ("sin", "cos", "tan") else 1e-30
    agree([_call(name, len(arrays))], *arrays, atol=atol)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "i" in FUNCTIONS[name].domain])
def test_functions_of_whole_numbers_on_the_gpu_match_numpy(name: str) -> None:
    for values in (INTS, EXTREME, UNSIGNED):
        arrays = _arguments(name, values)
        agree([_call(name, len(arrays))], *arrays)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "i" in FUNCTIONS[name].domain])
def test_bytes_wrap_on_the_gpu_as_in_numpy(name: str) -> None:
    unsigned = np.array([0, 1, 2, 7, 100, 200, 255], np.uint8)
    signed = np.array([0, 1, -1, 7, -100, 127, -128], np.int8)
    for values in (unsigned, signed):
        arrays = _arguments(name, values)
        agree([Cast("int32", _call(name, len(arrays)))], *arrays)


SPECIAL: list[tuple[str, Callable[..., Expr]]] = [
    ("tanh saturates", lambda x: e.tanh(x)),
    ("log of 0 is minus infinity", lambda x: e.log(e.absolute(x))),
    ("NaN is found", lambda x: e.where(e.call("isnan", x), 1.0, 0.0)),
    ("infinity is not finite", lambda x: e.where(e.isfinite(x), 1.0, 0.0)),
    ("maximum keeps NaN", lambda x: e.call("maximum", x, 0.0)),
    ("minimum keeps NaN", lambda x: e.call("minimum", 0.0, x)),
]


@pytest.mark.gpu
def test_weak_spots_are_mended() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.0, 95.0, -95.0, 1.0], np.float32)
    for chunk in (SPECIAL[:3], SPECIAL[3:]):
        agree([build(X) for _, build in chunk], values)


@pytest.mark.gpu
def test_powers_of_negative_numbers_match_numpy() -> None:
    base = np.array([-2.0, -1.5, -1.0, 0.0], np.float32)[:, None]
    exponent = np.array([0.0, 1.0, 2.0, 3.0, 0.5, -2.0], np.float32)[None, :]
    agree([e.call("pow", X, Y)], base, exponent)


@pytest.mark.gpu
def test_casts_on_the_gpu_match_numpy() -> None:
    values = np.array([0.0, 1.9, -1.9, 250.0, -7.5], np.float32)
    agree([Cast("int32", X), Cast("bool", X), Cast("float32", Cast("int32", X))], values)
    agree([Cast("bool", X)], np.array([np.nan, np.inf, -0.0, 0.0, 1e-30], np.float32))
    agree([Cast("float32", X), Cast("uint32", X), Cast("bool", X)], np.abs(INTS))
    agree([Cast("float32", X), Cast("int32", X)], np.array([True, False]))
    agree([Cast("float32", X), Cast("int32", X)], np.array([0, 1, 127, 128, 255], np.uint8))
    signed = np.array([0, 1, -1, 127, -128], np.int8)
    agree([Cast("float32", X), Cast("int32", X), Cast("uint32", X), Cast("bool", X)], signed)


@pytest.mark.gpu
def test_random_expressions_on_the_gpu_match_numpy() -> None:
    """Test thirty compositions, three in a kernel."""
    random = np.random.default_rng(11)
    x, y = (random.uniform(-1.5, 1.5, 40).astype(np.float32) for _ in range(2))

    def grow(depth: int) -> Expr:
        if depth == 0:
            return (X, Y, Const(0.75))[random.integers(3)]
        name = ("add", "mul", "sub", "maximum", "tanh", "neg", "select", "sin")[random.integers(8)]
        if name == "select":
            return e.where(grow(depth - 1) < grow(depth - 1), grow(depth - 1), X)
        binary = name in ("add", "mul", "sub", "maximum")
        return e.call(name, *(grow(depth - 1) for _ in range(2 if binary else 1)))

    for _ in range(10):
        agree([X * 0.5 + grow(4) for _ in range(3)], x, y)
