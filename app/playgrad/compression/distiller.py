"""``pg.Distiller``: a small network learns from the outputs of a large one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from playgrad.compression.rewriting import draft_of
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.cloning import StructureCopy
from playgrad.networks.structure import Structure, find_structure
from playgrad.nn.cross_entropy_losses import (
    BinaryCrossentropy,
    CategoricalCrossentropy,
    SparseCategoricalCrossentropy,
)
from playgrad.nn.dense import Dense
from playgrad.nn.layer_calls import LayerCall
from playgrad.ops.arrays.join import stack
from playgrad.ops.elementwise.definitions import clip, log, square
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum
from playgrad.ops.reductions.softmax import log_softmax, softmax
from playgrad.training.data_checks import as_sequence
from playgrad.training.gradient_tape import GradientTape

_LEAST = 1e-7
"""Probabilities are at least this before their logarithm is taken."""


class Distiller(Model):
    """A model that trains ``student`` with the outputs of ``teacher`` (Hinton et al. 2015).

    ``fit`` minimizes ``alpha * loss + (1 - alpha) * temperature**2 * KL``: the compiled loss by the
    labels, and the divergence of the student's probabilities from the teacher's, both softened by
    ``softmax(scores / temperature)``. ``evaluate`` and ``predict`` are those of the student, whose
    weights are trained in place; the teacher is not changed.

    Args:
        teacher: a built model for the same inputs, such as an imported one.
        student: a built model with as many outputs as the teacher.
        temperature: more than 1 shows the student how alike the teacher finds the other classes.
        alpha: the part of the loss by the labels, from 0 to 1.
        hints: pairs of names of layers, one of the teacher's and one of the student's, whose
            outputs are to be alike as well (Romero et al. 2015): their mean squared difference is
            added, times ``hint_weight``. Where their last dimensions differ, a layer that is
            trained along projects the student's.
        hint_weight: see ``hints``.

    Raises:
        GraphError: a model is not built, they do not fit, there is no layer of a name, or a number
            is out of bounds.
    """

    def __init__(
        self,
        teacher: Model,
        student: Model,
        temperature: float = 4.0,
        alpha: float = 0.1,
        hints: Sequence[tuple[str, str]] = (),
        hint_weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.temperature = _number(temperature, "temperature", 1e-3, 1e3)
        self.alpha = _number(alpha, "alpha", 0, 1)
        self.hint_weight = _number(hint_weight, "hint_weight", 0, 1e6)
        for each in (teacher, student):
            each.expect_outputs()
        hints = as_sequence(hints)
        if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in hints):
            raise GraphError(
                f"hints are pairs of names of layers, got {hints!r:.80}.",
                hint="Write hints=[(layer of the teacher, layer of the student)].",
            )
        _expect_same_shapes(teacher.structure, student.structure)
        super().__init__(
            list(student.inputs), list(student.outputs), name or f"distilled_{student.name}"
        )
        self.take_settings(student)
        self.own_callbacks = student.own_callbacks
        self.teacher, self.student = teacher, student
        ours = [_output(student, name) for _, name in hints]
        self._features = find_structure(list(student.inputs), [*student.outputs, *ours])
        self._copied = _copied(teacher, self.graph, [name for name, _ in hints])
        structure, values = self._copied
        self.session.assign(values)
        theirs = structure.outputs[len(teacher.outputs) :]
        self._projections = [_projection(x, y) for x, y in zip(ours, theirs, strict=True)]

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y, *weight = data
        inputs = list(x.values()) if isinstance(x, dict) else x
        inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        loss, count = self._loss_class(), len(self.outputs)
        teacher = self._copied[0].replay(inputs, training=False)
        with GradientTape() as tape:
            student = self._features.replay(inputs, training=True)
            y_pred: Any = student[:count] if count > 1 else student[0]
            hard = self.compute_loss(x, y, y_pred, weight[0] if weight else None)
            soft = self._divergence(teacher[0], student[0], loss)
            total = self.alpha * hard + (1 - self.alpha) * self.temperature**2 * soft
            for target, feature, project in zip(
                teacher[count:], student[count:], self._projections, strict=True
            ):
                near = feature if project is None else project(feature)
                total = total + self.hint_weight * reduce_mean(square(near - target))
        extra = [v for layer in self._projections if layer for v in layer.trainable_variables]
        variables = [*self.trainable_variables, *extra]
        gradients = tape.gradient(total, variables)
        self.recipe.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return self.compute_metrics(x, y, y_pred) | {"loss": total, "distillation": soft}

    def _loss_class(self) -> Any:
        loss = self.recipe.objectives.loss_of(0)
        known = (BinaryCrossentropy, CategoricalCrossentropy, SparseCategoricalCrossentropy)
        if not isinstance(loss, known) or len(self.outputs) != 1:
            raise GraphError(
                f"a student is distilled with one output of classes, not with {loss!r:.80}.",
                source=self.source,
                hint="Compile the Distiller with a cross-entropy.",
            )
        return loss

    def _divergence(self, teacher: Tensor, student: Tensor, loss: Any) -> Tensor:
        """Return the mean divergence of the student's softened probabilities."""
        binary = isinstance(loss, BinaryCrossentropy)
        recipe = self.teacher._recipe
        their_loss = loss if recipe is None else recipe.objectives.loss_of(0)
        scores = [
            _scores(output, getattr(its_loss, "from_logits", loss.from_logits), binary)
            * (1 / self.temperature)
            for output, its_loss in ((teacher, their_loss), (student, loss))
        ]
        soft = softmax(scores[0])
        return reduce_mean(
            reduce_sum(soft * (log_softmax(scores[0]) - log_softmax(scores[1])), axis=-1)
        )


