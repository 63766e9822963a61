"""Elementwise operations in WebAssembly: the samples of the op contract, and special values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.graph.opdef import OpDef, registered
from playgrad.ops.expression import expr as e
from playgrad.ops.expression.evaluate import evaluate
from playgrad.ops.expression.simd import COMPOSED, INSTRUCTIONS
from playgrad.ops.expression.simd_doubles import DOUBLES
from playgrad.ops.expression.simd_kernel import LeafForm, as_rows, is_supported, kernel_module
from playgrad.ops.expression.simd_lanes import BY_LANE
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]

_ROOM = 1 << 12
"""Bytes for each array."""
SPECIAL = np.array(
    [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.625, 1e-3, 1e-10, -1e-10, 1e-38, 1e-40, -1e-42, 3.0,
        -3.0, 9.1, 15.0, 87.0, 88.5, 88.8, -87.2, -88.0, -100.0, -103.5, -110.0, 1e10, -1e10, 3e38,
        -3e38, np.inf, -np.inf, np.nan,
    ],
    np.float32,
)  # fmt: skip


def run(exprs: tuple[e.Expr, ...], arrays: tuple[Array, ...]) -> list[Array] | None:
    """Return the values that the kernel of ``exprs`` computes, None if there cannot be one."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    form = as_rows(shape, [array.shape for array in arrays])
    if form is None:
        return None
    rows, columns, spreads = form
    leaves = tuple((a.dtype.name, spread) for a, spread in zip(arrays, spreads, strict=True))
    if not is_supported(exprs, leaves):
        return None
    host = WasmtimeHost(kernel_module(exprs, leaves), (len(arrays) + len(exprs) + 1) * _ROOM)
    arguments: list[float] = []
    for array, spread in zip(arrays, spreads, strict=True):
        if spread is LeafForm.NEITHER:
            arguments.append(array.item())
            continue
        host.view(len(arguments) * _ROOM, array.shape)[...] = array
        arguments.append(len(arguments) * _ROOM)
    outputs = [(len(arrays) + number) * _ROOM for number in range(len(exprs))]
    host.memory[outputs[0] :] = 0xAB
    host.function("run")(rows, columns, *arguments, *outputs)
    for output in outputs:
        assert (host.memory[output + 4 * rows * columns : output + _ROOM] == 0xAB).all()
    return [host.view(output, shape).copy() for output in outputs]


def cases_of(op: OpDef) -> list[tuple[tuple[e.Expr, ...], tuple[Array, ...]]]:
    return [(op.elementwise.build(sample.attrs), sample.inputs) for sample in op.samples]


ELEMENTWISE = [op for op in registered() if op.elementwise is not None and op.samples]


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_samples_agree_with_numpy(op: OpDef) -> None:
    for exprs, arrays in cases_of(op):
        results = run(exprs, arrays)
        if results is None:
            continue
        for expr, result in zip(exprs, results, strict=True):
            expected = evaluate(expr, arrays)
            expected = np.broadcast_to(expected, result.shape)
            np.testing.assert_allclose(result, expected, rtol=2e-6, atol=2e-7)


def test_updates_and_most_activations_are_compiled() -> None:
    compiled = {op.name for op in ELEMENTWISE for case in cases_of(op) if run(*case) is not None}
    assert {
        "add", "mul", "div", "exp", "tanh", "sigmoid", "relu", "silu", "log", "sqrt", "fused",
        "fused_update", "apply_adam", "apply_sgd", "apply_momentum", "squared_difference",
    } <= compiled  # fmt: skip


