"""Checks of feeds, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.dtypes import converted, dtype
from playgrad.errors import DTypeError, FeedError, PlaygradError, ShapeError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor

Array = np.ndarray[Any, Any]
FeedDict = Mapping[Any, Any] | None
"""Values by placeholder, by any other tensor, or by its name."""


def resolve_feeds(
    graph: Graph, feed_dict: Mapping[Any, Any]
) -> tuple[dict[str, Tensor], dict[str, Array]]:
    """Return the fed tensors and their arrays, by tensor name.

    Raises:
        FeedError: a tensor is unknown, or a value does not fit its tensor.
    """
    tensors: dict[str, Tensor] = {}
    arrays: dict[str, Array] = {}
    for key, value in feed_dict.items():
        try:
            tensor = graph.tensor(key) if isinstance(key, str) else key
        except PlaygradError as error:
            raise FeedError(f"cannot feed {key!r}: {error}") from None
        if not isinstance(tensor, Tensor) or tensor.graph is not graph:
            raise FeedError(f"cannot feed {key!r}: not a tensor in this graph.")
        try:
            array = check_value(value, tensor, f"'{tensor.node.name}'")
        except PlaygradError as error:
            raise FeedError(
                error.message, op=tensor.node.name, source=tensor.node.source, hint=error.hint
            ) from None
        tensors[tensor.name], arrays[tensor.name] = tensor, array
    return tensors, arrays


def check_value(value: Any, tensor: Tensor, what: str) -> Array:
    """Return ``value`` as an array of the tensor's dtype and shape.

    Integers are converted to floats, and floats to other floats; nothing else is converted.

    Args:
        what: names the value in errors.

    Raises:
        ShapeError: the value does not have the tensor's shape.
        DTypeError: the value cannot be converted to the tensor's dtype.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"the value for {what} is not an array: {error}") from None
    target = dtype(tensor.dtype)
    if array.dtype != target.numpy:
        if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and not target.floating):
            raise DTypeError(
                f"{what} takes {target.name} values, but was given {array.dtype}.",
                hint=f"Convert them with .astype({target.name!r}).",
            )
        array = converted(array, target, what)
    fits = len(array.shape) == len(tensor.shape) and all(
        size is None or size == actual
        for size, actual in zip(tensor.shape, array.shape, strict=False)
    )
    if not fits:
        raise ShapeError(
            f"{what} has shape {shape_text(tensor.shape)}, but was given a value of shape "
            f"{shape_text(array.shape)}."
        )
    return array
