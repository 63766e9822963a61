"""Weights in fewer bytes, exactly: without their zeros, as indices into few values, as integers.

`pack` finds the smallest of these forms that holds an array bit for bit, from its values alone:
networks whose weights were pruned, clustered or rounded have such values (Han et al. 2016, *Deep
compression*).

- "float32" and "float16": the values.
- "codebook": the distinct values, and for each element an index of 1 to 8 bits, from the lowest
  bit of the first byte on.
- "int8" and "int4": whole numbers, two in a byte for int4, and the scale of each index of an axis.

Each of them can hold only the elements that are not 0, with a bit for each element that says which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError

Array = np.ndarray[Any, Any]
LEAST = 64
"""Arrays of fewer elements are not worth packing."""
_MOST_VALUES = 256
_INTEGERS = {"int8": 8, "int4": 4}
_FORMS = ("float32", "float16", "codebook", *_INTEGERS)


@dataclass(frozen=True)
class Packed:
    """An array in another form.

    Attributes:
        form: see above.
        shape: of the array.
        parts: the arrays that hold it: "values", with "codebook" or "scale" where the form has
            them, and "mask" if zeros are left out.
        bits: of an index or an integer.
        axis: of the scales; -1 or -2.
    """

    form: str
    shape: tuple[int, ...]
    parts: Mapping[str, Array]
    bits: int = 0
    axis: int = -1

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts.values())

    def record(self) -> dict[str, Any]:
        """Return all but the parts as plain data."""
        return {"form": self.form, "shape": list(self.shape), "bits": self.bits, "axis": self.axis}


def pack(array: Array) -> Packed | None:
    """Return the smallest form of a float32 array; None if that is the array itself."""
    if array.dtype != np.float32 or array.size < LEAST:
        return None
    flat = np.ascontiguousarray(array).reshape(-1)
    kept = flat.view(np.uint32) != 0  # so that -0 stays what it is
    forms = [*_dense_forms(array.shape, flat), *_integer_forms(array)]
    if not kept.all():
        mask = np.packbits(kept, bitorder="little")
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
        parts = {"codebook": patterns.view(np.float32), "values": _joined(indices, bits)}
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
                values = whole if bits == 8 else _joined(whole + 8, bits)
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


def _joined(indices: Array, bits: int) -> Array:
    """Return whole numbers of ``bits`` bits, one after the other in bytes."""
    spread = (indices.astype(np.uint8)[:, None] >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(spread.reshape(-1), bitorder="little")


def _parted(packed: Array, bits: int, count: int) -> Array:
    """Return the ``count`` whole numbers that `_joined` has joined."""
    spread = np.unpackbits(packed, count=count * bits, bitorder="little").reshape(count, bits)
    return (spread.astype(np.uint16) << np.arange(bits, dtype=np.uint16)).sum(axis=1)


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
    size, parts = math.prod(packed.shape), packed.parts
    kept: Array | None = None
    count = size
    if "mask" in parts:
        _expect(parts["mask"], np.uint8, -(-size // 8))
        kept = np.unpackbits(parts["mask"], count=size, bitorder="little").astype(bool)
        count = int(kept.sum())
    values = parts["values"]
    if packed.form in ("float32", "float16"):
        _expect(values, np.dtype(packed.form), count)
        flat = values.astype(np.float32)
    elif packed.form == "codebook":
        if not 1 <= packed.bits <= 8:
            raise ValueError(f"there are no indices of {packed.bits} bits")
        _expect(values, np.uint8, -(-count * packed.bits // 8))
        book = parts["codebook"]
        _expect(book, np.float32, book.size)
        flat = book[_parted(values, packed.bits, count)]
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
    _expect(scale, np.float32, rows)
    if packed.form == "int8":
        _expect(values, np.int8, size)
        integers = values.astype(np.float32)
    else:
        _expect(values, np.uint8, -(-size * 4 // 8))
        integers = _parted(values, 4, size).astype(np.float32) - 8
    moved = [*packed.shape]
    moved.insert(0, moved.pop(packed.axis))
    product = integers.reshape(rows, -1) * scale[:, None] if size else integers
    return np.ascontiguousarray(np.moveaxis(product.reshape(moved), 0, packed.axis))


def _expect(part: Array, kind: Any, size: int) -> None:
    if part.dtype != np.dtype(kind) or part.ndim != 1 or part.size != size:
        raise ValueError(
            f"a part is {part.dtype} of shape {part.shape} in place of {np.dtype(kind)} ({size},)"
        )
