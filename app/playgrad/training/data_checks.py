"""The data given for training, looked at before anything is done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import converted, dtype
from playgrad.errors import DataError, DTypeError, ShapeError, shape_text
from playgrad.graph.spec import Shape, TensorSpec

Array = np.ndarray[Any, Any]
_CHUNK = 1 << 22
"""Elements looked at in one go, so that the check needs little memory beside the data."""


def several(value: Any) -> Sequence[Any]:
    """What may be given as nothing, as one thing or as a list of them, as a sequence."""
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)


def as_arrays(values: Any, count: int | None, what: str, layers: Sequence[str] = ()) -> list[Array]:
    """``values`` as arrays with elements the device can hold.

    Floats become float32, whole numbers int32 (uint8 stays, as images are kept in bytes).

    Args:
        values: one array, or with ``count`` other than 1 a list or tuple of them; anything that
            NumPy makes an array of will do.
        count: how many arrays the model takes; None: one, or as many as a list of arrays holds.
        what: their name in errors, ``x`` or ``y``.
        layers: the names of those that the arrays belong to, where they have any.

    Raises:
        DataError: empty, ragged, not finite, or too large for int32.
        DTypeError: not numbers.
    """
    several = isinstance(values, (list, tuple)) and (
        (count or 1) > 1 or (bool(values) and all(isinstance(v, np.ndarray) for v in values))
    )
    items = list(values) if several else [values]
    if count is not None and len(items) != count:
        raise DataError(
            f"{what} holds {len(items)} array{'s' * (len(items) != 1)}, but the model has {count} "
            "of them.",
            hint=f"Give a list with one for each of: {', '.join(layers)}." if layers else None,
        )
    names = [what] if len(items) == 1 else [f"{what}[{i}]" for i in range(len(items))]
    return [_as_array(item, name) for item, name in zip(items, names, strict=True)]


def _as_array(value: Any, what: str) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise DataError(f"the samples of {what} differ in shape.") from None
    if array.dtype.kind not in "fiub":
        raise DTypeError(f"{what} must hold numbers, not {array.dtype}.")
    if array.ndim == 0:
        raise DataError(f"{what} is a single number, not an array of samples.")
    if array.size == 0:
        raise DataError(f"{what} is empty: its shape is {shape_text(array.shape)}.")
    check_finite(array, what)
    if array.dtype.kind in "fb":
        return np.ascontiguousarray(array, np.float32)
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    limits = np.iinfo(np.int32)
    if array.min() < limits.min or array.max() > limits.max:
        raise DataError(f"{what} holds whole numbers that do not fit into 32 bits.")
    return np.ascontiguousarray(array, np.int32)


def check_finite(array: Array, what: str) -> None:
    """Raise DataError, naming the first culprit, if there is a NaN or what float32 cannot hold."""
    if array.dtype.kind != "f":
        return
    flat = array.reshape(-1)
    largest = min(float(np.finfo(kind).max) for kind in (array.dtype, np.float32))
    for start in range(0, flat.size, _CHUNK):
        fine = np.abs(flat[start : start + _CHUNK]) <= largest
        if not fine.all():
            position = start + int(np.argmin(fine))
            place = np.unravel_index(position, array.shape)
            raise DataError(
                f"{what} contains {flat[position]} (sample {int(place[0])}).",
                hint="Remove or replace such values before training.",
            )


def check_lengths(arrays: Sequence[Array], names: str) -> int:
    """The number of samples, equal in all ``arrays``.

    Raises:
        DataError: the numbers differ.
    """
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise DataError(f"{names} differ in length: {' and '.join(map(str, lengths))} samples.")
    return lengths[0]


def check_count(value: Any, name: str) -> int:
    """``value`` as a Python int.

    Raises:
        DataError: it is no whole number of at least 1.
    """
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise DataError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return int(value)


def as_samples(array: Array, spec: TensorSpec, what: str, layer: str) -> Array:
    """``array`` as samples for the model input ``spec``; whole numbers take its dtype.

    Raises:
        ShapeError: the shape of a sample differs; names the first layer.
        DTypeError: floats, or numbers that do not fit, where the model takes whole numbers.
    """
    want, got = spec.shape[1:], array.shape[1:]
    if len(want) != len(got) or any(
        n is not None and n != m for n, m in zip(want, got, strict=True)
    ):
        raise ShapeError(
            f"the model takes samples of shape {shape_text(want)} (layer '{layer}'), but {what} "
            f"has samples of shape {shape_text(got)}.",
            op=layer,
            hint=_single_hint(want, array.shape),
        )
    if array.dtype.kind == "f" and not dtype(spec.dtype).floating:
        raise DTypeError(
            f"the model takes {spec.dtype} values (layer '{layer}'), but {what} holds floats.",
            op=layer,
            hint=f"Convert them: {what}.astype('{spec.dtype}').",
        )
    kind = dtype(spec.dtype)
    return array if kind.floating or array.dtype == kind.numpy else converted(array, kind, what)


def _single_hint(want: Shape, got: tuple[int, ...]) -> str | None:
    if tuple(got) == tuple(want):
        return "For a single sample write sample[None]: an array of one."
    return None
