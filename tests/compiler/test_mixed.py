"""The pass for mixed precision: which values become float16, and how gradients are scaled."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.errors import GraphError
from playgrad.runtime.open_sessions import close_abandoned
from playgrad.runtime.options import Options, options_set

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(12, 20)).astype(np.float32)
W = RANDOM.normal(size=(20, 6)).astype(np.float32)
each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])


def built(factor: float = 1.0) -> tuple[pg.Graph, list[pg.Tensor], dict[pg.Tensor, Array]]:
    """Return a graph with two layers that share a weight, the results and gradients, and feeds."""
    graph = pg.Graph()
    with graph.as_default():
        x, w = pg.placeholder("float32", X.shape, "x"), pg.placeholder("float32", W.shape, "w")
        hidden = pg.tanh(pg.matmul(x, w))
        loss = pg.sum(pg.square(pg.matmul(hidden, w, transpose_b=True) - x)) * factor
        grads = [grad for grad in pg.gradients(loss, [x, w]) if grad is not None]
    return graph, [hidden, *grads], {x: X, w: W}


def run(device: str, precision: str, factor: float = 1.0) -> list[Array]:
    graph, fetches, feeds = built(factor)
    with pg.Session(graph, device, precision=precision) as session:
        results: list[Array] = session.run(fetches, feeds)
    return results


def compiled(device: str, precision: str = "mixed") -> list[Any]:
    """Return the nodes of the compiled program on ``device``."""
    graph, fetches, feeds = built()
    by_name = {tensor.node.name: tensor for tensor in feeds}
    program = Program(graph, fetches, feeds=by_name, precision=precision)
    shapes = {tensor.node.name: array.shape for tensor, array in feeds.items()}
    return run_passes(program, shapes, Policy(device, [device])).order


def nearly(actual: Array, expected: Array, tolerance: float) -> bool:
    return bool(np.abs(actual - expected).max() <= tolerance * np.abs(expected).max())


def test_operands_on_a_gpu_are_float16_and_each_is_rounded_once() -> None:
    nodes = compiled("gpu:0")
    products = [node for node in nodes if "base_inputs" in node.attrs or node.op.name == "matmul"]
    assert len(products) == 6
    read = [t for node in products for t in node.inputs[: node.attrs.get("base_inputs", 2)]]
    assert {tensor.dtype for tensor in read} == {"float16"}
    # x, w, tanh(x w), and the gradients of both products
    assert len({tensor.node for tensor in read}) == 5
    assert {t.dtype for node in products for t in node.outputs} == {"float32"}


def test_a_processor_rounds_and_multiplies_float32() -> None:
    products = [node for node in compiled("cpu:0") if node.op.name == "matmul"]
    assert len(products) == 6
    assert {tensor.dtype for node in products for tensor in node.inputs} == {"float32"}
    np.testing.assert_allclose(
        run("cpu", "mixed")[0],
        np.tanh(X.astype(np.float16).astype(np.float32) @ W.astype(np.float16).astype(np.float32)),
        rtol=1e-5,
    )


def test_float32_is_what_it_was() -> None:
    assert all(t.dtype == "float32" for node in compiled("gpu:0", "float32") for t in node.outputs)


@each_device
@pytest.mark.parametrize("factor", [1.0, 1e-30, 1e-12, 1e12, 1e30])
def test_gradients_neither_underflow_nor_overflow(device: str, factor: float) -> None:
    results, expected = run(device, "mixed", factor), run("cpu", "float32", factor)
    for actual, exact in zip(results, expected, strict=True):
        assert nearly(actual, exact, 2.0**-8)
        assert not np.array_equal(actual, exact)


@each_device
def test_a_scale_is_a_power_of_two(device: str) -> None:
    """So gradients 256 times as large are exactly 256 times as large, whatever is rounded."""
    for small, large in zip(
        run(device, "mixed", 1e-9)[1:], run(device, "mixed", 2.0**8 * 1e-9)[1:], strict=True
    ):
        np.testing.assert_array_equal(small * np.float32(256), large)


@each_device
@pytest.mark.parametrize("value", [0.0, np.inf, np.nan])
def test_gradients_of_zero_and_beyond_numbers_stay_what_they_are(device: str, value: float) -> None:
    with np.errstate(all="ignore"):
        for actual in run(device, "mixed", value)[1:]:
            if value == 0.0:
                np.testing.assert_array_equal(actual, 0.0)
            else:
                assert not np.isfinite(actual).any()


@each_device
def test_finite_operands_beyond_float16_saturate(device: str) -> None:
    """So that what hides a large number in the forward pass, such as relu, hides no infinity."""
    values = np.float32([7e4, -7e4, 65519, 65520, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan, 2.0])
    with (graph := pg.Graph()).as_default():
        x = pg.placeholder("float32", (len(values), 1))
        product = pg.matmul(x, pg.constant([[1.0]]))
    with pg.Session(graph, device, precision="mixed") as session, np.errstate(all="raise"):
        results = session.run(product, {x: values[:, None]}).ravel()
    most = np.float32(65504)
    expected = np.where(np.isinf(values), values, np.clip(values, -most, most))
    np.testing.assert_array_equal(results, expected)


@each_device
def test_a_gradient_that_the_program_passes_is_scaled(device: str) -> None:
    flowing = RANDOM.normal(size=(12, 6)).astype(np.float32) * np.float32(1e-12)
    results = {}
    for precision in ("float32", "mixed"):
        with (graph := pg.Graph()).as_default():
            x, w, g = (pg.placeholder("float32", each.shape) for each in (X, W, flowing))
            grads = pg.gradients(pg.matmul(x, w), [x, w], [g])
        with pg.Session(graph, device, precision=precision) as session:
            results[precision] = session.run(grads, {x: X, w: W, g: flowing})
    for actual, exact in zip(results["mixed"], results["float32"], strict=True):
        assert nearly(actual, exact, 2.0**-9)


def test_the_mark_of_such_a_gradient_costs_no_node() -> None:
    for precision in ("float32", "mixed"):
        with (graph := pg.Graph()).as_default():
            x, g = pg.placeholder("float32", X.shape), pg.placeholder("float32", (12, 6))
            grads = [y for y in pg.gradients(pg.matmul(x, pg.constant(W)), x, [g]) if y is not None]
        feeds = {tensor.node.name: tensor for tensor in (x, g)}
        shapes = {name: tensor.spec.static_shape for name, tensor in feeds.items()}
        program = Program(graph, grads, feeds=feeds, precision=precision)
        order = run_passes(program, shapes, Policy("cpu:0", ["cpu:0"])).order
        assert "identity" not in {node.op.name for node in order}


@each_device
@pytest.mark.parametrize("sizes", [(1e-37, 1e38), (1e38, 1e-37), (1e-19, 1e-18), (1e18, 1e19)])
def test_a_product_of_two_gradients_is_scaled_back_in_turn(
    device: str, sizes: tuple[float, float]
) -> None:
    a, b = (np.float32(size) * np.abs(RANDOM.normal(size=(8, 8))) / 4 for size in sizes)
    a[0] = 0
    with (graph := pg.Graph()).as_default():
        x, y = (pg.placeholder("float32", (8, 8)) for _ in range(2))
        first, second = (pg.gradients(pg.neg(each), each, [each])[0] for each in (x, y))
        product = pg.matmul(first, second)
    with pg.Session(graph, device, precision="mixed") as session:
        actual = session.run(product, {x: a, y: b})
    expected = a.astype(np.float64) @ b
    np.testing.assert_allclose(actual, expected, rtol=2.0**-9)


def test_a_session_runs_in_several_precisions() -> None:
    graph, fetches, feeds = built()
    with pg.Session(graph, "cpu") as session:
        before = session.run(fetches, feeds)
        mixed = session.in_precision("mixed")
        rounded = mixed.run(fetches, feeds)
        after = session.run(fetches, feeds)
        assert mixed.in_precision("float32") is session
    assert all(map(np.array_equal, before, after))
    assert not any(map(np.array_equal, before, rounded))
    assert mixed.closed


def test_a_session_in_another_precision_keeps_it_open() -> None:
    with (graph := pg.Graph()).as_default():
        weight = pg.Variable(W)
    mixed = pg.Session(graph, "cpu").in_precision("mixed")
    gc.collect()
    close_abandoned()
    np.testing.assert_array_equal(mixed.value(weight), W)
    mixed.close()


def test_an_unknown_precision_is_an_error() -> None:
    graph = pg.Graph()
    with pytest.raises(GraphError, match="precision must be 'float32' or 'mixed', got 'half'"):
        pg.Session(graph, "cpu", precision="half")
    with options_set(Options(precision="half")), pytest.raises(GraphError, match="got 'half'"):
        pg.Session(graph, "cpu")
    with pg.Session(graph, "cpu") as session, pytest.raises(GraphError, match="got 'half'"):
        session.in_precision("half")


def test_an_option_of_the_host_is_the_default_of_sessions_opened_then() -> None:
    graph, fetches, feeds = built()
    with options_set(Options(precision="mixed")), pg.Session(graph, "cpu") as session:
        results = session.run(fetches, feeds)
    with pg.Session(graph, "cpu") as session:
        exact = session.run(fetches, feeds)
    assert all(map(np.array_equal, results, run("cpu", "mixed")))
    assert all(map(np.array_equal, exact, run("cpu", "float32")))
