"""``confusion_matrix``: how often each class was taken for each other."""

from __future__ import annotations

from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.gather import as_indices
from playgrad.ops.arrays.one_hot import one_hot
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.products.matmul import matmul


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return how many samples of each class were predicted as each class.

    Args:
        labels: the classes of samples, (batch,); integers from 0.
        predictions: the predicted classes, (batch,).
        num_classes: the number of classes. A sample whose class, true or predicted, is not among
            them is not counted.
        weights: what each sample counts, (batch,); None for 1.

    Returns:
        A tensor of shape (num_classes, num_classes), with a row for each true class; int32, or
        float32 with ``weights``.
    """
    true = as_indices(labels)
    predicted = as_indices(predictions, true)
    rows, columns = one_hot(true, num_classes), one_hot(predicted, num_classes)
    if weights is not None:
        rows = rows * expand_dims(cast(as_tensor(weights, true.graph), "float32"), 1)
    counts = matmul(transpose(rows), columns, name=name if weights is not None else None)
    return counts if weights is not None else cast(counts, "int32", name=name)
