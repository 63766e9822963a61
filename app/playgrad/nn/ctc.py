"""The CTC loss, for labels that are not aligned with the outputs of a sequence."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.loss import MEAN, Loss
from playgrad.nn.masks import mask_of
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.core.build import as_tensor, constant
from playgrad.ops.elementwise.definitions import cast, maximum, where
from playgrad.ops.reductions.ctc_loss import ctc_loss
from playgrad.ops.reductions.reduce import reduce_max

Array = np.ndarray[Any, Any]
_NEVER = -1e9
"""The logit of an impossible class, beside 0 for the certain one."""


class CTC(Loss):
    """Connectionist temporal classification (Graves et al. 2006).

    Predictions are logits (batch, times, classes), before softmax. Targets are class numbers
    (batch, labels) from 1, and 0 after the last label of a shorter target: class 0 is the blank.
    `playgrad.ctc_greedy_decode` reads the predictions of a trained model. Where predictions have a
    mask, each sequence ends with its last kept step, and steps skipped before it are blanks.

    Args:
        zero_infinity: make the loss 0 for samples with too many labels for their times, in place of
            infinity.
    """

    kind = "ctc"
    target_dtype = "int32"
    uses_mask: ClassVar[bool] = True

    def __init__(self, zero_infinity: bool = False, reduction: str | None = MEAN) -> None:
        super().__init__(reduction)
        self.zero_infinity = zero_infinity

    def aligned(self, y_true: Any, y_pred: Tensor) -> Tensor:
        return as_tensor(y_true, y_pred.graph)  # ctc_loss checks the shapes

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        mask = mask_of(y_pred)
        if mask is None:
            return ctc_loss(y_true, y_pred, zero_infinity=self.zero_infinity)
        times, classes = y_pred.spec.static_shape[1:]
        blank = np.where(np.arange(classes) == 0, 0.0, _NEVER).astype(np.float32)
        logits = where(expand_dims(mask, -1), y_pred, constant(blank))
        ends = cast(mask, "int32") * constant(np.arange(1, times + 1, dtype=np.int32))
        length = maximum(reduce_max(ends, axis=1), 1)
        return ctc_loss(y_true, logits, output_length=length, zero_infinity=self.zero_infinity)

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
