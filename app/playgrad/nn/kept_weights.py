"""What training keeps of weights: zeros, and values that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.graph.tensor import Tensor
from playgrad.json_text import parse_json
from playgrad.ops.arrays.create import constant, zeros
from playgrad.ops.arrays.fill import fill
from playgrad.ops.arrays.gather import gather, scatter_add
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.invariant import Invariant
from playgrad.ops.elementwise.definitions import maximum, not_equal, where

Array = np.ndarray[Any, Any]
KEY = "playgrad.kept"
"""The name, in the metadata of weights files, of JSON with the kind of what each weight keeps."""
MOST_VALUES = 256
"""The most values that weights share: indices have at most 8 bits."""


class _Zeros(Invariant):
    kind = "zeros"

    def value(self, old: Tensor, new: Tensor) -> Tensor:
        return where(not_equal(old, 0.0), new, 0.0)


KEEP_ZEROS: Invariant = _Zeros()
"""What is 0 stays 0."""


class SharedValues(Invariant):
    """Keeps the weights of each cluster equal, and zeros 0. The gradient of a shared value is the
    sum of those of its weights.

    Args:
        indices: the cluster of each weight, in the order of the flat array.
        kept: where weights are not 0.
    """

    kind = "values"

    def __init__(self, indices: Array, kept: Array, clusters: int) -> None:
        self._indices = indices.astype(np.int32)
        self._clusters = clusters
        self._first = np.zeros(clusters, np.int32)
        members = np.flatnonzero(kept)[::-1]
        self._first[self._indices[members]] = members

    @classmethod
    def of(cls, value: Array) -> SharedValues:
        """Return what keeps the values that weights share already.

        Raises:
            CheckpointError: they have more than 256 values.
        """
        flat = value.reshape(-1)
        kept = flat != 0
        centers = np.unique(flat[kept])
        if len(centers) > MOST_VALUES:
            raise CheckpointError(
                f"weights share at most {MOST_VALUES} values, not {len(centers):,}."
            )
        indices = np.searchsorted(centers[:-1], flat) if len(centers) else np.zeros(flat.size)
        return cls(indices, kept, max(len(centers), 1))

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


def kept_of(text: str, values: Mapping[str, Array]) -> dict[str, Invariant]:
    """Return what weights keep, by their names, from the text in a file.

    Args:
        values: of the weights that may keep something, by name.

    Raises:
        CheckpointError: the text is damaged, or does not fit the weights.
    """
    try:
        kinds = parse_json(text)
    except ValueError:
        kinds = None
    if not isinstance(kinds, dict) or not all(isinstance(kind, str) for kind in kinds.values()):
        raise CheckpointError("the record of the zeros that training keeps is damaged.")
    kept: dict[str, Invariant] = {}
    for name, kind in kinds.items():
        if name not in values or kind not in (KEEP_ZEROS.kind, SharedValues.kind):
            raise CheckpointError(
                f"the record of the zeros that training keeps is damaged: {name!r:.80} keeps "
                f"{kind!r:.40}."
            )
        kept[name] = KEEP_ZEROS if kind == KEEP_ZEROS.kind else SharedValues.of(values[name])
    return kept
