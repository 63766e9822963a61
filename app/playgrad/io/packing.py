"""Weights in fewer bytes, exactly: without their zeros, as indices into few values, as integers.

`pack` finds the smallest of these forms that holds an array bit for bit, from its values alone:
networks whose weights were pruned, clustered or rounded have such values (Han et al. 2016, *Deep
compression*).

- "float32" and "float16": the values.
- "codebook": the distinct values, and for each element an index of 1 to 8 bits, from the lowest
  bit of the first byte on.
- "int8" and "int4": whole numbers, two in a byte for int4, and the scale of each index of an axis.

Each of them can hold only the elements that are not 0, with a bit for each element that says which.
The forms of int8 arrays are those of `playgrad.io.packed_integers`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.packed import (
    Array,
    Packed,
    expect,
    indices_of,
    joined,
    mask_of,
    parted,
    unmasked,
)
from playgrad.io.packed_integers import pack_integers, unpack_integers

LEAST = 64
"""Arrays of fewer elements are not worth packing."""
_MOST_VALUES = 256
_INTEGERS = {"int8": 8, "int4": 4}


def pack(array: Array) -> Packed | None:
    """Return the smallest form of a float32 or int8 array; None if that is the array itself."""
    if array.size < LEAST or array.dtype not in (np.float32, np.int8):
        return None
    if array.dtype == np.int8:
        return pack_integers(array)
    flat = np.ascontiguousarray(array).reshape(-1)
    kept = flat.view(np.uint32) != 0  # so that -0 stays what it is
    forms = [*_dense_forms(array.shape, flat), *_integer_forms(array)]
    if not kept.all():
        mask = mask_of(kept)
        forms += [
            Packed(each.form, each.shape, {**each.parts, "mask": mask}, each.bits)
            for each in (_plain(array.shape, flat[kept]), *_dense_forms(array.shape, flat[kept]))
        ]
    best = min(forms, key=lambda each: each.nbytes, default=None)
    return best if best is not None and best.nbytes < array.nbytes else None


def _plain(shape: tuple[int, ...], flat: Array) -> Packed:
    return Packed("float32", shape, {"values": flat})


def _dense_forms(shape: tuple[int, ...], flat: Array) -> Iterator[Packed]:
    with np.errstate(over="ignore"):
        half = flat.astype(np.float16)
    if _equal(half.astype(np.float32), flat):
        yield Packed("float16", shape, {"values": half})
    patterns, indices = np.unique(flat.view(np.uint32), return_inverse=True)
    if 0 < len(patterns) <= _MOST_VALUES:
        bits = max(1, (len(patterns) - 1).bit_length())
        parts = {"codebook": patterns.view(np.float32), "values": joined(indices, bits)}
        yield Packed("codebook", shape, parts, bits)


def _integer_forms(array: Array) -> Iterator[Packed]:
    """Yield the integers of an array that is their product with a scale for each output."""
    if array.ndim < 2 or not np.isfinite(array).all():
        return
    for axis in (-1, -2):
        rows = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
        for form, bits in _INTEGERS.items():
            found = _integers_of(rows, (1 << (bits - 1)) - 1)
            if found is not None:
                integers, scale = found
                whole = integers.astype(np.int8).reshape(-1)
                values = whole if bits == 8 else joined(whole + 8, bits)
                yield Packed(form, array.shape, {"scale": scale, "values": values}, bits, axis)


def _integers_of(rows: Array, largest: int) -> tuple[Array, Array] | None:
    """Return whole numbers up to ``largest`` and the scale of each row, whose products are ``rows``
    bit for bit; None if there are none."""
    peaks = np.abs(rows).max(axis=1, initial=0)
    scales = np.where(peaks > 0, peaks / np.float32(largest), np.float32(1)).astype(np.float32)
    chosen, open_rows = scales.copy(), np.ones(len(rows), bool)
    # The division may have been rounded: the scale that was multiplied with is next to it.
    below, above = np.float32(0), np.float32(np.inf)
    for candidate in (scales, np.nextafter(scales, below), np.nextafter(scales, above)):
        with np.errstate(all="ignore"):
            integers = np.rint(rows / candidate[:, None])
            fits = (integers * candidate[:, None]).view(np.uint32) == (rows + 0).view(np.uint32)
        whole = fits.all(axis=1) & (np.abs(integers).max(axis=1, initial=0) <= largest)
        chosen[whole & open_rows] = candidate[whole & open_rows]
        open_rows &= ~whole
    if open_rows.any() or np.signbit(rows[rows == 0]).any():
        return None
    return np.rint(rows / chosen[:, None]), chosen


def _equal(one: Array, other: Array) -> bool:
    return bool(np.array_equal(one.view(np.uint32), other.view(np.uint32)))


def unpack(packed: Packed) -> Array:
    """Return the array.

    Raises:
        CheckpointError: the parts do not fit together.
    """
    try:
        return _unpacked(packed)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise CheckpointError(f"its packed form is damaged: {error}.") from None


def _unpacked(packed: Packed) -> Array:
    if packed.dtype == "int8":
        return unpack_integers(packed)
    size, parts = math.prod(packed.shape), packed.parts
    kept = unmasked(parts, size)
    count = size if kept is None else int(kept.sum())
    values = parts["values"]
    if packed.form in ("float32", "float16"):
        expect(values, np.dtype(packed.form), count)
        flat = values.astype(np.float32)
    elif packed.form == "codebook":
        book = parts["codebook"]
        expect(book, np.float32, book.size)
        flat = book[indices_of(packed, count)]
    elif packed.form in _INTEGERS and kept is None:
        return _from_integers(packed, size)
    else:
        raise ValueError(f"there is no form {packed.form!r:.40}")
    if kept is None:
        return flat.reshape(packed.shape)
    whole = np.zeros(size, np.float32)
    whole[kept] = flat
    return whole.reshape(packed.shape)


def _from_integers(packed: Packed, size: int) -> Array:
    values, scale = packed.parts["values"], packed.parts["scale"]
    if packed.axis not in (-1, -2):
        raise ValueError(f"the axis of scales is {packed.axis!r:.40}")
    rows = packed.shape[packed.axis]
    expect(scale, np.float32, rows)
    if packed.form == "int8":
        expect(values, np.int8, size)
        integers = values.astype(np.float32)
    else:
        expect(values, np.uint8, -(-size * 4 // 8))
        integers = parted(values, 4, size).astype(np.float32) - 8
    moved = [*packed.shape]
    moved.insert(0, moved.pop(packed.axis))
    product = integers.reshape(rows, -1) * scale[:, None] if size else integers
    return np.ascontiguousarray(np.moveaxis(product.reshape(moved), 0, packed.axis))
