"""Fashion-MNIST: 70,000 grey pictures of clothes (Xiao, Rasul and Vollgraf, Zalando SE, 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.idx_images import read_images

Array = np.ndarray[Any, Any]

FASHION_NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
    "Ankle boot",
)  # fmt: skip


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
