"""The accuracies of classes under the names of Keras."""

from __future__ import annotations

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn.metrics import Accuracy, TopKAccuracy
from playgrad.ops.arrays.shape import expand_dims, reshape_like
from playgrad.ops.elementwise.definitions import cast, equal
from playgrad.ops.reductions.reduce import reduce_max


class CategoricalAccuracy(Accuracy):
    """`Accuracy` for labels that are one-hot.

    Args:
        name: the name in logs.
    """

    kind = "categorical_accuracy"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)


class SparseCategoricalAccuracy(Accuracy):
    """`Accuracy` for labels that are class numbers.

    Args:
        name: the name in logs.
    """

    kind = "sparse_categorical_accuracy"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)


class TopKCategoricalAccuracy(TopKAccuracy):
    """`TopKAccuracy` for labels that are one-hot.

    Args:
        k: how many classes count.
        name: the name in logs.
    """

    kind = "top_k_categorical_accuracy"

    def __init__(self, k: int = 5, name: str | None = None) -> None:
        super().__init__(k, name or self.kind)


class SparseTopKCategoricalAccuracy(TopKAccuracy):
    """`TopKAccuracy` for labels that are class numbers.

    Args:
        k: how many classes count.
        name: the name in logs.
        from_sorted_ids: whether predictions are class numbers (batch, n), the best first, rather
            than scores.
    """

    kind = "sparse_top_k_categorical_accuracy"

    def __init__(self, k: int = 5, name: str | None = None, from_sorted_ids: bool = False) -> None:
        super().__init__(k, name or self.kind)
        self.from_sorted_ids = from_sorted_ids

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        if not self.from_sorted_ids:
            return super().__call__(y_true, y_pred)
        if len(y_pred.shape) != 2 or len(y_true.shape) != 1:
            raise ShapeError(
                f"{self.name} needs class numbers (batch, n) for labels (batch,), got shapes "
                f"{shape_text(y_pred.shape)} and {shape_text(y_true.shape)}."
            )
        best = cast(y_pred[:, : self.k], "int32")
        labels = reshape_like(cast(y_true, "int32"), best[:, 0])
        hits = equal(best, expand_dims(labels, 1))
        return reduce_max(cast(hits, "float32"), axis=1)
