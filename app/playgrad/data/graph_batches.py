"""Graphs as samples, and batches of them: one graph whose parts are not connected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.dataset import Dataset
from playgrad.data.edges import as_attributes, as_edges
from playgrad.errors import DataError, shape_text

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GraphData:
    """One graph: what PyTorch Geometric calls Data.

    Attributes:
        x: features of nodes, (nodes, features).
        edge_index: sources and targets of edges, (2, edges).
        edge_attr: features of edges, (edges, ...); None for none.
        y: the target of the graph, a number or an array; None for none.

    Raises:
        DataError: the arrays do not fit each other.
    """

    x: Array
    edge_index: Array
    edge_attr: Array | None = None
    y: Any = None

    def __post_init__(self) -> None:
        x = np.asarray(self.x)
        if x.ndim < 2:
            raise DataError(f"x must have the shape (nodes, features), got {shape_text(x.shape)}.")
        edges = as_edges(self.edge_index, len(x))
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "edge_index", edges)
        if self.edge_attr is not None:
            attributes = as_attributes(self.edge_attr, edges.shape[1])
            object.__setattr__(self, "edge_attr", attributes)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.x)

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return self.edge_index.shape[1]


@dataclass(frozen=True)
class GraphBatch:
    """Graphs joined into one, which is padded: a sample of a model.

    Padding edges lead from the last node, which is padding, to itself. Nodes that are padding
    belong to graph number ``len(y)``.

    Attributes:
        x: (nodes, features).
        edge_index: (2, edges).
        batch: the graph that each node belongs to, int32 (nodes,).
        edge_attr: (edges, ...); None for none.
        y: targets, (graphs, ...); None for none.
        weight: of each graph, float32 (graphs,): 0 for padding, and so much for others that the
            mean over all is the mean over the graphs.
    """

    x: Array
    edge_index: Array
    batch: Array
    edge_attr: Array | None
    y: Array | None
    weight: Array

    @property
    def inputs(self) -> tuple[Array, ...]:
        """The inputs of a model: x, edge_index, edge_attr if there is one, batch."""
        attributes = () if self.edge_attr is None else (self.edge_attr,)
        return (self.x, self.edge_index, *attributes, self.batch)


def batch_graphs(
    graphs: Sequence[GraphData], pad_to: tuple[int, int, int] | None = None
) -> GraphBatch:
    """Join graphs into one.

    Args:
        graphs: at least one; all with features of the same shapes.
        pad_to: the numbers of nodes, edges and graphs of the result. There is at least one node
            more than the graphs have. None adds that node only.

    Raises:
        DataError: there are no graphs, they differ in their features, or are more than ``pad_to``.
    """
    if not graphs:
        raise DataError("batch_graphs needs at least one graph.")
    nodes = sum(graph.num_nodes for graph in graphs) + 1
    edges = sum(graph.num_edges for graph in graphs)
    sizes = (nodes, edges, len(graphs))
    pad_to = sizes if pad_to is None else pad_to
    if any(size > most for size, most in zip(sizes, pad_to, strict=True)):
        raise DataError(
            f"the graphs have {nodes - 1} nodes, {edges} edges and {len(graphs)} targets, which "
            f"do not fit into pad_to={tuple(pad_to)}, with one node of padding."
        )
    first = graphs[0]
    for number, graph in enumerate(graphs):
        for name in ("x", "edge_attr", "y"):
            if _form(graph, name) != _form(first, name):
                raise DataError(
                    f"{name} of graph {number} has {_form(graph, name)}, but that of graph 0 has "
                    f"{_form(first, name)}."
                )
    starts = np.cumsum([0, *(graph.num_nodes for graph in graphs)])
    joined = [graph.edge_index + start for graph, start in zip(graphs, starts, strict=False)]
    edge_index = np.full((2, pad_to[1]), pad_to[0] - 1, np.int32)
    edge_index[:, :edges] = np.hstack(joined)
    batch = np.repeat(np.arange(len(graphs)), [graph.num_nodes for graph in graphs])
    weight = np.zeros(pad_to[2], np.float32)
    weight[: len(graphs)] = pad_to[2] / len(graphs)
    return GraphBatch(
        x=padded(np.concatenate([graph.x for graph in graphs]), pad_to[0]),
        edge_index=edge_index,
        batch=padded(batch.astype(np.int32), pad_to[0], pad_to[2]),
        edge_attr=None
        if first.edge_attr is None
        else padded(np.concatenate([np.asarray(g.edge_attr) for g in graphs]), pad_to[1]),
        y=None if first.y is None else padded(np.stack([g.y for g in graphs]), pad_to[2]),
        weight=weight,
    )


def graph_dataset(
    graphs: Sequence[GraphData], batch_size: int, shuffle: bool = True, seed: int = 0
) -> Dataset:
    """Return batches of graphs for `fit`, all of one size.

    A batch is one sample (inputs, y, sample_weight), as `GraphBatch` has them, with a first
    dimension of 1. All are padded to the largest that there can be, so that a model is compiled
    once.

    Args:
        graphs: at least one, with targets.
        batch_size: the number of graphs of a batch.
        shuffle: whether each round has an order of its own.
        seed: the seed of the orders.

    Raises:
        DataError: there are no graphs, or one lacks a target.
    """
    if not graphs or any(graph.y is None for graph in graphs):
        raise DataError("graph_dataset needs at least one graph, and y of every graph.")
    size = min(batch_size, len(graphs))
    nodes, edges = (
        sum(sorted(counts)[-size:])
        for counts in ([g.num_nodes for g in graphs], [g.num_edges for g in graphs])
    )
    pad_to = (nodes + 1, edges, size)
    numbers = Dataset.from_tensor_slices(np.arange(len(graphs)))
    if shuffle:
        numbers = numbers.shuffle(len(graphs), seed)

    def sample(chosen: Array) -> Any:
        batch = batch_graphs([graphs[number] for number in chosen], pad_to)
        return batch.inputs, batch.y, batch.weight

    return numbers.batch(size).map(sample).batch(1).prefetch(2)


def _form(graph: GraphData, name: str) -> str:
    value = getattr(graph, name)
    if value is None:
        return "none"
    shape = np.shape(value)
    return f"the shape {shape_text(shape)}" if name == "y" else f"rows {shape_text(shape[1:])}"


def padded(rows: Any, size: int, value: int = 0) -> Array:
    """Return ``rows`` with further ones of ``value`` up to ``size``, as float32 or int32.

    Raises:
        DataError: they are not numbers, or whole numbers that int32 does not have.
    """
    array = np.asarray(rows)
    if array.dtype.kind not in "biuf":
        raise DataError(f"features and targets must be numbers, got {array.dtype}.")
    dtype = np.float32 if array.dtype.kind == "f" else np.int32
    if dtype is np.int32 and array.size and not np.can_cast(array.dtype, dtype):
        low, high, limits = array.min(), array.max(), np.iinfo(np.int32)
        if low < limits.min or high > limits.max:
            raise DataError(
                f"whole numbers must be from {limits.min} to {limits.max}, got {low} to {high}."
            )
    result = np.full((size, *array.shape[1:]), value, dtype)
    result[: len(array)] = array
    return result
