"""The CTC loss, for labels that are not aligned with the outputs of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.losses import Loss
from playgrad.ops.reductions.ctc_loss import ctc_loss

Array = np.ndarray[Any, Any]


class CTC(Loss):
    """Connectionist temporal classification (Graves et al. 2006).

    Predictions are logits (batch, times, classes), before softmax. Targets are class numbers
    (batch, labels) from 1, and 0 after the last label of a shorter target: class 0 is the blank.
    `playgrad.ctc_greedy_decode` reads the predictions of a trained model.

    Args:
        zero_infinity: make the loss 0 for samples with too many labels for their times, in place of
            infinity.
    """

    kind = "ctc"
    target_dtype = "int32"

    def __init__(self, zero_infinity: bool = False) -> None:
        self.zero_infinity = zero_infinity

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return ctc_loss(y_true, y_pred, zero_infinity=self.zero_infinity)

    def check_targets(self, y: Array, output: Shape, what: str, layer: str) -> Array:
        if len(output) != 3:
            raise ShapeError(
                f"ctc needs an output of shape (batch, times, classes), not {shape_text(output)}.",
                hint=f"It is computed by the layer '{layer}'.",
            )
        if y.ndim != 2:
            raise ShapeError(
                f"{what} must have the shape (samples, labels) for ctc, not {shape_text(y.shape)}."
            )
        if y.dtype.kind == "f" and not (np.isfinite(y) & (y % 1 == 0)).all():
            raise DataError(f"{what} must hold whole class numbers.")
        labels = y.astype(np.int32)
        classes = int(output[2] or 0)
        wrong = np.argwhere((labels < 0) | (labels >= classes))
        if len(wrong):
            sample, place = wrong[0]
            raise DataError(
                f"{what} contains the label {labels[sample, place]} (sample {sample}), but labels "
                f"must be 1 to {classes - 1}, and 0 after the last one.",
                hint=f"The output of '{layer}' has {classes} classes, with class 0 as the blank.",
            )
        gaps = np.argwhere((labels[:, :-1] == 0) & (labels[:, 1:] != 0))
        if len(gaps):
            raise DataError(
                f"{what} contains 0, the blank, before a label (sample {gaps[0][0]}).",
                hint="Number the classes from 1, and move the zeros behind the labels.",
            )
        return labels
