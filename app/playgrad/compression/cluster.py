"""``pg.cluster``: a network whose weights share a few values."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.compression.compressed_model import CompressedModel
from playgrad.compression.reduction import kernels_of, reduced, values_of
from playgrad.errors import GraphError
from playgrad.models.model import Model
from playgrad.nn.kept_weights import MOST_VALUES, SharedValues

Array = np.ndarray[Any, Any]
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
    if type(clusters) is not int or not 1 <= clusters <= MOST_VALUES:
        raise GraphError(
            f"clusters must be a whole number from 1 to {MOST_VALUES}, got {clusters!r:.40}."
        )
    kernels = kernels_of(model)
    values = values_of(model, kernels)
    changed = {k: clustered(value, clusters) for k, value in zip(kernels, values, strict=True)}
    small, copies = reduced(model, changed)
    for kernel, value in changed.items():
        copies[kernel].keep = SharedValues.of(value)
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


def clustered(value: Array, clusters: int) -> Array:
    """Return weights of which those that are not 0 share the centroids of k-means; float32."""
    flat = value.reshape(-1)
    kept = flat != 0
    if not kept.any():
        return value
    centers = centroids_of(flat[kept], clusters)
    nearest = centers[np.searchsorted((centers[1:] + centers[:-1]) / 2, flat)]
    return np.where(kept, nearest, np.float32(0)).reshape(value.shape)
