"""Samples of the neighbourhoods of nodes (GraphSAGE), of graphs larger than a device."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from playgrad.data.csr_graph import CSRGraph
from playgrad.data.dataset import Dataset
from playgrad.data.graph_batches import padded
from playgrad.data.pipeline.base import Round, Transformation, whole_number
from playgrad.errors import DataError, shape_text

Array = np.ndarray[Any, Any]


class NeighborSampler:
    """Samples of the neighbourhoods of nodes, as in GraphSAGE (Hamilton et al. 2017).

    A sample has some nodes of ``input_nodes``, then neighbours of these, then theirs, and so on:
    the cost of a step does not depend on the size of the graph. All samples are padded to the
    largest that there can be, so that a model is compiled once. They depend on ``seed`` and the
    nodes alone, not on threads.

    Args:
        graph: the graph.
        num_neighbors: the most neighbours of a node, for each hop; as many as the model has layers.
        x: features of all nodes, (nodes, ...), which may be in a file: ``np.load(file,
            mmap_mode="r")``.
        y: targets of all nodes, (nodes, ...); None for none.
        input_nodes: the nodes to predict, as numbers or as a mask of all nodes; None for all.
        batch_size: the number of them in a sample.
        shuffle: whether each round has an order of its own.
        seed: the seed of orders and samples.

    Attributes:
        num_nodes, num_edges: nodes and edges of every sample, with padding.

    Raises:
        DataError: the arrays do not fit, or a number is out of range.
    """

    def __init__(
        self,
        graph: CSRGraph,
        num_neighbors: Sequence[int],
        x: Any,
        y: Any = None,
        input_nodes: Any = None,
        batch_size: int = 512,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        self.graph = graph
        self.num_neighbors = [whole_number(n, "num_neighbors", 1) for n in num_neighbors]
        if not self.num_neighbors:
            raise DataError("num_neighbors must have a number for each layer of the model.")
        self.x = _rows("x", x, graph)
        self.y = None if y is None else _rows("y", y, graph)
        nodes = np.arange(graph.num_nodes) if input_nodes is None else np.asarray(input_nodes)
        if nodes.dtype == bool:
            nodes = np.flatnonzero(_rows("input_nodes", nodes, graph))
        self.input_nodes = self._checked("input_nodes", nodes)
        self.batch_size = min(whole_number(batch_size, "batch_size", 1), len(nodes))
        self.shuffle, self.seed = bool(shuffle), whole_number(seed, "seed")
        layer, total, self.num_edges = self.batch_size, self.batch_size, 0
        degree = int(np.diff(graph.indptr).max(initial=0))
        for most in self.num_neighbors:
            layer *= min(most, degree)
            total, self.num_edges = total + layer, self.num_edges + layer
        self.num_edges = max(1, min(self.num_edges, graph.num_edges))
        self.num_nodes = min(total, graph.num_nodes) + 1

    def __len__(self) -> int:
        return -(-len(self.input_nodes) // self.batch_size)

    def dataset(self, samples: int = 1, prefetch: int = 2) -> Dataset:
        """Return the samples for `fit`, which threads prepare while the model trains.

        Elements are ``((x, edge_index), y, sample_weight)``, with ``edge_attr`` behind
        ``edge_index`` if the graph has it.

        Args:
            samples: samples of a step: a strategy divides them among devices and machines, each of
                which draws its own.
            prefetch: steps to prepare ahead.
        """
        chosen = Dataset(_Chosen(self))
        return chosen.map(self.sample).batch(samples).prefetch(prefetch)

    def sample(self, nodes: Array) -> Any:
        """Return the sample for some nodes: its first rows are theirs.

        Returns:
            ``(x, edge_index)`` or ``(x, edge_index, edge_attr)``; targets, 0 but for ``nodes``; and
            the weights of nodes: 0 but for ``nodes``, and so much for these that the mean over all
            nodes is the mean over them. Without targets, only the inputs.
        """
        nodes = self._checked("nodes", np.asarray(nodes))
        if len(nodes) > self.batch_size:
            raise DataError(f"a sample has {self.batch_size} nodes to predict, got {len(nodes)}.")
        random = np.random.default_rng([self.seed, zlib.crc32(nodes.tobytes())])
        known, positions, edges = self._expanded(nodes, random)
        x = padded(self.x[known], self.num_nodes)
        edge_index = np.full((2, self.num_edges), self.num_nodes - 1, np.int32)
        edge_index[:, : edges.shape[1]] = edges
        inputs: tuple[Array, ...] = (x, edge_index)
        if self.graph.edge_attr is not None:
            inputs += (padded(self.graph.edge_attr[positions], self.num_edges),)
        if self.y is None:
            return inputs
        weight = np.zeros(self.num_nodes, np.float32)
        weight[: len(nodes)] = self.num_nodes / len(nodes)
        return inputs, padded(self.y[nodes], self.num_nodes), weight

    def _checked(self, name: str, nodes: Array) -> Array:
        """Return numbers of nodes, int64; raise DataError if they are not."""
        most = self.graph.num_nodes - 1
        is_valid = nodes.ndim == 1 and nodes.size and nodes.dtype.kind in "iu"
        if not is_valid or nodes.min() < 0 or nodes.max() > most:
            raise DataError(f"{name} must hold numbers from 0 to {most}.")
        if len(np.unique(nodes)) < len(nodes):
            raise DataError(f"{name} must hold each node once.")
        return nodes.astype(np.int64)

    def _expanded(self, nodes: Array, random: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return all nodes of a sample, and its edges: their positions, and both ends' rows."""
        known, frontier = nodes, nodes
        first = 0
        positions: list[Array] = []
        ends: list[Array] = []
        for most in self.num_neighbors:
            found, rows = self.graph.positions(frontier, most, random)
            sources = self.graph.sources(found)
            new = np.setdiff1d(sources, known)
            known = np.concatenate([known, new])
            order = np.argsort(known, kind="stable")
            numbers = order[np.searchsorted(known, sources, sorter=order)]
            ends.append(np.stack([numbers, rows + first]).astype(np.int32))
            positions.append(found)
            first, frontier = len(known) - len(new), new
        return known, np.concatenate(positions), np.hstack(ends)


