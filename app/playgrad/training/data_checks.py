"""Checks of a user's data, before anything is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import converted, dtype
from playgrad.errors import DataError, DTypeError, ShapeError, shape_text
from playgrad.graph.spec import Shape, TensorSpec

Array = np.ndarray[Any, Any]
_CHUNK = 1 << 22
"""Elements checked at a time, so that the check needs little memory in addition to the data."""
_LARGEST = float(np.finfo(np.float32).max)


def as_sequence(value: Any) -> Sequence[Any]:
    """Return an argument that may be None, one value or a list of values as a sequence."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def as_arrays(
    values: Any,
    count: int | None,
    what: str,
    layers: Sequence[str] = (),
    names: Sequence[str] = (),
) -> list[Array]:
    """Return ``values`` as arrays of dtypes that the device can hold.

    Floats become float32, whole numbers int32; uint8 stays, because images are stored as bytes, and
    so are bools.

    Args:
        values: an array, or anything that NumPy converts to one; a list or tuple of them if the
            model takes several arrays.
        count: the number of arrays that the model takes; None for one, or for as many as there are
            in a list of arrays.
        what: their name in errors: ``x`` or ``y``.
        layers: names of the layers that the arrays belong to, for errors.
        names: the names of the arrays in errors; by default they are numbered.

    Raises:
        DataError: the number of arrays is wrong, or an array is empty, ragged, not finite, or too
            large for int32.
        DTypeError: an array does not hold numbers.
    """
    is_list = isinstance(values, (list, tuple)) and (
        (count or 1) > 1 or (bool(values) and all(isinstance(v, np.ndarray) for v in values))
    )
    items = list(values) if is_list else [values]
    if count is not None and len(items) != count:
        raise DataError(
            f"{what} holds {len(items)} array{'s' * (len(items) != 1)}, but the model takes "
            f"{count}.",
            hint=f"Pass a list with one for each of: {', '.join(layers)}." if layers else None,
        )
    if not names:
        names = [what] if len(items) == 1 else [f"{what}[{i}]" for i in range(len(items))]
    return [_as_array(item, name) for item, name in zip(items, names, strict=True)]


def _as_array(value: Any, what: str) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise DataError(f"the samples of {what} differ in shape.") from None
    if array.dtype.kind not in "fiub":
        raise DTypeError(f"{what} must hold numbers, got {array.dtype}.")
    if array.ndim == 0:
        raise DataError(f"{what} is a single number, not an array of samples.")
    if array.size == 0:
        raise DataError(f"{what} is empty: its shape is {shape_text(array.shape)}.")
    check_finite(array, what)
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, np.float32)
    if array.dtype in (np.uint8, np.bool_):
        return np.ascontiguousarray(array, np.uint8)
    limits = np.iinfo(np.int32)
    if array.min() < limits.min or array.max() > limits.max:
        raise DataError(f"{what} holds whole numbers that do not fit into 32 bits.")
    return np.ascontiguousarray(array, np.int32)


def check_finite(array: Array, what: str) -> None:
    """Raise DataError, naming the first sample, if a value is NaN or too large for float32."""
    if array.dtype.kind != "f":
        return
    if array.size <= _CHUNK and _are_valid(array).all():
        return
    flat = array.reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        valid = _are_valid(flat[start : start + _CHUNK])
        if not valid.all():
            position = start + int(np.argmin(valid))
            place = np.unravel_index(position, array.shape)
            raise DataError(
                f"{what} contains {flat[position]} (sample {int(place[0])}).",
                hint="Remove or replace such values.",
            )


def _are_valid(array: Array) -> Array:
    """Return which elements are finite, and are so in float32 as well."""
    return np.isfinite(array) if array.itemsize <= 4 else np.abs(array) <= _LARGEST


def check_lengths(arrays: Sequence[Array], names: str) -> int:
    """Return the number of samples in each of ``arrays``.

    Raises:
        DataError: the arrays differ in length.
    """
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise DataError(f"{names} differ in length: {' and '.join(map(str, lengths))} samples.")
    return lengths[0]


def check_count(value: Any, name: str) -> int:
    """Return ``value`` as an int.

    Raises:
        DataError: it is not a whole number of at least 1.
    """
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise DataError(
            f"{name} must be a whole number of at least 1, got {value!r}.",
            code="count",
            values={"name": name, "value": f"{value!r:.40}"},
        )
    return int(value)


def as_samples(array: Array, spec: TensorSpec, what: str, layer: str) -> Array:
    """Return ``array`` as samples for a model input; whole numbers are cast to its dtype.

    Args:
        spec: the spec of the input.
        what: the name of the array in errors.
        layer: the first layer, for errors.

    Raises:
        ShapeError: the shape of a sample differs.
        DTypeError: the model takes whole numbers, and the array holds others or larger ones.
    """
    expected, shape = spec.shape[1:], array.shape[1:]
    if len(expected) != len(shape) or any(
        n is not None and n != m for n, m in zip(expected, shape, strict=True)
    ):
        raise ShapeError(
            f"the model takes samples of shape {shape_text(expected)} (layer '{layer}'), but "
            f"{what} has samples of shape {shape_text(shape)}.",
            op=layer,
            hint=_single_hint(expected, array.shape),
            code="samples-shape",
            values={"layer": layer, "expected": _sizes(expected), "shape": _sizes(shape)},
        )
    if array.dtype.kind == "f" and not dtype(spec.dtype).floating:
        raise DTypeError(
            f"the model takes {spec.dtype} values (layer '{layer}'), but {what} holds floats.",
            op=layer,
            hint=f"Convert them: {what}.astype('{spec.dtype}').",
        )
    kind = dtype(spec.dtype)
    return array if kind.floating or array.dtype == kind.numpy else converted(array, kind, what)


def _sizes(shape: Shape) -> str:
    return " × ".join("?" if size is None else str(size) for size in shape)


def _single_hint(expected: Shape, shape: tuple[int, ...]) -> str | None:
    if shape == tuple(expected):
        return "For a single sample write sample[None]: an array of one."
    return None
