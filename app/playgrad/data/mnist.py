"""MNIST: 70,000 handwritten digits (LeCun, Cortes and Burges)."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data import source
from playgrad.data.idx import parse_idx
from playgrad.errors import DataError

Array = np.ndarray[Any, Any]


def mnist() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the MNIST data set as ``(x_train, y_train), (x_test, y_test)``.

    Returns:
        Images are uint8 of shape (60000, 28, 28) and (10000, 28, 28), 0 for paper and 255 for ink.
        Labels are int32 of shape (60000,) and (10000,), the digits 0 to 9.

    Raises:
        DataError: the files are missing or damaged.
    """
    return _part("train"), _part("test")


def _part(part: str) -> tuple[Array, Array]:
    images = _array(f"mnist/{part}-images", rank=3)
    labels = _array(f"mnist/{part}-labels", rank=1)
    if len(images) != len(labels):
        raise DataError(f"MNIST has {len(images)} {part} images but {len(labels)} labels.")
    return images, labels.astype(np.int32)


def _array(name: str, rank: int) -> Array:
    array = parse_idx(source.read(name), name)
    if array.dtype != np.uint8 or array.ndim != rank:
        raise DataError(
            f"{name} contains {array.dtype} of {array.ndim} dimensions, which is not MNIST."
        )
    return array
