"""The sample of the model's data that a view of the page looks at."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def excerpt_sample(model: Any, number: int) -> tuple[Array, Array, dict[str, Any]] | None:
    """Return a sample with its target, each with a batch dimension, and what the page says of it.

    It is one of the test data, or of the training data if there are no others; None if the model
    keeps none.

    Args:
        number: of the sample; those past the last begin again.
    """
    excerpt = model.test_excerpt or model.train_excerpt
    if excerpt is None:
        return None
    count = len(excerpt.x)
    rows = slice(number % count, number % count + 1)
    about = {"number": rows.start, "count": count, "tested": model.test_excerpt is not None}
    return excerpt.x[rows], excerpt.y[rows], about
