"""Element types: what each is called in NumPy, in WGSL and in a GPU buffer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import DTypeError


@dataclass(frozen=True)
class DType:
    """One element type.

    ``wgsl`` is the type of a value in an expression, ``storage`` the element type of a buffer;
    both are None where no GPU has the type. A ``bool`` is stored as u32 0 or 1; ``uint8`` is packed
    four to a u32, little endian.
    """

    name: str
    numpy: np.dtype[Any]
    wgsl: str | None
    storage: str | None
    floating: bool

    def device_bytes(self, count: int) -> int:
        """Bytes that ``count`` elements take in a GPU buffer (always a multiple of 4, never 0)."""
        if self.name == "uint8":
            return max(4, (count + 3) // 4 * 4)
        return max(4, 4 * count)


_TABLE = {
    name: DType(name, np.dtype(name), wgsl, storage, floating)
    for name, wgsl, storage, floating in [
        ("float32", "f32", "f32", True),
        ("float64", None, None, True),
        ("int32", "i32", "i32", False),
        ("uint32", "u32", "u32", False),
        ("uint8", "u32", "u32", False),
        ("bool", "bool", "u32", False),
    ]
}
NAMES = tuple(_TABLE)


def dtype(name: Any) -> DType:
    """The DType called ``name`` (a string, a NumPy dtype or scalar type, or a DType).

    Raises:
        DTypeError: playgrad has no such type.
    """
    if isinstance(name, DType):
        return name
    try:
        return _TABLE[name if isinstance(name, str) and name in _TABLE else np.dtype(name).name]
    except (KeyError, TypeError):
        raise DTypeError(
            f"there is no element type {name!r}.", hint=f"Use one of: {', '.join(NAMES)}."
        ) from None


def default_dtype(array: np.ndarray[Any, Any]) -> str:
    """The type a Python or NumPy value takes when none is named: float32, int32, bool or uint8.

    Python's 64-bit numbers are narrowed as GPUs have none; an explicit ``dtype=`` keeps them.
    """
    kind = array.dtype.kind
    if kind == "f":
        return "float32"
    if kind in "iu":
        return array.dtype.name if array.dtype.name in ("uint8", "uint32") else "int32"
    if kind == "b":
        return "bool"
    raise DTypeError(f"cannot make a tensor of {array.dtype} values.")


def converted(array: np.ndarray[Any, Any], name: Any, what: str) -> np.ndarray[Any, Any]:
    """``array`` with element type ``name``; floats are rounded, nothing else changes its value.

    Args:
        what: what the error calls it.

    Raises:
        DTypeError: a value does not fit: too large, negative, or not whole.
    """
    target = dtype(name)
    with np.errstate(all="ignore"):
        result = array.astype(target.numpy)
    if target.floating:
        fits = array.dtype.kind != "f" or np.array_equal(np.isfinite(result), np.isfinite(array))
    else:
        fits = np.array_equal(result, array)
    if not fits:
        raise DTypeError(f"{what} takes {target.name} values, but some do not fit in it.")
    return result


def to_device_bytes(array: np.ndarray[Any, Any]) -> bytes | memoryview:
    """The bytes of ``array`` as a GPU buffer holds them, padded to a multiple of 4.

    Where that is how they lie in memory, it is a view of them: a data set is not copied.
    """
    if array.dtype == np.bool_:
        array = array.astype(np.uint32)
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    short = -flat.size % 4 or (4 if not flat.size else 0)
    return flat.tobytes() + bytes(short) if short else flat.data


def from_device_bytes(
    data: bytes | memoryview, name: str, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """The array that ``to_device_bytes`` wrote (a copy that owns its memory)."""
    kind = dtype(name)
    stored = np.dtype(np.uint32) if name == "bool" else kind.numpy
    count = math.prod(shape)
    array = np.frombuffer(data, dtype=stored, count=count).reshape(shape)
    return array.astype(kind.numpy)
