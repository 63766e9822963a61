"""The meaning of a model's outputs, judging by its loss: classes or numbers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from playgrad.graph.spec import Shape
from playgrad.nn.class_losses import CategoricalHinge, Hinge, KLDivergence
from playgrad.nn.cross_entropy_losses import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    SparseCategoricalCrossentropy,
)

Array = np.ndarray[Any, Any]
Scale = Literal["softmax", "probabilities", "scores", "sigmoid", "probability", "margin", "linear"]
"""The first output as (batch, classes): scores before softmax, probabilities, or scores of another
kind, of which the largest decides. As (batch, 1): a score before the sigmoid, the probability of
class 1, a score whose sign is the class, or a number to be predicted."""
NO_CLASS = -1
"""In place of the predicted class, of outputs that are NaN."""
SEVERAL: frozenset[Scale] = frozenset({"softmax", "probabilities", "scores"})
"""The scales with an output for each class."""


def scale_of(model: Any) -> Scale | None:
    """Return the scale of the first output; None if there is not one prediction for each sample, or
    no loss to judge by."""
    shape: Shape = model.output_shape if model.is_compiled else ()
    return scale_of_outputs(model, shape[1]) if len(shape) == 2 and shape[1] else None


def scale_of_outputs(model: Any, count: int) -> Scale | None:
    """Return the scale of the ``count`` outputs of a compiled model for each sample, or for each
    node of a graph; None if they are not one prediction."""
    loss = model.recipe.objectives.loss_of(0)
    if isinstance(loss, (SparseCategoricalCrossentropy, CategoricalCrossentropy)):
        return "softmax" if loss.from_logits else "probabilities"
    if isinstance(loss, (CategoricalHinge, KLDivergence)):
        return "scores" if isinstance(loss, CategoricalHinge) else "probabilities"
    if count != 1:
        return None
    if isinstance(loss, BinaryCrossentropy):
        return "sigmoid" if loss.from_logits else "probability"
    return "margin" if isinstance(loss, Hinge) else "linear"


def classes_in(targets: Array, scale: Scale) -> Array:
    """Return the classes (samples,) that ``targets`` name, as int32."""
    if scale in SEVERAL:
        labels = targets.argmax(axis=1) if targets.ndim == 2 else targets
    else:
        labels = targets.reshape(len(targets)) > (0 if scale == "margin" else 0.5)
    return np.asarray(labels, np.int32)


def ignored_class(model: Any) -> int | None:
    """Return the label that the loss of a compiled model leaves out; None for none."""
    loss = model.recipe.objectives.loss_of(0)
    return loss.ignore_class if isinstance(loss, SparseCategoricalCrossentropy) else None


def decisions(outputs: Array, scale: Scale) -> tuple[Array, Array | None]:
    """Return the predicted classes (samples,), and their probabilities if the scale has them.

    The class is `NO_CLASS` where an output is NaN: of that none is the largest.
    """
    with np.errstate(all="ignore"):
        labels, chances = _decisions(outputs, scale)
    return np.where(np.isnan(outputs).any(axis=1), NO_CLASS, labels).astype(np.int32), chances


def _decisions(outputs: Array, scale: Scale) -> tuple[Array, Array | None]:
    if scale in SEVERAL:
        labels = outputs.argmax(axis=1)
        if scale == "scores":
            return labels, None
        chances = softmax(outputs) if scale == "softmax" else outputs
        return labels, np.take_along_axis(chances, labels[:, None], axis=1)[:, 0]
    first = outputs[:, 0]
    if scale == "margin":
        return (first > 0).astype(np.int64), None
    chance = 1 / (1 + np.exp(-np.clip(first, -80, 80))) if scale == "sigmoid" else first
    return (chance > 0.5).astype(np.int64), np.maximum(chance, 1 - chance)


def softmax(scores: Array) -> Array:
    """Return the probabilities of the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result
