"""The predictions of a model for samples whose truth is known, and how wrong they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import GraphError, shape_text
from playgrad.graph.graph import Graph, at_top
from playgrad.inspection.forward import values_of
from playgrad.inspection.outputs import Scale, classes_in, decisions, scale_of
from playgrad.ops.state import placeholder
from playgrad.runtime.session import Session
from playgrad.training.objectives import Objectives
from playgrad.training.prepare_data import prepare_data

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions for some samples.

    Attributes:
        scale: what the model's output is.
        classes: the number of classes; 0 if numbers are predicted.
        truth: classes or numbers (samples,).
        predicted: the same; `outputs.NO_CLASS` for outputs that are NaN.
        chances: the probabilities of the predicted classes (samples,), if the model has any.
        losses: the model's loss of each sample (samples,), without weights of samples or classes.
    """

    scale: Scale
    classes: int
    truth: Array
    predicted: Array
    chances: Array | None
    losses: Array


def predictions(model: Any, x: Any, y: Any) -> Predictions:
    """Return the predictions of ``model`` for ``x``, whose true classes or numbers are ``y``.

    Args:
        x, y: as for ``model.evaluate``.

    Raises:
        GraphError: the model is not compiled, or does not predict one class or number for each
            sample, or predicting would change it.
        DataError, ShapeError, DTypeError: the data does not fit.
    """
    xs, ys = prepare_data(model.recipe, x, y, "")
    if len(xs) != 1 or len(ys) != 1:
        raise GraphError("the model has several inputs or outputs; samples need one of each.")
    return judge(model, xs[0], ys[0])


def judge(model: Any, x: Array, y: Array) -> Predictions:
    """Return the `predictions` for arrays that have been checked, such as an excerpt's.

    Raises:
        GraphError: see `predictions`.
    """
    scale = scale_of(model)
    if scale is None:
        raise GraphError(
            f"the output of shape {shape_text(model.output_shape)} with this loss is not one class "
            "or number for each sample.",
        )
    outputs = values_of(model, model.outputs[0], x)
    losses = _losses(model, y, outputs)
    if scale == "linear":
        return Predictions(scale, 0, y.reshape(-1), outputs[:, 0], None, losses)
    predicted, chances = decisions(outputs, scale)
    classes = max(2, outputs.shape[1])
    return Predictions(scale, classes, classes_in(y, scale), predicted, chances, losses)


def confusion(model: Any, x: Any, y: Any) -> Array:
    """Return how often each class was predicted for samples of each class.

    Args:
        x, y: as for ``model.evaluate``.

    Returns:
        Counts (classes, classes): a row for each true class, a column for each predicted one.
        Samples without a prediction, because the outputs are NaN, are not counted.

    Raises:
        GraphError: the model does not predict a class for each sample; and see `predictions`.
        DataError, ShapeError, DTypeError: the data does not fit.
    """
    return confusion_of(predictions(model, x, y))


def confusion_of(judged: Predictions) -> Array:
    """Return the confusion matrix of predictions; see `confusion`.

    Raises:
        GraphError: numbers were predicted, not classes.
    """
    if not judged.classes:
        raise GraphError(
            "the model predicts numbers, which cannot be confused.",
            hint="Look at `hardest` instead.",
        )
    counts = np.zeros((judged.classes, judged.classes), np.int64)
    inside = [(each >= 0) & (each < judged.classes) for each in (judged.truth, judged.predicted)]
    counted = inside[0] & inside[1]
    np.add.at(counts, (judged.truth[counted], judged.predicted[counted]), 1)
    return counts


def hardest(model: Any, x: Any, y: Any, count: int = 12) -> Array:
    """Return the numbers of the samples with the highest loss, the highest first.

    Args:
        x, y: as for ``model.evaluate``.
        count: of samples, at most.

    Raises:
        GraphError: see `predictions`.
        DataError, ShapeError, DTypeError: the data does not fit.
    """
    return ranked(predictions(model, x, y).losses)[: max(0, count)]


def ranked(losses: Array) -> Array:
    """Return the numbers of samples by falling loss; a loss that is NaN is the worst."""
    return np.argsort(-np.where(np.isnan(losses), np.inf, losses), kind="stable")


def _losses(model: Any, y: Array, outputs: Array) -> Array:
    """Return the loss of each sample, computed by NumPy in a graph apart from the model's."""
    objectives = Objectives(model.recipe.objectives.loss_of(0), [], None)
    graph = Graph()
    with at_top(graph):
        truth = placeholder(y.dtype.name, (None, *y.shape[1:]), "truth")
        prediction = placeholder(outputs.dtype.name, (None, *outputs.shape[1:]), "prediction")
        (losses,) = objectives.per_sample([truth], [prediction])
    with Session(graph, "cpu", threads=1) as session, np.errstate(all="ignore"):
        result: Array = session.run(losses, {truth: y, prediction: outputs})
    return result
