"""``pg.cluster``: a network whose weights share a few values."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.compression.compressed_model import CompressedModel
from playgrad.compression.reduction import kernels_of, reduced, values_of
from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.ops.arrays.create import constant, zeros
from playgrad.ops.arrays.gather import gather, scatter_add
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import cast, maximum, not_equal, where

Array = np.ndarray[Any, Any]
MOST_CLUSTERS = 256
"""Indices have at most 8 bits."""
_MOST_ROUNDS = 300


def cluster(model: Model, clusters: int = 16) -> CompressedModel:
    """Return a copy of ``model`` in which the weights of each layer share ``clusters`` values (Han
    et al. 2016, *Deep compression*).

    The values are the centroids of k-means, which starts with equal distances between the smallest
    and the largest weight. Kernels and other weights with two or more dimensions are clustered;
    biases are not. Weights that are 0, as in a pruned network, stay 0 beside the clusters. While
    the copy is trained further, with every optimizer and strategy, each value moves by the mean of
    the updates of its weights.

    Args:
        model: it is built, and is not changed.
        clusters: 1 to 256. A layer with fewer different weights keeps them.

    Raises:
        GraphError: the model is not built or is quantized, or ``clusters`` is out of bounds.
        DataError: weights are NaN or infinite.
    """
    if type(clusters) is not int or not 1 <= clusters <= MOST_CLUSTERS:
        raise GraphError(
            f"clusters must be a whole number from 1 to {MOST_CLUSTERS}, got {clusters!r:.40}."
        )
    kernels = kernels_of(model)
    shared = [_Shared.of(value, clusters) for value in values_of(model, kernels)]
    changed = {kernel: values for kernel, (values, _) in zip(kernels, shared, strict=True)}
    small, copies = reduced(model, changed)
    for kernel, (_, keep) in zip(kernels, shared, strict=True):
        copies[kernel].keep = keep
    return small


def centroids_of(values: Array, clusters: int) -> Array:
    """Return the centroids of k-means for numbers, in ascending order; float32."""
    ordered = np.sort(values.astype(np.float64).reshape(-1))
    distinct = np.unique(ordered)
    if len(distinct) <= clusters:
        return distinct.astype(np.float32)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    centers = np.linspace(ordered[0], ordered[-1], clusters)
    for _ in range(_MOST_ROUNDS):
        borders = np.searchsorted(ordered, (centers[1:] + centers[:-1]) / 2)
        ends = np.concatenate([[0], borders, [len(ordered)]])
        counts = np.diff(ends)
        means = np.where(counts > 0, np.diff(sums[ends]) / np.maximum(counts, 1), centers)
        if not counts.all():
            # Between the two sides of a pruned layer there is nothing: use the value that is
            # farthest from its centroid.
            farthest = np.argmax(np.abs(ordered - np.repeat(means, counts)))
            means[np.argmin(counts)] = ordered[farthest]
            means.sort()
        if np.array_equal(means, centers):
            break
        centers = means
    return centers.astype(np.float32)


class _Shared:
    """Keeps the weights of each cluster equal, and zeros 0.

    Args:
        indices: the cluster of each weight, in the order of the flat array.
    """

    def __init__(self, indices: Array, clusters: int) -> None:
        self._indices = indices.astype(np.int32)
        self._clusters = clusters

    @classmethod
    def of(cls, value: Array, clusters: int) -> tuple[Array, _Shared]:
        """Return the clustered weights, and what keeps them."""
        flat = value.reshape(-1)
        kept = flat != 0
        if not kept.any():
            return value, cls(np.zeros(flat.size), 1)
        centers = centroids_of(flat[kept], clusters)
        indices = np.searchsorted((centers[1:] + centers[:-1]) / 2, flat)
        shared = np.where(kept, centers[indices], np.float32(0)).reshape(value.shape)
        return shared, cls(indices, len(centers))

    def __call__(self, old: Tensor, new: Tensor) -> Tensor:
        indices = constant(self._indices, "int32")
        kept = reshape(not_equal(old, 0.0), (-1,))
        nothing = zeros((self._clusters,))
        moved = where(kept, reshape(new, (-1,)), 0.0)
        sums = scatter_add(nothing, indices, moved)
        counts = scatter_add(nothing, indices, cast(kept, "float32"))
        means = gather(sums / maximum(counts, 1.0), indices)
        return reshape(where(kept, means, 0.0), new.shape)
