"""int8 weights in fewer bytes, exactly: without their zeros, as indices into few values.

- "values": the weights.
- "codebook": the distinct values, and for each weight an index of 1 to 7 bits.
- "codebooks": the same, with as many values for each index of the last axis. A layer that shares
  16 values has other integers for each output, whose scales differ.

Each of them can hold only the weights that are not 0, with a bit for each weight that says which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from playgrad.io.packed import Array, Packed, expect, indices_of, joined, mask_of, unmasked

_OVERHEAD = 200
"""What a packed tensor takes more than another one in the header of a file, in bytes; about."""
_MOST_BITS = 7


def pack_integers(array: Array) -> Packed | None:
    """Return the smallest form of an int8 array; None if that is the array itself."""
    rows = _rows(array)
    outputs, shape = len(rows), array.shape
    flat = rows.reshape(-1)
    owners = np.repeat(np.arange(outputs), rows.shape[1])
    forms = [*_coded(shape, flat), *_coded_by_output(shape, flat, owners, outputs)]
    kept = flat != 0
    if not kept.all():
        mask, some = mask_of(kept), flat[kept]
        forms += [
            Packed(each.form, shape, {**each.parts, "mask": mask}, each.bits, dtype="int8")
            for each in (
                Packed("values", shape, {"values": some}, dtype="int8"),
                *_coded(shape, some),
                *_coded_by_output(shape, some, owners[kept], outputs),
            )
        ]
    best = min(forms, key=lambda each: each.nbytes, default=None)
    return best if best is not None and best.nbytes + _OVERHEAD < array.nbytes else None


def unpack_integers(packed: Packed) -> Array:
    """Return the array.

    Raises:
        ValueError, KeyError, IndexError: the parts do not fit together.
    """
    size, parts = math.prod(packed.shape), packed.parts
    kept = unmasked(parts, size)
    count = size if kept is None else int(kept.sum())
    values = parts["values"]
    if packed.form == "values":
        expect(values, np.int8, count)
        flat = values
    elif packed.form == "codebook":
        book = parts["codebook"]
        expect(book, np.int8, book.size)
        flat = book[indices_of(packed, count)]
    elif packed.form == "codebooks":
        flat = _from_codebooks(packed, kept, count)
    else:
        raise ValueError(f"there is no form {packed.form!r:.40} of int8")
    if kept is not None:
        whole = np.zeros(size, np.int8)
        whole[kept] = flat
        flat = whole
    outputs = packed.shape[-1:]
    moved = flat.reshape(*outputs, *packed.shape[:-1])
    return np.ascontiguousarray(np.moveaxis(moved, 0, -1) if outputs else moved)


def _from_codebooks(packed: Packed, kept: Array | None, count: int) -> Array:
    outputs = packed.shape[-1]
    size = math.prod(packed.shape)
    book = packed.parts["codebook"]
    entries = book.size // max(outputs, 1)
    expect(book, np.int8, entries * outputs)
    indices = indices_of(packed, count).astype(np.int64)
    if indices.size and indices.max() >= entries:
        raise ValueError(f"an index is {indices.max()}, but there are {entries} values")
    places = np.arange(count) if kept is None else np.flatnonzero(kept)
    return book[places // (size // outputs) * entries + indices] if size else book[:0]


def _rows(array: Array) -> Array:
    """Return the weights (outputs, weights of an output)."""
    if not array.ndim or not array.size:
        return array.reshape(1, -1)
    return np.moveaxis(array, -1, 0).reshape(array.shape[-1], -1)


def _coded(shape: tuple[int, ...], flat: Array) -> Iterator[Packed]:
    values, indices = np.unique(flat, return_inverse=True)
    bits = max(1, (len(values) - 1).bit_length())
    if len(values) and bits <= _MOST_BITS:
        parts = {"codebook": values, "values": joined(indices, bits)}
        yield Packed("codebook", shape, parts, bits, dtype="int8")


def _coded_by_output(
    shape: tuple[int, ...], flat: Array, owners: Array, outputs: int
) -> Iterator[Packed]:
    """Yield the form with a codebook for each output, of which ``owners`` has one for each weight,
    in order."""
    borders = np.searchsorted(owners, np.arange(1, outputs))
    books = [np.unique(row, return_inverse=True) for row in np.split(flat, borders)]
    entries = max(len(values) for values, _ in books)
    bits = max(1, (entries - 1).bit_length())
    if outputs < 2 or not entries or bits > _MOST_BITS:
        return
    book = np.zeros((outputs, entries), np.int8)
    for row, (values, _) in zip(book, books, strict=True):
        row[: len(values)] = values
    indices = np.concatenate([each.reshape(-1) for _, each in books])
    parts = {"codebook": book.reshape(-1), "values": joined(indices, bits)}
    yield Packed("codebooks", shape, parts, bits, dtype="int8")
