"""Scattered sums, sorting and gradients by filters of groups that threads share: the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import playgrad as pg
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node
from playgrad.ops.reductions.sparse import gather_sum
from playgrad.wasm import step
from tests.wasm.emitted_node import FailedError, run_emitted
from tests.wasm.test_threads import run_jobs

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)
IDS = RANDOM.integers(0, 9, 50).astype(np.int32)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def edges() -> Callable[..., Tensor]:
    def build(x: Tensor, sources: Tensor, targets: Tensor, *factors: Tensor) -> Tensor:
        return gather_sum(x, sources, targets, 9, *factors)

    return build


def filter_gradient(groups: int) -> Callable[..., Tensor]:
    def build(x: Tensor, filters: Tensor) -> Tensor:
        y = pg.conv2d(x, filters, strides=(2, 1), padding="same", groups=groups)
        return found(pg.gradients(pg.reduce_sum(y * y), [filters])[0], "conv2d_filter_gradient")

    return build


def found(tensor: Tensor | None, name: str) -> Tensor:
    """Return the result of the operation called ``name`` that ``tensor`` depends on."""
    assert tensor is not None
    nodes = [tensor.node]
    while nodes[-1].op.name != name:
        nodes = [each.node for node in nodes for each in node.inputs]
    return nodes[-1].output


CASES: dict[str, tuple[Callable[..., Tensor], list[Array]]] = {
    "sums": (lambda x, ids: pg.segment_sum(x, ids, 9), [floats(50, 70), IDS]),
    "ordered sums": (
        lambda x, ids: pg.segment_sum(x, ids, 9, indices_are_sorted=True),
        [floats(50, 10), np.sort(IDS)],
    ),
    "ordered maxima": (
        lambda x, ids: pg.segment_max(x, ids, 9, indices_are_sorted=True),
        [floats(50, 10), np.sort(IDS)],
    ),
    "ordered edges": (
        lambda x, sources, ids: gather_sum(x, sources, ids, 9, indices_are_sorted=True),
        [floats(12, 10), IDS, np.sort(IDS)],
    ),
    "sums of a cube": (lambda x, ids: pg.segment_sum(x, ids, 9), [floats(50, 5, 16), IDS]),
    "maxima": (lambda x, ids: pg.segment_max(x, ids, 9), [floats(50, 33), IDS]),
    "minima of int32": (
        lambda x, ids: pg.segment_min(x, ids, 9),
        [RANDOM.integers(-99, 99, (50, 37)).astype(np.int32), IDS],
    ),
    "scattered": (
        lambda x, ids: add_node("scatter_add", [x, ids], {"axis": 1, "rows": 9}).output,
        [floats(3, 50, 40), IDS],
    ),
    "edges": (edges(), [floats(12, 70), IDS, IDS[::-1].copy()]),
    "weighted edges": (edges(), [floats(12, 70), IDS, IDS[::-1].copy(), floats(50)]),
    "weights of parts": (edges(), [floats(12, 6, 9), IDS, IDS[::-1].copy(), floats(50, 6)]),
    "argsort": (lambda x: pg.ops.argsort(x, -1), [floats(7, 40).round(1)]),
    "argsort of columns": (lambda x: pg.ops.argsort(x, 1, True), [floats(7, 40, 3).round(1)]),
    "along an axis": (
        lambda x, ids: pg.ops.take_along_axis(x, ids, 1),
        [floats(7, 40), RANDOM.integers(0, 40, (7, 90)).astype(np.int32)],
    ),
    "one-hot": (lambda ids: pg.one_hot(ids, 9), [IDS]),
    "filters of channels": (filter_gradient(20), [floats(2, 6, 7, 20), floats(3, 3, 1, 40)]),
    "filters of groups": (filter_gradient(5), [floats(2, 6, 7, 15), floats(3, 2, 3, 20)]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def shares() -> Any:
    """Have operations of any size be shared."""
    with mock.patch.object(step, "WORTH", 0.0), mock.patch.object(step, "SHORTEST", 1e-12):
        yield


def node_of(name: str) -> tuple[Node, list[Array]]:
    """Return the shared node of a case, and its inputs."""
    build, arrays = CASES[name]
    with Graph().as_default():
        tensors = [pg.placeholder(array.dtype, array.shape) for array in arrays]
        node = build(*tensors).node
    values = dict(zip(tensors, arrays, strict=True))
    inputs = [values.get(x) for x in node.inputs]
    return node, [floats(*x.spec.static_shape) if v is None else v
                  for x, v in zip(node.inputs, inputs, strict=True)]  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_chunks_have_the_bits_of_the_whole(name: str) -> None:
    node, inputs = node_of(name)
    whole = run_emitted(node, inputs)
    assert whole is not None
    (expected,) = node.op.reference(inputs, node.attrs)
    np.testing.assert_allclose(whole[0], expected, rtol=1e-4, atol=1e-5)
    for threads in (2, 3, 8):
        shared = run_emitted(node, inputs, threads=threads)
        assert shared is not None and shared[0].tobytes() == whole[0].tobytes()
        assert run_jobs(node, threads) == 1
        by_one = run_emitted(node, inputs, threads=threads, alone=True)
        assert by_one is not None and by_one[0].tobytes() == whole[0].tobytes()


@pytest.mark.parametrize("name", ["sums", "ordered sums", "weighted edges", "along an axis"])
@pytest.mark.parametrize("wrong", [-1, 90])
def test_an_index_outside_ends_the_step(name: str, wrong: int) -> None:
    node, inputs = node_of(name)
    ids = inputs[1] = inputs[1].copy()
    ids.flat[-1] = wrong
    for alone in (False, True):
        with pytest.raises(FailedError):
            run_emitted(node, inputs, threads=3, alone=alone)


def test_indices_that_are_not_in_order_end_the_step() -> None:
    for name in ("ordered sums", "ordered maxima", "ordered edges"):
        node, inputs = node_of(name)
        inputs[-1] = IDS
        with pytest.raises(FailedError):
            run_emitted(node, inputs, threads=3)


def test_gradients_of_depthwise_convolutions_stay_whole() -> None:
    graph = Graph()
    with graph.as_default():
        x, filters = pg.placeholder("float32", (8, 28, 28, 64)), pg.Variable(floats(3, 3, 1, 64))
        y = pg.conv2d(x, filters, padding="same", groups=64)
        node = found(
            pg.gradients(pg.reduce_sum(y * y), [filters])[0], "conv2d_filter_gradient"
        ).node
    assert run_jobs(node, 8) == 0
