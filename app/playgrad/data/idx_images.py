"""Data sets of grey images in four IDX files, in the form of MNIST."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data import source
from playgrad.data.idx import parse_idx
from playgrad.errors import DataError

Array = np.ndarray[Any, Any]


def read_images(data_set: str, title: str) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return images and labels for training, and images and labels for testing.

    Args:
        data_set: as in the names of files.
        title: for errors.

    Raises:
        DataError: the files are missing or damaged.
    """
    return _part(data_set, title, "train"), _part(data_set, title, "test")


def _part(data_set: str, title: str, part: str) -> tuple[Array, Array]:
    images = _array(f"{data_set}/{part}-images", title, rank=3)
    labels = _array(f"{data_set}/{part}-labels", title, rank=1)
    if len(images) != len(labels):
        raise DataError(f"{title} has {len(images)} {part} images but {len(labels)} labels.")
    return images, labels.astype(np.int32)


def _array(name: str, title: str, rank: int) -> Array:
    array = parse_idx(source.read(name), name)
    if array.dtype != np.uint8 or array.ndim != rank:
        raise DataError(
            f"{name} contains {array.dtype} of {array.ndim} dimensions, which is not {title}."
        )
    return array
