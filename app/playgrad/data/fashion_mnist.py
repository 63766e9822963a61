"""Fashion-MNIST: 70,000 grey pictures of clothes (Xiao, Rasul and Vollgraf, Zalando SE, 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.data.idx_images import read_images
from playgrad.records import DataSetRecord, LabelledSamples, SuitedSettings

Array = np.ndarray[Any, Any]

FASHION_NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
    "Ankle boot",
)  # fmt: skip


@data_set(
    DataSetRecord(
        place=2,
        class_names=FASHION_NAMES,
        samples=LabelledSamples(
            "images",
            (28, 28),
            "uint8",
            10,
            title="Clothes (Fashion-MNIST)",
            names=r"\bfashion[-_ ]?mnist\b|\b(articles of )?cloth(es|ing)\b",
            noun="articles of clothing",
            about="Images of 28 x 28 bytes, and their labels: ten kinds of clothes.",
            suited=SuitedSettings("Adam", "0.003", "64", "1"),
        ),
    )
)
def fashion_mnist() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the Fashion-MNIST data set as ``(x_train, y_train), (x_test, y_test)``.

    It has the form of MNIST, and is harder. On the desktop, 31 MB are downloaded when it is first
    used; in the page, the server does so. ``pg.data.class_names("fashion_mnist")`` returns the
    names of the ten classes.

    Returns:
        Images are uint8 of shape (60000, 28, 28) and (10000, 28, 28), 0 for the ground.
        Labels are int32 of shape (60000,) and (10000,), 0 to 9.

    Raises:
        DataError: the files are missing or damaged.
    """
    return read_images("fashion_mnist", "Fashion-MNIST")
