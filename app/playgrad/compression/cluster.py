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
from playgrad.ops.arrays.fill import fill
from playgrad.ops.arrays.gather import gather, scatter_add
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.invariant import Invariant
from playgrad.ops.elementwise.definitions import maximum, not_equal, where

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
    the copy is trained further, with every optimizer and strategy, the gradient of each value is
    the sum of the gradients of its weights.

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


class _Shared(Invariant):
    """Keeps the weights of each cluster equal, and zeros 0. The gradient of a shared value is the
    sum of those of its weights.

    Args:
        indices: the cluster of each weight, in the order of the flat array.
        kept: where weights are not 0.
    """

    def __init__(self, indices: Array, kept: Array, clusters: int) -> None:
        self._indices = indices.astype(np.int32)
        self._clusters = clusters
        self._first = np.zeros(clusters, np.int32)
        members = np.flatnonzero(kept)[::-1]
        self._first[self._indices[members]] = members

    @classmethod
    def of(cls, value: Array, clusters: int) -> tuple[Array, _Shared]:
        """Return the clustered weights, and what keeps them."""
        flat = value.reshape(-1)
        kept = flat != 0
        if not kept.any():
            return value, cls(np.zeros(flat.size), kept, 1)
        centers = centroids_of(flat[kept], clusters)
        indices = np.searchsorted((centers[1:] + centers[:-1]) / 2, flat)
        shared = np.where(kept, centers[indices], np.float32(0)).reshape(value.shape)
        return shared, cls(indices, kept, len(centers))

    def gradient(self, variable: Tensor, grad: Tensor) -> Tensor:
        kept = reshape(not_equal(variable, 0.0), (-1,))
        return self._spread(self._sums(reshape(grad, (-1,)), kept), kept, grad)

    def value(self, old: Tensor, new: Tensor) -> Tensor:
        kept = reshape(not_equal(old, 0.0), (-1,))
        values = reshape(new, (-1,))
        counts = maximum(self._sums(fill(self._indices.shape, 1.0), kept), 1.0)
        # A sum of many numbers is rounded often, one of zeros never: so equal values stay what they
        # are. The first weight of a cluster may have been pruned since.
        first = constant(self._first, "int32")
        means = self._sums(values, kept) / counts
        near = where(gather(kept, first), gather(values, first), means)
        rest = self._sums(values - gather(near, self._constant()), kept) / counts
        return self._spread(near + rest, kept, new)

    def _constant(self) -> Tensor:
        return constant(self._indices, "int32")

    def _sums(self, values: Tensor, kept: Tensor) -> Tensor:
        """Return the sum of the values of each cluster that are ``kept``."""
        return scatter_add(zeros((self._clusters,)), self._constant(), where(kept, values, 0.0))

    def _spread(self, shared: Tensor, kept: Tensor, like: Tensor) -> Tensor:
        """Return the value of each weight, in the shape of ``like``."""
        return reshape(where(kept, gather(shared, self._constant()), 0.0), like.shape)
