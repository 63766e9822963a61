"""Values that a program passes to `show` and `plot`, as arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import DTypeError, PlaygradError, ShapeError
from playgrad.graph.tensor import Tensor

Array = np.ndarray[Any, Any]


def as_numbers(values: Any, name: str) -> Array:
    """Return ``values`` as an array of bool, integers or floats.

    Args:
        values: an array, a tensor with a value, or nested lists.
        name: of the function's argument, for errors.

    Raises:
        DTypeError: they are not real numbers.
        ShapeError: there are none.
        FeedError: a tensor depends on a placeholder.
    """
    try:
        array = np.asarray(values.numpy() if isinstance(values, Tensor) else values)
    except PlaygradError:
        raise
    except ValueError as error:  # lists of different lengths
        raise ShapeError(f"{name} cannot be an array: {str(error).rstrip('.')}.") from None
    if array.dtype == object:
        array = _converted(array, name)
    if array.dtype.kind not in "biuf":
        raise DTypeError(
            f"{name} has dtype {array.dtype}.", hint="Pass integers, floats or booleans."
        )
    if not array.size:
        raise ShapeError(f"{name} is empty: its shape is {array.shape}.")
    return array


def _converted(array: Array, name: str) -> Array:
    """Return objects as floats; None becomes NaN, as in a history of losses."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise DTypeError(
            f"{name} has values that are not numbers.", hint="Pass integers, floats or booleans."
        ) from None
