"""An array in a packed form, and whole numbers of a few bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
MOST_BITS = 8
"""Of an index."""


@dataclass(frozen=True)
class Packed:
    """An array in another form.

    Attributes:
        form: see `playgrad.io.packing` and `playgrad.io.packed_integers`.
        shape: of the array.
        parts: the arrays that hold it: "values", with "codebook" or "scale" where the form has
            them, and "mask" if zeros are left out.
        bits: of an index or an integer.
        axis: of the scales; -1 or -2.
        dtype: of the array.
    """

    form: str
    shape: tuple[int, ...]
    parts: Mapping[str, Array]
    bits: int = 0
    axis: int = -1
    dtype: str = "float32"

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts.values())

    def record(self) -> dict[str, Any]:
        """Return all but the parts as plain data."""
        record = {
            "form": self.form, "shape": list(self.shape), "bits": self.bits, "axis": self.axis
        }  # fmt: skip
        return record if self.dtype == "float32" else {**record, "dtype": self.dtype}


def joined(indices: Array, bits: int) -> Array:
    """Return whole numbers of ``bits`` bits, one after the other in bytes, the lowest bits first;
    uint8."""
    spread = (indices.astype(np.uint8)[:, None] >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(spread.reshape(-1), bitorder="little")


def parted(packed: Array, bits: int, count: int) -> Array:
    """Return the ``count`` whole numbers that `joined` has joined."""
    spread = np.unpackbits(packed, count=count * bits, bitorder="little").reshape(count, bits)
    return (spread.astype(np.uint16) << np.arange(bits, dtype=np.uint16)).sum(axis=1)


def mask_of(kept: Array) -> Array:
    """Return a bit for each element of a flat array of bool; uint8."""
    return np.packbits(kept, bitorder="little")


def unmasked(parts: Mapping[str, Array], size: int) -> Array | None:
    """Return which of ``size`` elements are stored, as bool; None if there is no mask.

    Raises:
        ValueError: the mask is not one of so many elements.
    """
    if "mask" not in parts:
        return None
    expect(parts["mask"], np.uint8, -(-size // 8))
    return np.unpackbits(parts["mask"], count=size, bitorder="little").astype(bool)


def indices_of(packed: Packed, count: int) -> Array:
    """Return the ``count`` indices in the values of ``packed``.

    Raises:
        ValueError: it has no such values.
    """
    if not 1 <= packed.bits <= MOST_BITS:
        raise ValueError(f"there are no indices of {packed.bits} bits")
    values = packed.parts["values"]
    expect(values, np.uint8, -(-count * packed.bits // 8))
    return parted(values, packed.bits, count)


def expect(part: Array, kind: Any, size: int) -> None:
    """Raise ValueError unless ``part`` is a vector of ``size`` elements of the dtype ``kind``."""
    if part.dtype != np.dtype(kind) or part.ndim != 1 or part.size != size:
        raise ValueError(
            f"a part is {part.dtype} of shape {part.shape} in place of {np.dtype(kind)} ({size},)"
        )
