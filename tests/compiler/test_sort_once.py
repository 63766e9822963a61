"""Segments' numbers are sorted once on a GPU, and results keep their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.compile import run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.errors import FeedError
from playgrad.ops.reductions.sparse import gather_sum
from tests.compiler.interpreter import interpret

EDGES, NODES = 600, 90
RANDOM = np.random.default_rng(5)
TARGETS, SOURCES = RANDOM.integers(0, NODES, (2, EDGES)).astype(np.int32)
X = RANDOM.normal(size=(NODES, 8)).astype(np.float32)
WEIGHTS = RANDOM.normal(size=EDGES).astype(np.float32)


def results(x: Any, sources: Any, targets: Any, weights: Any) -> list[Any]:
    """Return what layers of a graph network compute, and its gradients."""
    messages = pg.gather(x, sources)
    reduced = [
        pg.segment_max(messages, targets, NODES),
        pg.segment_min(messages, targets, NODES),
        pg.segment_sum(messages, targets, NODES),
        gather_sum(x, sources, targets, NODES),
        gather_sum(x, sources, targets, NODES, weights),
    ]
    loss = sum((pg.sum(y * y) for y in reduced[1:]), pg.sum(reduced[0] * 0.5))
    return [*reduced, *pg.gradients(loss, [x, weights])]


def placed(kind: str) -> tuple[Program, dict[str, Any], dict[str, tuple[int, ...]]]:
    """Return a program that computes them from fed edges, or from "constant" ones."""
    graph = pg.Graph()
    with graph.as_default():
        x, weights = pg.placeholder("float32", X.shape), pg.placeholder("float32", (EDGES,))
        ends: list[Any] = [pg.constant(SOURCES), pg.constant(TARGETS)]
        arrays = {"x": X, "weights": WEIGHTS}
        feeds = {"x": x, "weights": weights}
        if kind == "fed":
            ends = [pg.placeholder("int32", (EDGES,)) for _ in ends]
            feeds |= {"sources": ends[0], "targets": ends[1]}
            arrays |= {"sources": SOURCES, "targets": TARGETS}
        program = Program(graph, results(x, *ends, weights), [], feeds)
    return program, arrays, {name: array.shape for name, array in arrays.items()}


@pytest.mark.parametrize(("kind", "sorts"), [("fed", 2), ("constant", 0)])
def test_each_row_of_edges_is_sorted_once_and_constant_ones_before_the_run(
    kind: str, sorts: int
) -> None:
    program, arrays, shapes = placed(kind)
    compiled = run_passes(program, shapes, Policy("gpu:0", ("cpu:0", "gpu:0"))).program
    names = [node.op.name for node in compiled.order()]
    assert names.count("argsort") == sorts
    assert not any(
        node.op.name in ("segment_max", "segment_min", "scatter_add", "gather_sum")
        and not node.attrs.get("sorted")
        for node in compiled.order()
    )
    on_cpu = run_passes(program, shapes, Policy("cpu:0", ("cpu:0",))).program
    assert "argsort" not in [node.op.name for node in on_cpu.order()]
    expected, actual = (interpret(each, arrays, {})[0] for each in (program, compiled))
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_gpu_computes_the_same() -> None:
    with pg.Graph().as_default():
        x, weights = pg.Variable(X), pg.Variable(WEIGHTS)
        ends = [pg.placeholder("int32", (EDGES,)) for _ in "ab"]
        fetches = results(x, *ends, weights)
        feeds = dict(zip(ends, (SOURCES, TARGETS), strict=True))
        with pg.Session(device="cpu") as cpu, pg.Session(device="gpu") as gpu:
            expected, actual = cpu.run(fetches, feeds), gpu.run(fetches, feeds)
            again = gpu.run(fetches, feeds)
            for a, b, c in zip(expected, actual, again, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
                np.testing.assert_array_equal(b, c)
            with pytest.raises(FeedError, match=f"must lie in .0, {NODES}"):
                gpu.run(fetches[0], {**feeds, ends[1]: np.where(TARGETS == 3, NODES, TARGETS)})