def _scores(output: Tensor, are_scores: bool, binary: bool) -> Tensor:
    """Return scores before softmax, whose last axis is that of the classes."""
    if binary:
        p = output if are_scores else clip(output, _LEAST, 1 - _LEAST)
        score = p if are_scores else log(p) - log(1 - p)
        return stack([score, score * 0.0], axis=-1)
    return output if are_scores else log(clip(output, _LEAST, 1.0))


def _number(value: Any, name: str, least: float, most: float) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not least <= number <= most:
        raise GraphError(f"{name} must be from {least:g} to {most:g}, got {value!r:.40}.")
    return number


def _expect_same_shapes(teacher: Structure, student: Structure) -> None:
    for what in ("inputs", "outputs"):
        shapes = [[tensor.shape for tensor in getattr(each, what)] for each in (teacher, student)]
        if shapes[0] != shapes[1]:
            raise GraphError(
                f"the {what} of the teacher have shapes {shapes[0]}, those of the student "
                f"{shapes[1]}.",
                hint="Both must fit the same data.",
            )


def _output(model: Model, name: str) -> Tensor:
    """Return the output of the layer called ``name``."""
    names = {layer: each for each, layer in model.named_layers()}
    for item in model.structure.items:
        if isinstance(item, LayerCall) and names.get(item.layer) == name:
            return item.outputs[0]
    known = ", ".join(names.values())
    raise GraphError(
        f"the model '{model.name}' has no layer {name!r:.60}.", hint=f"It has: {known}."
    )


class _CopyInto(StructureCopy):
    """A copy in a graph that exists."""

    def __init__(self, old: Structure, graph: Graph) -> None:
        super().__init__(old)
        self.graph = graph


def _copied(teacher: Model, graph: Graph, hints: Sequence[str]) -> tuple[Structure, Any]:
    """Return the teacher, with the outputs of ``hints`` as further outputs, in ``graph``, and the
    values of its variables there."""
    outputs = [*teacher.outputs, *(_output(teacher, name) for name in hints)]
    structure = find_structure(list(teacher.inputs), outputs)
    copy = _CopyInto(structure, graph)
    values = draft_of(teacher).values
    made = copy.structure()
    return made, {copy.variables[v]: value for v, value in values.items() if v in copy.variables}


def _projection(ours: Tensor, theirs: Tensor) -> Dense | None:
    """Return a layer from the student's features to the shape of the teacher's; None if equal."""
    if ours.shape == theirs.shape:
        return None
    if ours.shape[:-1] != theirs.shape[:-1] or theirs.shape[-1] is None:
        raise GraphError(
            f"a hint needs outputs of one shape but for the last dimension, got {theirs.shape} of "
            f"the teacher and {ours.shape} of the student."
        )
    layer = Dense(theirs.shape[-1], use_bias=False)
    layer(ours)
    return layer
