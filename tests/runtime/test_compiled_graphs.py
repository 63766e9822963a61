"""Random graphs, compiled: each node against its reference, fused against apart, threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest

from playgrad.contract.comparison import expect_close
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors, topological
from playgrad.runtime import executor, host_program
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.wasm import step
from tests.runtime.random_graphs import RandomGraph
from tests.runtime.random_operations import KINDS
from tests.sweeps import SEED, budget, dice
from tests.wasm.wasmtime_step_host import WasmtimeStepHost

Array = np.ndarray[Any, Any]
_WITHOUT_REFERENCE = {"placeholder", "variable", "read_variable", "constant", "dropout"}
"""Or with one that needs the state of a session."""


def computed(graph: RandomGraph, fetches: Sequence[Tensor], threads: int) -> list[Array]:
    """Return values by compiled code; with several threads, even the smallest work is shared."""
    shared = threads > 1
    needed = ancestors([tensor.node for tensor in fetches])
    feeds = {tensor: value for tensor, value in graph.feeds.items() if tensor.node in needed}
    with (
        using_step_host(WasmtimeStepHost(1 << 26, threads=threads)),
        mock.patch.object(host_program, "SECONDS_OF_NODE", 0.0),
        mock.patch.object(executor, "default_threads", lambda: 0),
        mock.patch.object(step, "WORTH", 0.0 if shared else step.WORTH),
        mock.patch.object(step, "SHORTEST", 1e-12 if shared else step.SHORTEST),
        Session(graph.graph, "cpu") as session,
    ):
        results: list[Array] = session.run(list(fetches), feeds)
    return results


def expect_reference(node: Node, inputs: list[Array], outputs: list[Array]) -> None:
    """Compare results of a node with those of its reference for the same inputs."""
    with np.errstate(all="ignore"):
        expected = node.op.reference(inputs, node.attrs)
    for have, want in zip(outputs, expected, strict=True):
        want = np.asarray(want)
        if "conv2d" in node.op.name:  # kernels may leave out 0 times infinity in the border
            kept = np.isfinite(want)
            have, want = have[kept], want[kept]
        expect_equal(node, have, want, 2e-6)


def expect_equal(node: Node, have: Array, want: Array, share: float) -> None:
    """Compare results of a node up to rounding.

    Args:
        share: how much they may differ, as a share of the largest.
    """
    finite = np.abs(want[np.isfinite(want)], dtype=np.float64)
    rtol = 2e-3 if want.dtype == np.float16 else 1e-4
    expect_close(str(node), have, want, rtol, max(share * finite.max(initial=0.0), 1e-30))


@pytest.mark.parametrize("number", range(budget(200, night=1000)))
def test_random_graphs(number: int) -> None:
    graph = RandomGraph(SEED + number, KINDS)
    order = list(topological(ancestors([tensor.node for tensor in graph.tensors])))
    tensors = [tensor for node in order for tensor in node.outputs]
    apart = dict(zip(tensors, computed(graph, tensors, 1), strict=True))
    for node in order:
        if node.op.name not in _WITHOUT_REFERENCE:
            expect_reference(
                node, [apart[x] for x in node.inputs], [apart[x] for x in node.outputs]
            )
    read = {tensor for node in order for tensor in node.inputs}
    ends = [tensor for tensor in tensors if tensor not in read]
    results = computed(graph, ends, 1)
    threads = dice("threads", number).randint(2, 9)
    # Fused operations do not round to float16 in between, and the sine of a large number shows it.
    are_alike = all(tensor.dtype != "float16" for tensor in tensors)
    for tensor, have, again in zip(ends, results, computed(graph, ends, threads), strict=True):
        assert have.tobytes() == again.tobytes(), f"{threads} threads change bits of {tensor.node}"
        if are_alike and tensor.dtype == "float32":
            expect_equal(tensor.node, have, apart[tensor], 1e-4)