class _Chosen(Transformation):
    """The nodes of each sample of a round."""

    def __init__(self, sampler: NeighborSampler) -> None:
        self.sampler = sampler

    def open(self, round_: Round) -> Iterator[Any]:
        nodes, size = self.sampler.input_nodes, self.sampler.batch_size
        if self.sampler.shuffle:
            nodes = np.random.default_rng([self.sampler.seed, *round_.number]).permutation(nodes)
        for first in range(0, len(nodes), size):
            yield nodes[first : first + size]

    @property
    def cardinality(self) -> int:
        return len(self.sampler)


def infer_layers(
    layers: Sequence[Callable[[Array, Array], Any]],
    graph: CSRGraph,
    x: Any,
    batch_size: int = 4096,
) -> Array:
    """Return the results for all nodes, layer by layer, from all neighbours.

    Each layer is computed for ``batch_size`` nodes at a time, so that no more of the graph is on
    the device. Sizes are padded to few different ones. A `GCNConv`, which needs the degrees of
    neighbours, takes the weights of `gcn_norm` of the whole graph as ``edge_attr``.

    Args:
        layers: functions of features (nodes, ...), edges (2, edges) and, if the graph has them,
            features of edges, which return arrays (nodes, ...), such as those of `pg.function`.
        graph: the graph.
        x: features of all nodes.
        batch_size: nodes to compute at a time.

    Returns:
        The result of the last layer, (nodes, ...).

    Raises:
        DataError: ``x`` does not fit the graph, or there are no nodes.
    """
    size = whole_number(batch_size, "batch_size", 1)
    x = _rows("x", x, graph)
    if not graph.num_nodes:
        raise DataError("the graph has no nodes.")
    for layer in layers:
        results = []
        for first in range(0, graph.num_nodes, size):
            nodes = np.arange(first, min(first + size, graph.num_nodes))
            positions, rows = graph.positions(nodes)
            sources = graph.sources(positions)
            others = np.setdiff1d(sources, nodes)
            known = np.concatenate([nodes, others])
            inside = (sources >= first) & (sources <= nodes[-1])
            numbers = np.searchsorted(others, sources) + len(nodes)
            numbers[inside] = sources[inside] - first
            count = _bucket(len(known) + 1)
            edges = np.full((2, _bucket(max(len(rows), 1))), count - 1, np.int32)
            edges[:, : len(rows)] = numbers, rows
            inputs = [padded(x[known], count), edges]
            if graph.edge_attr is not None:
                inputs.append(padded(graph.edge_attr[positions], edges.shape[1]))
            results.append(np.asarray(layer(*inputs))[: len(nodes)])
        x = np.concatenate(results)
    return np.asarray(x)


def _bucket(count: int) -> int:
    """Return the smallest of 2 and 3 times powers of 2 that is at least ``count``."""
    power = 1 << (count - 1).bit_length()
    return max(2, power * 3 // 4 if count <= power * 3 // 4 else power)


def _rows(name: str, array: Any, graph: CSRGraph) -> Array:
    """Return an array, which may be in a file; raise DataError if it has no row for each node."""
    rows = np.asanyarray(array)
    if rows.ndim == 0 or len(rows) != graph.num_nodes:
        raise DataError(
            f"{name} must have a row for each of {graph.num_nodes} nodes, got "
            f"{shape_text(rows.shape)}."
        )
    return rows
