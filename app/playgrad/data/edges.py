"""Edges of graphs as arrays: ``edge_index`` (2, edges), sources and targets, as PyTorch Geometric.

An undirected edge is two edges, one in each direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import DataError, shape_text

Array = np.ndarray[Any, Any]


def as_edges(edge_index: Any, num_nodes: int | None = None, what: str = "edge_index") -> Array:
    """Return ``edge_index`` as an int32 array.

    Raises:
        DataError: it is not (2, edges), does not hold whole numbers, or a number is not that of
            one of ``num_nodes`` nodes.
    """
    array = np.asarray(edge_index)
    if array.ndim != 2 or array.shape[0] != 2:
        raise DataError(f"{what} must have the shape (2, edges), got {shape_text(array.shape)}.")
    if array.dtype.kind not in "iu":
        raise DataError(f"{what} must hold whole numbers, got {array.dtype}.")
    if array.size:
        most = np.iinfo(np.int32).max if num_nodes is None else num_nodes - 1
        low, high = int(array.min()), int(array.max())
        if low < 0 or high > most:
            of = "" if num_nodes is None else f" of {num_nodes} nodes"
            raise DataError(
                f"{what} must hold numbers{of} from 0 to {most}, got {low if low < 0 else high}."
            )
    return array.astype(np.int32, copy=False)


def as_attributes(edge_attr: Any, edges: int) -> Array:
    """Return features of edges as an array.

    Raises:
        DataError: it has no row for each of ``edges`` edges.
    """
    array = np.asarray(edge_attr)
    if array.ndim == 0 or len(array) != edges:
        raise DataError(
            f"edge_attr must have a row for each of {edges} edges, got {shape_text(array.shape)}."
        )
    return array


def coalesce(edge_index: Any, edge_attr: Any = None) -> Any:
    """Return each edge once, sorted by source and then target.

    Args:
        edge_index: (2, edges).
        edge_attr: features of edges, (edges, ...), which are added up; None for none.

    Returns:
        ``edge_index``, int32; with ``edge_attr`` a pair of both.

    Raises:
        DataError: the arrays do not fit.
    """
    edges = as_edges(edge_index)
    keys = (edges[0].astype(np.int64) << 32) | edges[1]
    unique, inverse = np.unique(keys, return_inverse=True)
    merged = np.stack([unique >> 32, unique & 0xFFFFFFFF]).astype(np.int32)
    if edge_attr is None:
        return merged
    attributes = as_attributes(edge_attr, edges.shape[1])
    total = np.zeros((unique.size, *attributes.shape[1:]), attributes.dtype)
    np.add.at(total, inverse, attributes)
    return merged, total


def to_undirected(edge_index: Any, edge_attr: Any = None) -> Any:
    """Return the edges with the opposite of each, every edge once, sorted.

    Arguments, result and errors as in `coalesce`: features of edges that occur in both directions
    are added up.
    """
    edges = as_edges(edge_index)
    both = np.hstack([edges, edges[::-1]])
    if edge_attr is None:
        return coalesce(both)
    attributes = as_attributes(edge_attr, edges.shape[1])
    return coalesce(both, np.concatenate([attributes, attributes]))


def remove_self_loops(edge_index: Any, edge_attr: Any = None) -> Any:
    """Return the edges that lead from one node to another. Arguments, result and errors as in
    `coalesce`."""
    edges = as_edges(edge_index)
    kept = edges[0] != edges[1]
    if edge_attr is None:
        return edges[:, kept]
    return edges[:, kept], as_attributes(edge_attr, edges.shape[1])[kept]


def add_self_loops(
    edge_index: Any, num_nodes: int, edge_attr: Any = None, fill_value: float = 1.0
) -> Any:
    """Return the edges, followed by one from each node to itself.

    Args:
        edge_index: (2, edges).
        num_nodes: the number of nodes.
        edge_attr: features of edges, (edges, ...); None for none.
        fill_value: the features of the new edges.

    Returns:
        As `coalesce`.

    Raises:
        DataError: the arrays do not fit, or ``edge_attr`` has whole numbers and ``fill_value`` is
            another.
    """
    edges = as_edges(edge_index, num_nodes)
    nodes = np.arange(num_nodes, dtype=np.int32)
    looped = np.hstack([edges, np.stack([nodes, nodes])])
    if edge_attr is None:
        return looped
    attributes = as_attributes(edge_attr, edges.shape[1])
    if attributes.dtype.kind in "iu" and not float(fill_value).is_integer():
        raise DataError(f"fill_value must be a whole number, as edge_attr has, got {fill_value}.")
    filled = np.full((num_nodes, *attributes.shape[1:]), fill_value, attributes.dtype)
    return looped, np.concatenate([attributes, filled])


def degree(index: Any, num_nodes: int) -> Array:
    """Return how often each node occurs in ``index`` (edges,), int32 (num_nodes,).

    Raises:
        DataError: ``index`` does not hold numbers of nodes.
    """
    numbers = as_edges([index, index], num_nodes, "index")[0]
    return np.bincount(numbers, minlength=num_nodes).astype(np.int32)


def gcn_norm(
    edge_index: Any, num_nodes: int, edge_weight: Any = None, add_loops: bool = True
) -> tuple[Array, Array]:
    """Return the edges with the weights that `GCNConv` gives them, for ``normalize=False``.

    Where a graph is computed in parts, the degrees of nodes at the border must be those in the
    whole graph.

    Args:
        edge_index: (2, edges).
        num_nodes: the number of nodes.
        edge_weight: (edges,); None for 1.
        add_loops: whether to add an edge from each node to itself, in the place of those that
            there are, whose mean weight it gets; else its weight is 1.

    Returns:
        ``edge_index``, int32, and its weights, float32.

    Raises:
        DataError: the arrays do not fit.
    """
    edges = as_edges(edge_index, num_nodes)
    count = edges.shape[1]
    weight = np.ones(count) if edge_weight is None else as_attributes(edge_weight, count)
    if weight.ndim != 1:
        raise DataError(
            f"edge_weight must have the shape (edges,), got {shape_text(weight.shape)}."
        )
    weight = weight.astype(np.float32)
    if add_loops:
        is_loop = edges[0] == edges[1]
        loops = edges[0, is_loop]
        present = np.bincount(loops, minlength=num_nodes)
        mean = np.bincount(loops, weight[is_loop], num_nodes) / np.maximum(present, 1)
        edges = add_self_loops(edges[:, ~is_loop], num_nodes)
        weight = np.concatenate([weight[~is_loop], np.where(present, mean, 1)])
    total = np.bincount(edges[1], weight, num_nodes)
    is_positive = total > 0
    scale = np.where(is_positive, 1 / np.sqrt(np.where(is_positive, total, 1)), 0)
    return edges, (scale[edges[0]] * weight * scale[edges[1]]).astype(np.float32)
