"""MNIST: 70,000 handwritten digits (LeCun, Cortes and Burges)."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.data.idx_images import read_images
from playgrad.records import DataSetRecord, LabelledSamples, SuitedSettings

Array = np.ndarray[Any, Any]


@data_set(
    DataSetRecord(
        place=1,
        class_names=tuple("0123456789"),
        samples=LabelledSamples(
            "images",
            (28, 28),
            "uint8",
            10,
            title="Handwritten digits (MNIST)",
            names=r"\bMNIST\b|\b(handwritten )?digits?\b",
            noun="handwritten digits",
            about="Images of 28 x 28 bytes, and their labels: the digits 0 to 9.",
            suited=SuitedSettings("Adam", "0.003", "64", "1"),
        ),
    )
)
def mnist() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the MNIST data set as ``(x_train, y_train), (x_test, y_test)``.

    Returns:
        Images are uint8 of shape (60000, 28, 28) and (10000, 28, 28), 0 for paper and 255 for ink.
        Labels are int32 of shape (60000,) and (10000,), the digits 0 to 9.

    Raises:
        DataError: the files are missing or damaged.
    """
    return read_images("mnist", "MNIST")
