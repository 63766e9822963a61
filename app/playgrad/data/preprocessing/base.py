"""The base class of preprocessing that is computed on the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from playgrad.errors import DataError

Array = np.ndarray[Any, Any]


class HostPreprocessing:
    """Turns arrays into arrays of numbers, before they are passed to a model.

    It is not a part of a network, whose tensors hold no texts. Use it on arrays, or in the map of a
    data set: ``data.map(lambda x, y: (layer(x), y))``.
    """

    def __call__(self, inputs: Any) -> Array:
        """Return numbers for ``inputs``, an array or nested lists of values.

        Raises:
            DataError: it is called on a tensor of a model.
        """
        if hasattr(inputs, "graph"):
            self.refuse()
        array = np.asarray(inputs)
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
        return self.call(array)

    def call(self, inputs: Array) -> Array:
        """Return numbers for an array."""
        raise NotImplementedError

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learn from ``data``: an array, nested lists, or a data set of such batches."""

    def refuse(self) -> NoReturn:
        """Say that it cannot be a part of a model.

        Raises:
            DataError: always.
        """
        name = type(self).__name__
        raise DataError(
            f"{name} works on the host, and cannot be a part of a model.",
            hint=f"Apply it to the data: data.map(lambda x, y: (layer(x), y)), or x = {name}(...)"
            "(x).",
        )


def batches_of(data: Any, steps: int | None = None) -> Iterable[Array]:
    """Return the arrays in ``data``: itself, or the batches of a data set without their targets."""
    if hasattr(data, "as_numpy_iterator") or hasattr(data, "batch"):
        for number, batch in enumerate(data):
            if steps is not None and number >= steps:
                return
            yield np.asarray(batch[0] if isinstance(batch, tuple) else batch)
    else:
        yield np.asarray(data)


def encoded(ids: Array, size: int, mode: str, weights: Array | None = None) -> Array:
    """Return ``ids`` as "int", or as vectors of ``size`` numbers.

    Args:
        ids: whole numbers; negative ones count for nothing.
        mode: "one_hot" for a vector for each, "multi_hot" or "count" for one for each row along
            the last axis, "tf_idf" for counts times ``weights``.
    """
    if mode == "int":
        return ids
    one_hot = (ids[..., None] == np.arange(size)).astype(np.float32)
    if mode == "one_hot":
        return one_hot[..., 0, :] if ids.ndim and ids.shape[-1] == 1 else one_hot
    rows = one_hot if ids.ndim == 1 else one_hot.sum(axis=-2)
    if mode == "multi_hot":
        return np.minimum(rows, 1.0)
    return rows if weights is None else rows * weights


def checked_mode(mode: str, *allowed: str) -> str:
    """Return ``mode``.

    Raises:
        DataError: it is not one of ``allowed``.
    """
    if mode not in allowed:
        raise DataError(f"output_mode must be {' or '.join(map(repr, allowed))}, got {mode!r}.")
    return mode
