"""Graphs and weights that are not valid, or that say the same in two ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import data, nn
from playgrad.errors import DataError


@pytest.mark.parametrize("weights", [[2, 1, 5, 0.5], [2, -3, 5, 0.5], [2, 1, -9, 0.5]])
def test_norm_has_the_weights_of_gcn_conv(weights: list[float]) -> None:
    """With a self loop, which keeps its weight, and with degrees that are not positive."""
    edges, x = np.array([[2, 0, 1, 1], [0, 2, 1, 0]]), np.eye(3, dtype=np.float32)
    results = []
    for normalize, (ends, factors) in (
        (True, (edges, np.array(weights, np.float32))),
        (False, data.gcn_norm(edges, 3, weights)),
    ):
        inputs = [pg.Input((3, 3)), pg.Input(ends.shape, dtype="int32"), pg.Input(factors.shape)]
        layer = nn.GCNConv(3, normalize=normalize, kernel_initializer="identity")
        results.append(
            pg.Model(inputs, layer(*inputs)).predict([x[None], ends[None], factors[None]])
        )
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_numbers_that_models_do_not_have_are_refused() -> None:
    loop = np.zeros((2, 1), np.int32)
    with pytest.raises(DataError, match="from -2147483648 to 2147483647, got 4294967295"):
        data.batch_graphs([data.GraphData(np.array([[2**32 - 1]]), loop, y=1)])
    with pytest.raises(DataError, match="must be numbers, got complex128"):
        data.batch_graphs([data.GraphData(np.ones((1, 1)), loop, y=1j)])
    graph = data.CSRGraph.from_edges(loop, 1)
    with pytest.raises(DataError, match="got 1099511627776 to"):
        data.NeighborSampler(graph, [1], np.ones((1, 1)), np.array([2**40])).sample([0])


def test_graphs_that_are_not_valid_are_refused(tmp_path: Path) -> None:
    whole = np.array([0, 1, 2])
    for indptr, reason in (([0, 2, 1, 2], "not decrease"), ([0.0, 1.0, 2.0], "got .* of float64")):
        with pytest.raises(DataError, match=reason):
            data.CSRGraph(np.array(indptr), np.zeros(2, np.int32))
    x = np.ones((2, 1))
    for indices in ([0, -1], [0, 2]):
        graph = data.CSRGraph(whole, np.array(indices, np.int32))
        with pytest.raises(DataError, match=f"2 nodes from 0 to 1, got {indices[1]}"):
            data.NeighborSampler(graph, [1], x).sample([1])
        with pytest.raises(DataError, match=f"got {indices[1]}"):
            data.infer_layers([lambda x, edges: x], graph, x)
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00\x10\x00{"):
        (tmp_path / "indptr.npy").write_bytes(content)
        with pytest.raises(DataError, match=r"indptr\.npy cannot be read"):
            data.CSRGraph.load(tmp_path)


def test_nodes_that_cannot_be_sampled_are_refused() -> None:
    graph, x = data.CSRGraph.from_edges([[0, 1], [1, 0]], 2), np.ones((2, 1))
    for nodes in ([], [-1], [2], [0.5]):
        with pytest.raises(DataError, match="nodes must hold numbers from 0 to 1"):
            data.NeighborSampler(graph, [1], x).sample(nodes)
    with pytest.raises(DataError, match="each node once"):
        data.NeighborSampler(graph, [1], x, input_nodes=[0, 0])
    with pytest.raises(
        DataError, match=r"input_nodes must have a row for each of 2 nodes, got \(1"
    ):
        data.NeighborSampler(graph, [1], x, input_nodes=[True])
    with pytest.raises(DataError, match="a number for each layer"):
        data.NeighborSampler(graph, [], x)
    with pytest.raises(DataError, match=r"x must have a row for each of 2 nodes, got \(3, 1\)"):
        data.infer_layers([lambda x, edges: x], graph, np.ones((3, 1)))
