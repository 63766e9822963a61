"""Graphs as data: edges, batches, samples of neighbourhoods."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it uses torch.jit
    from torch_geometric import utils
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

import playgrad as pg
from playgrad import data, nn
from playgrad.errors import DataError

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(1)
NODES = 12
EDGES = np.hstack([RANDOM.integers(0, NODES, (2, 30)), [[3, 3, 5], [3, 3, 7]]]).astype(np.int32)
VALUES = RANDOM.uniform(0.5, 2, EDGES.shape[1]).astype(np.float32)
LONG, FLOATS = torch.from_numpy(EDGES.astype(np.int64)), torch.from_numpy(VALUES)


def same(ours: Any, theirs: Any) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other.numpy(), rtol=1e-6)


def test_edges_match_pytorch_geometric() -> None:
    same(data.coalesce(EDGES, VALUES), utils.coalesce(LONG, FLOATS))
    same(data.to_undirected(EDGES, VALUES), utils.to_undirected(LONG, FLOATS))
    same([data.to_undirected(EDGES)], [utils.to_undirected(LONG)])
    same(data.remove_self_loops(EDGES, VALUES), utils.remove_self_loops(LONG, FLOATS))
    theirs = utils.add_self_loops(LONG, FLOATS, 2.0, NODES)
    same(data.add_self_loops(EDGES, NODES, VALUES, 2.0), theirs)
    same([data.degree(EDGES[1], NODES)], [utils.degree(LONG[1], NODES)])
    plain, values = data.remove_self_loops(EDGES, VALUES)
    ours = data.gcn_norm(plain, NODES, values)
    same(ours, gcn_norm(*utils.remove_self_loops(LONG, FLOATS), NODES))
    once, values = data.coalesce(EDGES, VALUES)  # with self loops
    same(data.gcn_norm(once, NODES, values), gcn_norm(*utils.coalesce(LONG, FLOATS), NODES))
    for wrong, reason in (([-1], "from 0 to 2, got -1"), ([5], "got 5"), ([0.5], "float64")):
        with pytest.raises(DataError, match=reason):
            data.degree(wrong, 3)
    with pytest.raises(DataError, match=r"fill_value must be a whole number, .* got 0\.5"):
        data.add_self_loops(EDGES, NODES, np.arange(33), 0.5)
    with pytest.raises(DataError, match=r"shape \(edges,\), got \(33, 1\)"):
        data.gcn_norm(EDGES, NODES, VALUES[:, None])
    with pytest.raises(DataError, match=r"must have the shape \(2, edges\), got \(33, 2\)"):
        data.to_undirected(EDGES.T)
    with pytest.raises(DataError, match="numbers of 5 nodes from 0 to 4, got 11"):
        data.add_self_loops(np.array([[0], [11]]), 5)
    with pytest.raises(DataError, match="must hold whole numbers, got float64"):
        data.coalesce(EDGES / 1)
    with pytest.raises(DataError, match=r"a row for each of 33 edges, got \(3,\)"):
        data.coalesce(EDGES, VALUES[:3])


def test_the_club_has_its_members_and_friendships() -> None:
    edges, clubs = data.load("karate_club")
    assert edges.shape == (2, 156) and clubs.shape == (34,) and clubs.sum() == 17
    assert utils.is_undirected(torch.from_numpy(edges.astype(np.int64)))
    degrees = data.degree(edges[0], 34)
    assert degrees[[0, 33, 32, 11]].tolist() == [16, 17, 12, 1]


def test_two_labels_divide_the_club() -> None:
    """As in Kipf and Welling (2017), but with a label of the instructor and the officer alone."""
    edges, clubs = data.karate_club()
    x = np.eye(34, dtype=np.float32)[None]
    mask = np.isin(np.arange(34), [0, 33])[None].astype(np.float32)
    with pg.Graph(seed=1).as_default():
        inputs = [pg.Input((34, 34)), pg.Input(edges.shape, dtype="int32")]
        hidden = nn.GCNConv(16, "relu")(*inputs)
        model = pg.Model(inputs, nn.GCNConv(2)(hidden, inputs[1]))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu")
    arrays = [x, edges[None]]
    history = model.fit(arrays, clubs[None], sample_weight=mask, epochs=80, verbose=0)
    assert history.history["loss"][-1] < 0.3 * history.history["loss"][0]
    assert (model.predict(arrays)[0].argmax(1) == clubs).mean() > 0.93


def ring_or_clique(number: int) -> data.GraphData:
    """A ring or a clique of 4 to 8 nodes that look alike."""
    random = np.random.default_rng(number)
    count = int(random.integers(4, 9))
    nodes = np.arange(count)
    ring = np.stack([nodes, (nodes + 1) % count])
    clique = np.stack(np.nonzero(np.tri(count, k=-1)))
    is_clique = number % 2
    x = np.ones((count, 3), np.float32)
    return data.GraphData(x, data.to_undirected(clique if is_clique else ring), y=is_clique)


def test_rings_are_told_from_cliques() -> None:
    graphs = [ring_or_clique(number) for number in range(60)]
    batches = data.graph_dataset(graphs[:44], 8, seed=3)
    (x, edges, batch), y, weight = next(iter(batches))
    assert (y.shape, weight.shape, batch.shape[1]) == ((1, 8), (1, 8), x.shape[1])
    with pg.Graph(seed=1).as_default():
        inputs = [
            pg.Input(x.shape[1:]),
            pg.Input(edges.shape[1:], dtype="int32"),
            pg.Input(batch.shape[1:], dtype="int32"),
        ]
        network = [nn.Dense(16, "relu"), nn.Dense(16, "relu")]
        hidden = nn.GINConv(network)(inputs[0], inputs[1])
        hidden = nn.GINConv(network)(hidden, inputs[1])
        pooled = nn.GlobalGraphPooling(8, "mean")(hidden, inputs[2])
        model = pg.Model(inputs, nn.Dense(2)(pooled))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu")
    model.fit(batches, epochs=25, verbose=0)
    sizes = (x.shape[1], edges.shape[2], 8)
    for first in (44, 52):
        joined = data.batch_graphs(graphs[first : first + 8], sizes)
        scores = model.predict([array[None] for array in joined.inputs])[0]
        assert (scores.argmax(1) == joined.y).all()


def test_a_batch_is_one_graph_of_parts() -> None:
    graphs = [ring_or_clique(number) for number in range(3)]
    batch = data.batch_graphs(graphs, (40, 200, 5))
    first = 0
    for number, graph in enumerate(graphs):
        end = first + graph.num_nodes
        np.testing.assert_array_equal(batch.x[first:end], graph.x)
        assert (batch.batch[first:end] == number).all()
        first = end
    inside = batch.batch[batch.edge_index[0]] == batch.batch[batch.edge_index[1]]
    assert inside.all()
    assert (batch.batch[first:] == 5).all() and not batch.x[first:].any()
    assert batch.y is not None and batch.y.tolist() == [0, 1, 0, 0, 0]
    assert batch.weight.tolist() == pytest.approx([5 / 3] * 3 + [0, 0])
    with pytest.raises(DataError, match=r"do not fit into pad_to=\(10, 200, 5\)"):
        data.batch_graphs(graphs, (10, 200, 5))
    other = data.GraphData(np.ones((2, 4), np.float32), np.zeros((2, 1), np.int32), y=1)
    with pytest.raises(DataError, match=r"x of graph 3 has rows \(4,\), .* has rows \(3,\)"):
        data.batch_graphs([*graphs, other])
    with pytest.raises(DataError, match="numbers of 2 nodes from 0 to 1, got 2"):
        data.GraphData(np.ones((2, 4)), np.array([[0], [2]]))
    with pytest.raises(DataError, match="y of every graph"):
        data.graph_dataset([data.GraphData(other.x, other.edge_index)], 1)


def made(nodes: int, edges: int, folder: Path) -> tuple[data.CSRGraph, Array, Array]:
    """Return a graph whose files are mapped, features, and two classes of which neighbours have
    the same."""
    random = np.random.default_rng(4)
    y = (np.arange(nodes) % 2).astype(np.int32)
    source = random.integers(0, nodes, edges)
    target = (random.integers(0, nodes // 2, edges) * 2 + y[source]) % nodes
    graph = data.CSRGraph.from_edges(np.stack([source, target]), nodes, np.arange(edges))
    graph.save(folder)
    x = np.lib.format.open_memmap(str(folder / "x.npy"), "w+", np.float32, (nodes, 4))
    x[:] = random.normal(size=x.shape) + 0.5 * y[:, None]
    return data.CSRGraph.load(folder), x, y


def test_samples_are_parts_of_the_graph(tmp_path: Path) -> None:
    edges = RANDOM.integers(0, 50, (2, 400)).astype(np.int32)
    graph = data.CSRGraph.from_edges(edges, 50, np.arange(400))
    x = np.arange(50, dtype=np.float32)[:, None]
    sampler = data.NeighborSampler(graph, [3, 2], x, np.arange(50), batch_size=8, seed=2)
    seen = []
    for (rows, ends, attributes), y, weight in sampler.dataset():
        assert rows.shape == (1, sampler.num_nodes, 1) and ends.shape == (1, 2, sampler.num_edges)
        chosen = np.flatnonzero(weight[0])
        nodes = rows[0, :, 0].astype(int)
        np.testing.assert_array_equal(nodes[chosen], y[0, chosen])
        seen += list(nodes[chosen])
        assert weight.mean() == pytest.approx(1)
        real = ends[0, 1] != sampler.num_nodes - 1
        source, target = ends[0][:, real]
        # Each edge is that of the graph with the same number, and none comes twice.
        numbers = attributes[0, real]
        np.testing.assert_array_equal(edges[0, numbers], nodes[source])
        np.testing.assert_array_equal(edges[1, numbers], nodes[target])
        assert len(set(numbers)) == len(numbers)
        arriving = np.bincount(target, minlength=8)
        degrees = np.bincount(edges[1], minlength=50)[nodes]
        np.testing.assert_array_equal(arriving[chosen], np.minimum(degrees[chosen], 3))
        assert (arriving[8:] <= 2).all()
    assert sorted(seen) == list(range(50))
    np.testing.assert_array_equal(sampler.sample([4, 9])[0][1], sampler.sample([4, 9])[0][1])
    with pytest.raises(DataError, match=r"x must have a row for each of 50 nodes, got \(49, 1\)"):
        data.NeighborSampler(graph, [3], x[1:])
    with pytest.raises(DataError, match="input_nodes must hold numbers from 0 to 49"):
        data.NeighborSampler(graph, [3], x, input_nodes=[50])
    with pytest.raises(DataError, match="indptr must lead from 0 to the number of edges, 3"):
        data.CSRGraph(np.array([0, 2]), np.zeros(3, np.int32))
    with pytest.raises(DataError, match=r"indptr\.npy cannot be read"):
        data.CSRGraph.load(tmp_path)


def sage(sampler: data.NeighborSampler) -> tuple[pg.Model, list[Any]]:
    """Return a model for samples, and its layers as functions of any graph."""
    with pg.Graph(seed=1).as_default():
        layers: list[nn.Layer] = [nn.SAGEConv(8, "relu"), nn.SAGEConv(2)]
        x = pg.Input((sampler.num_nodes, 4))
        edges = pg.Input((2, sampler.num_edges), dtype="int32")
        model = pg.Model([x, edges], layers[1](layers[0](x, edges), edges))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.02), loss, device="cpu")
    return model, [as_function(model, layer) for layer in layers]


def as_function(model: pg.Model, layer: nn.Layer) -> Any:
    return pg.function(model)(lambda x, edges: layer(x, edges))


def without_attributes(graph: data.CSRGraph) -> data.CSRGraph:
    return data.CSRGraph(graph.indptr, graph.indices)


def test_a_model_learns_from_samples_and_predicts_all_nodes(tmp_path: Path) -> None:
    graph, x, y = made(20_000, 200_000, tmp_path)
    assert isinstance(graph.indices, np.memmap)
    graph = without_attributes(graph)
    training = np.arange(20_000) < 2_000
    sampler = data.NeighborSampler(graph, [5, 5], x, y, training, batch_size=100)
    model, layers = sage(sampler)
    model.fit(sampler.dataset(), epochs=1, verbose=0)
    scores = data.infer_layers(layers, graph, x, batch_size=6_000)
    assert scores.shape == (20_000, 2)
    assert (scores.argmax(1) == y)[2_000:].mean() > 0.95
    target = np.repeat(np.arange(20_000), np.diff(graph.indptr))
    whole = np.stack([graph.indices, target]).astype(np.int32)
    expected = layers[1](layers[0](np.asarray(x), whole), whole)
    np.testing.assert_allclose(scores, np.asarray(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("replicas", [2])
def test_replicas_have_samples_of_their_own(replicas: int, tmp_path: Path) -> None:
    graph, x, y = made(2_000, 20_000, tmp_path)
    sampler = data.NeighborSampler(without_attributes(graph), [4, 4], x, y, batch_size=50)
    losses = []
    for strategy in (None, pg.parallel.DataParallel(["cpu:0", "cpu:1"])):
        model, _ = sage(sampler)
        model.compile(
            pg.optim.Adam(0.02),
            nn.SparseCategoricalCrossentropy(from_logits=True),
            device="cpu",
            strategy=strategy,
        )
        batches = sampler.dataset(samples=replicas)
        history = model.fit(batches, epochs=2, verbose=0)
        losses.append(history.history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


@pytest.mark.slow
def test_a_large_graph_is_built_and_sampled_in_seconds(tmp_path: Path) -> None:
    graph, x, y = made(1_000_000, 10_000_000, tmp_path)
    sampler = data.NeighborSampler(without_attributes(graph), [10, 5], x, y, batch_size=512)
    model, layers = sage(sampler)
    model.fit(sampler.dataset().take(30), epochs=1, verbose=0)
    scores = data.infer_layers(layers, without_attributes(graph), x, 100_000)
    assert (scores.argmax(1) == y).mean() > 0.95
