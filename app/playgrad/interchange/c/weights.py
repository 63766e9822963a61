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
        stride: how many values of the codebook are of one unit; 0 if all are of every unit.
    """

    kind: Literal["plain", "indices", "sparse"]
    values: Array
    codebook: Array | None = None
    width: int = 8
    stride: int = 0

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.values.size + (0 if self.codebook is None else self.codebook.size))


class _Coded(NamedTuple):
    """Weights as indices of a codebook; each unit has the next ``stride`` values of it, or all."""

    indices: Array
    codebook: Array
    stride: int

    @property
    def width(self) -> int:
        return max(1, ((self.stride or self.codebook.size) - 1).bit_length())


def stored(weights: Array, random_access: bool = False) -> StoredWeights:
    """Return int8 weights (units, weights of a unit) in the smallest form.

    Args:
        random_access: only forms in which the place of each weight is known.
    """
    forms = [StoredWeights("plain", np.ascontiguousarray(weights, np.int8).reshape(-1))]
    present = weights != 0
    forms += [_indices(_coded([weights.reshape(-1)]))]
    if not random_access:
        forms += [
            _indices(_coded(list(weights))),
            _sparse(present, _coded([weights[present]])),
            _sparse(present, _coded([row[row != 0] for row in weights])),
            _sparse(present, None, weights[present].view(np.uint8)),
        ]
    return min(forms, key=lambda form: form.size)


def _coded(rows: list[Array]) -> _Coded:
    """Return the indices of weights in the codebook of their row."""
    found = [np.unique(row, return_inverse=True) for row in rows]
    entries = max(1, *(values.size for values, _ in found))
    codebook = np.zeros((len(rows), entries), np.int8)
    for row, (values, _) in zip(codebook, found, strict=True):
        row[: values.size] = values
    indices = np.concatenate([index.reshape(-1) for _, index in found])
    return _Coded(indices, codebook.reshape(-1), entries if len(rows) > 1 else 0)


def _indices(coded: _Coded) -> StoredWeights:
    values = _packed(_bits(coded.indices, coded.width).reshape(-1))
    return StoredWeights("indices", values, coded.codebook, coded.width, coded.stride)


def _sparse(present: Array, coded: _Coded | None, numbers: Array | None = None) -> StoredWeights:
    """Return the form with a bit for each weight, and ``coded`` or ``numbers`` of 8 bits behind."""
    indices = numbers if coded is None else coded.indices
    assert indices is not None
    width = 8 if coded is None else coded.width
    shown = present.reshape(-1)
    bits = np.zeros((shown.size, 1 + width), np.uint8)
    bits[:, 0] = shown
    bits[shown, 1:] = _bits(indices, width)
    written = np.ones(bits.shape, bool)
    written[~shown, 1:] = False
    values = _packed(bits[written])
    if coded is None:
        return StoredWeights("sparse", values)
    return StoredWeights("sparse", values, coded.codebook, width, coded.stride)


def _bits(indices: Array, width: int) -> Array:
    return (indices.reshape(-1, 1) >> np.arange(width) & 1).astype(np.uint8)


def _packed(bits: Array) -> Array:
    return np.packbits(bits, bitorder="little")
