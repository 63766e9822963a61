"""The pass for mixed precision: which values become float16, and how gradients are scaled."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.errors import GraphError
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.runtime.options import Options, options_set

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(12, 20)).astype(np.float32)
W = RANDOM.normal(size=(20, 6)).astype(np.float32)
each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])


def built(
    precision: str, factor: float = 1.0
) -> tuple[pg.Graph, list[pg.Tensor], dict[pg.Tensor, Array]]:
    """Return a graph with two layers that share a weight, the results and gradients, and feeds."""
    graph = pg.Graph(precision=precision)
    with graph.as_default():
        x, w = pg.placeholder("float32", X.shape, "x"), pg.placeholder("float32", W.shape, "w")
        hidden = pg.tanh(pg.matmul(x, w))
        loss = pg.sum(pg.square(pg.matmul(hidden, w, transpose_b=True) - x)) * factor
        grads = [grad for grad in pg.gradients(loss, [x, w]) if grad is not None]
    return graph, [hidden, *grads], {x: X, w: W}


def run(device: str, precision: str, factor: float = 1.0) -> list[Array]:
    graph, fetches, feeds = built(precision, factor)
    with pg.Session(graph, device) as session:
        results: list[Array] = session.run(fetches, feeds)
    return results


def compiled(device: str, precision: str = "mixed") -> list[Any]:
    """Return the nodes of the compiled program on ``device``."""
    graph, fetches, feeds = built(precision)
    program = Program(graph, fetches, feeds={tensor.node.name: tensor for tensor in feeds})
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
def test_an_operand_beyond_float16_is_infinite_and_not_wrong(device: str) -> None:
    with (graph := pg.Graph(precision="mixed")).as_default():
        x = pg.placeholder("float32", (1, 2))
        product = pg.matmul(x, pg.constant([[1.0], [1.0]]))
    with pg.Session(graph, device) as session, np.errstate(over="ignore"):
        large = np.array([[70000.0, 1.0]], np.float32)
        assert session.run(product, {x: large}).item() == np.inf


def test_a_precision_holds_from_the_next_run_on() -> None:
    graph, fetches, feeds = built("float32")
    with pg.Session(graph, "cpu") as session:
        before = session.run(fetches, feeds)
        graph.precision = "mixed"
        rounded = session.run(fetches, feeds)
        graph.precision = "float32"
        after = session.run(fetches, feeds)
    assert all(map(np.array_equal, before, after))
    assert not any(map(np.array_equal, before, rounded))


def test_a_graph_in_a_file_keeps_its_precision() -> None:
    data = graph_to_json(built("mixed")[0])
    assert graph_from_json(json.loads(json.dumps(data))).precision == "mixed"
    assert "precision" not in graph_to_json(pg.Graph())
    with pytest.raises(GraphError, match="precision must be 'float32' or 'mixed', got 'half'"):
        graph_from_json({**data, "precision": "half"})
    with pytest.raises(GraphError, match="precision must be"):
        pg.Graph(precision="float16")


def test_an_option_of_the_host_overrides_it() -> None:
    expected = run("cpu", "mixed")
    with options_set(Options(precision="mixed")):
        results = run("cpu", "float32")
    assert all(map(np.array_equal, results, expected))
