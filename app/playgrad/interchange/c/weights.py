"""Int8 weights in as few bytes as possible: pruned and clustered ones are packed."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class StoredWeights(NamedTuple):
    """Weights as the C program reads them, in order.

    Attributes:
        kind: "plain" has a byte a weight. "indices" has, for each weight, an index of ``codebook``.
            "sparse" has a bit for each weight, and an index behind it unless the weight is 0;
            without a codebook, the index is the byte of the weight.
        values: int8 for plain weights, otherwise uint8; the lowest bits of a byte come first.
        width: bits of an index.
    """

    kind: Literal["plain", "indices", "sparse"]
    values: Array
    codebook: Array | None = None
    width: int = 8

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.values.size + (0 if self.codebook is None else self.codebook.size))


def stored(weights: Array, random_access: bool = False) -> StoredWeights:
    """Return int8 weights in the smallest form.

    Args:
        random_access: only forms in which the place of each weight is known.
    """
    flat = np.ascontiguousarray(weights, np.int8).reshape(-1)
    forms = [StoredWeights("plain", flat), _indices(flat)]
    if not random_access and not flat.all():
        forms += [_sparse(flat, clustered=True), _sparse(flat, clustered=False)]
    return min((form for form in forms if form is not None), key=lambda form: form.size)


def _indices(flat: Array) -> StoredWeights | None:
    codebook, indices = np.unique(flat, return_inverse=True)
    width = _width(codebook)
    if width >= 8:
        return None
    return StoredWeights("indices", _packed(_bits(indices, width).reshape(-1)), codebook, width)


def _sparse(flat: Array, clustered: bool) -> StoredWeights | None:
    present = flat != 0
    codebook: Array | None = None
    indices, width = flat[present].view(np.uint8), 8
    if clustered:
        codebook, indices = np.unique(flat[present], return_inverse=True)
        width = _width(codebook)
        if not codebook.size or width >= 8:
            return None
    bits = np.zeros((flat.size, 1 + width), np.uint8)
    bits[:, 0] = present
    bits[present, 1:] = _bits(indices, width)
    written = np.ones(bits.shape, bool)
    written[~present, 1:] = False
    return StoredWeights("sparse", _packed(bits[written]), codebook, width)


def _width(codebook: Array) -> int:
    return max(1, (codebook.size - 1).bit_length())


def _bits(indices: Array, width: int) -> Array:
    return (indices.reshape(-1, 1) >> np.arange(width) & 1).astype(np.uint8)


def _packed(bits: Array) -> Array:
    return np.packbits(bits, bitorder="little")
