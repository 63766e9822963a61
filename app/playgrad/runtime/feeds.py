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
        tensor = fed_tensor(graph, key)
        tensors[tensor.name], arrays[tensor.name] = tensor, fed_array(tensor, value)
    return tensors, arrays


def fed_tensor(graph: Graph, key: Any) -> Tensor:
    """Return the tensor of ``graph`` that is fed under ``key``, itself or its name.

    Raises:
        FeedError: there is no such tensor.
    """
    try:
        tensor = graph.tensor(key) if isinstance(key, str) else key
    except PlaygradError as error:
        raise FeedError(f"cannot feed {key!r}: {error}") from None
    if not isinstance(tensor, Tensor) or tensor.graph is not graph:
        raise FeedError(f"cannot feed {key!r}: not a tensor in this graph.")
    return tensor


def fed_array(tensor: Tensor, value: Any) -> Array:
    """Return ``value`` as an array for ``tensor``.

    Raises:
        FeedError: it does not fit.
    """
    try:
        return check_value(value, tensor, f"'{tensor.node.name}'")
    except PlaygradError as error:
        raise FeedError(
            error.message, op=tensor.node.name, source=tensor.node.source, hint=error.hint
        ) from None


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
    expected, shape = tensor.shape, array.shape
    pairs = zip(expected, shape, strict=False)
    if len(shape) != len(expected) or [n for n, m in pairs if n is not None and n != m]:
        raise ShapeError(
            f"{what} has shape {shape_text(expected)}, but was given a value of shape "
            f"{shape_text(shape)}."
        )
    return array
