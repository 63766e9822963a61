"""Element types (dtypes), and their forms in NumPy, in WGSL and in GPU buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import DTypeError


@dataclass(frozen=True)
class DType:
    """An element type.

    Attributes:
        name: the name, such as ``"float32"``.
        numpy: the NumPy dtype.
        wgsl: the WGSL type of a value in an expression; None if GPUs do not have the type.
        storage: the WGSL type of a buffer element, or None. A bool is a u32, 0 or 1; four
            uint8 or int8, or two float16, are packed in a u32, little endian.
        floating: whether it is a floating type.
        per_word: the elements in a word of 4 bytes of a GPU buffer.
        unpacked: the dtype of one element for each word with the same values, where more are packed
            into one; else the dtype itself.
    """

    name: str
    numpy: np.dtype[Any]
    wgsl: str | None
    storage: str | None
    floating: bool
    per_word: int
    unpacked: str

    @property
    def computed(self) -> str:
        """The dtype in which operations compute: float32 for float16, else the dtype itself."""
        return "float32" if self.name == "float16" else self.name

    def device_bytes(self, count: int) -> int:
        """Return the bytes of ``count`` elements in a GPU buffer: a multiple of 4, at least 4.

        Types that no GPU has take as many as in NumPy.
        """
        if self.storage is None:
            return max(4, self.numpy.itemsize * count)
        return max(4, 4 * -(-count // self.per_word))


def _dtype(
    name: str,
    wgsl: str | None,
    storage: str | None,
    floating: bool,
    per_word: int = 1,
    unpacked: str | None = None,
) -> DType:
    return DType(name, np.dtype(name), wgsl, storage, floating, per_word, unpacked or name)


_TABLE = {
    kind.name: kind
    for kind in (
        _dtype("float16", "f32", "u32", True, per_word=2, unpacked="float32"),
        _dtype("float32", "f32", "f32", True),
        _dtype("float64", None, None, True),
        _dtype("int32", "i32", "i32", False),
        _dtype("uint32", "u32", "u32", False),
        _dtype("uint8", "u32", "u32", False, per_word=4, unpacked="uint32"),
        _dtype("int8", "i32", "u32", False, per_word=4, unpacked="int32"),
        _dtype("bool", "bool", "u32", False),
    )
}
NAMES = tuple(_TABLE)


def dtype(name: Any) -> DType:
    """Return the DType called ``name``: a string, a NumPy dtype or scalar type, or a DType.

    Raises:
        DTypeError: playgrad does not have the type.
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
    """Return the dtype of a value for which none is specified.

    Floats are float32 and integers int32, as GPUs have no 64-bit numbers and few operations take
    float16; arrays of bool, int8, uint8 and uint32 keep their dtype.

    Raises:
        DTypeError: the values are neither numbers nor bool.
    """
    kind = array.dtype.kind
    if kind == "f":
        return "float32"
    if kind in "iu":
        return array.dtype.name if array.dtype.name in ("int8", "uint8", "uint32") else "int32"
    if kind == "b":
        return "bool"
    raise DTypeError(f"cannot make a tensor of {array.dtype} values.")


def converted(array: np.ndarray[Any, Any], name: Any, what: str) -> np.ndarray[Any, Any]:
    """Return ``array`` with element type ``name``. Floats are rounded; other values do not change.

    Args:
        what: a name for the array in error messages.

    Raises:
        DTypeError: a value does not fit: it is too large, negative, or not whole.
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
    """Return the bytes of ``array`` as in a GPU buffer, padded to a multiple of 4.

    If the array has that form in memory already, the result is a view, so that a data set is not
    copied.
    """
    if array.dtype == np.bool_:
        array = array.astype(np.uint32)
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    missing = -flat.size % 4 or (4 if not flat.size else 0)
    return flat.tobytes() + bytes(missing) if missing else flat.data


def from_device_bytes(
    data: bytes | memoryview, name: str, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """Return a copy of the array that ``to_device_bytes`` wrote."""
    if name == "bool":
        return np.ndarray(shape, np.uint32, data).astype(np.bool_)
    return np.ndarray(shape, dtype(name).numpy, bytearray(data))