@pytest.mark.parametrize("name", [*INSTRUCTIONS, *COMPOSED, *BY_LANE["float32"]])
def test_special_values_are_those_of_numpy(name: str) -> None:
    """Of exact functions with the same bits, of others to two units in the last place."""
    x, y = e.Leaf(0), e.Leaf(1)
    a, b = (grid.copy() for grid in np.meshgrid(SPECIAL, SPECIAL))
    if name in ("and", "or", "xor"):
        inner = e.call(name, x > 0.0, y > 0.0)
    elif name == "not":
        inner = e.call(name, x > 0.0)
    elif name == "select":
        inner = e.where(x > y, x, y)
    else:
        inner = e.call(name, *(x, y)[: 2 if name in _BINARY else 1])
    is_mask = e.infer_dtype(inner, ["float32"] * 2) == "bool"
    expr = e.Cast("float32", inner) if is_mask else inner
    results = run((expr,), (a, b))
    assert results is not None
    if name in DOUBLES:  # NumPy's own of float32 are up to four units off on some processors
        with np.errstate(over="ignore"):
            expected = evaluate(expr, [a.astype(float), b.astype(float)]).astype(np.float32)
    else:
        expected = evaluate(expr, [a, b])
    units = 0 if name in INSTRUCTIONS or name in BY_LANE["float32"] else 1 if name in DOUBLES else 2
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.isnan(results[0]), np.isnan(expected))
        spacing = np.spacing(np.abs(expected, dtype=np.float32))
        off = np.abs(results[0].astype(float) - expected) / spacing
    same = (results[0] == expected) | np.isnan(expected)
    if name in BY_LANE["float32"]:  # zeros have a sign, too
        same &= (np.signbit(results[0]) == np.signbit(expected)) | np.isnan(expected)
    assert (same | (off <= units)).all(), (a[~same], results[0][~same], expected[~same])


NEAR_QUARTERS = [-7.729178919452902e28, -1.5282689358063206e17, -1.5458357838905804e29]
"""Angles next to multiples of a quarter turn, of which most digits go."""


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_any_size_are_reduced_exactly(name: str) -> None:
    sizes = np.float32(2.0) ** np.linspace(10, 127.9, 500).astype(np.float32)
    angles = np.concatenate([sizes, -sizes, [2.0**20, 2.0**20 - 0.125], NEAR_QUARTERS])
    angles = angles.astype(np.float32)
    results = run((e.call(name, e.Leaf(0)),), (angles,))
    assert results is not None
    expected = getattr(np, name)(angles.astype(float))
    np.testing.assert_allclose(results[0], expected, rtol=2e-7)


_BINARY = {"mod", "floor_div"} | {
    "pow",
    "arctan2",
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
}


@pytest.mark.parametrize("name", ["exp", "tanh", "log", "erf"])
def test_polynomials_are_accurate_everywhere(name: str) -> None:
    generator = np.random.default_rng(0)
    low, high = {"exp": (-100, 88), "log": (1e-30, 50)}.get(name, (-6, 6))
    values = np.concatenate([generator.uniform(low, high, 500), generator.normal(0, 0.3, 500)])
    values = (np.abs(values) if name == "log" else values).astype(np.float32)
    expr = e.call(name, e.Leaf(0))
    results = run((expr,), (values,))
    assert results is not None
    expected = evaluate(expr, [values.astype(np.float64)])
    np.testing.assert_allclose(results[0], expected, rtol=5e-7, atol=1e-37)


SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((7,), ()), ((5, 6), (6,)), ((5, 6), (5, 1)), ((3, 2, 5), (2, 5)), ((3, 2, 5), (3, 1, 1)),
    ((1, 9), (9,)), ((4, 1), (1, 5)), ((2, 4), (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_leaves_are_repeated_as_numpy_broadcasts(shapes: tuple[tuple[int, ...], ...]) -> None:
    """With equal bits: no operation is fused with another."""
    generator = np.random.default_rng(0)
    arrays = tuple(np.asarray(generator.normal(size=shape), np.float32) for shape in shapes)
    exprs = (e.Leaf(0) * 0.3 + e.Leaf(1), e.Leaf(1) - e.Leaf(0) * e.Leaf(1))
    results = run(exprs, arrays)
    assert results is not None
    for expr, result in zip(exprs, results, strict=True):
        np.testing.assert_array_equal(result, evaluate(expr, arrays))


@pytest.mark.parametrize("gate", [True, False])
def test_a_closed_gate_keeps_the_value(gate: bool) -> None:
    x = np.arange(5, dtype=np.float32)
    results = run((e.where(e.Leaf(1), e.Leaf(0) * 2.0, e.Leaf(0)),), (x, np.asarray(gate)))
    assert results is not None
    np.testing.assert_array_equal(results[0], 2 * x if gate else x)


@pytest.mark.parametrize(
    "shapes", [((3,), ()), ((2, 3), (3,)), ((4, 3, 5), (4, 1, 5))], ids=["short", "rows", "middle"]
)
def test_other_shapes_are_left_to_numpy(shapes: tuple[tuple[int, ...], ...]) -> None:
    assert as_rows(np.broadcast_shapes(*shapes), shapes) is None
