"""``inspect``: the layers of a model, their weights and their results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.vocabulary import Vocabulary
from playgrad.devices.kinds import HOST
from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.spec import Shape
from playgrad.inspection.activations import (
    Factors,
    Units,
    check_factors,
    compute,
    results,
    silencing,
)
from playgrad.inspection.attention import attention_weights
from playgrad.inspection.compare import relative_change
from playgrad.inspection.kernel_bench import KernelBench
from playgrad.inspection.next_tokens import NextTokens, next_tokens
from playgrad.inspection.node_values import NodeValues
from playgrad.inspection.operations import StepSight, step_operations
from playgrad.inspection.problem import Unavailable
from playgrad.inspection.text_table import ruled_table
from playgrad.inspection.weights import WeightStatistics, statistics
from playgrad.models.trainable import TrainableNetwork
from playgrad.nn.masks import mask_of
from playgrad.ops.state import placeholder
from playgrad.runtime.session import Session
from playgrad.training.prepare_data import prepare_data, prepare_inputs

Array = np.ndarray[Any, Any]
_KERNEL_PROBLEMS = {
    "unknown": "the training step does not have an operation named '{name}'.",
    "no_output": "'{name}' computes nothing: it only makes others run together.",
    "no_wgsl": "NumPy computes '{name}' on {device}, and no kernel.",
    "stored": "'{name}' is stored, not computed.",
    "resolved": "the compiler resolved '{name}' before the step runs.",
    "not_measured": "'{name}' cannot run alone: {message}",
    "needs_feed": "'{name}' depends on a placeholder that only the program feeds.",
    "no_session": "the session of the model is closed.",
    "not_run": "nothing has run its graph.",
}
"""Sentences for the codes of `Unavailable`."""


@dataclass(frozen=True)
class LayerSight:
    """A layer of a model.

    Attributes:
        name: in the model.
        kind: the class of the layer.
        shape: of its result, with None for the batch.
        parameters: the number of its weights, trainable or not.
        weights: the statistics of each, as they were when `inspect` looked.
    """

    name: str
    kind: str
    shape: Shape
    parameters: int
    weights: tuple[WeightStatistics, ...]


class Inspection:
    """The result of `inspect`. It prints as a table of the layers."""

    def __init__(self, model: TrainableNetwork, factors: Factors) -> None:
        self._model = model
        self._factors = check_factors(model, factors)
        values = model.named_weights()
        self._layers = tuple(
            LayerSight(
                name,
                type(layer).__name__,
                layer.output_shape or (),
                sum(math.prod(v.spec.static_shape) for v in layer.variables.values()),
                tuple(statistics(w, values[f"{name}/{w}"]) for w in layer.weight_specs()),
            )
            for name, layer in model.named_layers()
        )

    @property
    def layers(self) -> tuple[LayerSight, ...]:
        """The layers in their order."""
        return self._layers

    def activations(self, x: Any) -> dict[str, Array]:
        """Return the results of all layers for ``x``, by their names, as ``predict`` computes them.

        The second call of a layer is named ``dense_1:2``.

        Args:
            x: samples, with a batch dimension; a list of arrays if the model has several inputs.

        Raises:
            GraphError: predicting would change a variable or the random state.
            DataError, ShapeError, DTypeError: the samples do not fit.
        """
        return self._results(prepare_inputs(self._model, x, "x"))

    def compare(self, x: Any, changed: Any) -> dict[str, float]:
        """Return how much each layer's result differs between two versions of some samples.

        Args:
            x: samples, as for `activations`.
            changed: the same samples with some values replaced.

        Returns:
            norm(changed - original) / norm(original) over the results for all samples, by the name
            of the layer. It is 0 where nothing differs, and infinity where only the original is 0.

        Raises:
            ShapeError: ``x`` and ``changed`` differ in shape.
            GraphError, DataError, DTypeError: see `activations`.
        """
        originals = prepare_inputs(self._model, x, "x")
        versions = prepare_inputs(self._model, changed, "changed")
        for one, other in zip(originals, versions, strict=True):
            if one.shape != other.shape:
                raise ShapeError(
                    f"changed has shape {shape_text(other.shape)}, but x has shape "
                    f"{shape_text(one.shape)}.",
                    hint="Change values of x, and not how many there are.",
                )
        before, after = self._results(originals), self._results(versions)
        return {name: relative_change(value, after[name]) for name, value in before.items()}

    def attention(self, x: Any) -> dict[str, Array]:
        """Return the weights of attention for ``x``, (batch, heads, to, from), by layer.

        A row of a head has the weights of all keys for one query: they sum to 1, or are 0 if the
        query sees no key. In the second call of a layer they are named ``attention_1:2``, and those
        of a decoder for the sequence of an encoder ``transformer_decoder_1/cross``.

        Args:
            x: as in `activations`.

        Returns:
            An array for each use of attention, in their order; empty if there is none.

        Raises:
            GraphError: predicting would change a variable or the random state.
            DataError, ShapeError, DTypeError: the samples do not fit.
        """
        xs = prepare_inputs(self._model, x, "x")
        return attention_weights(self._model, xs, self._factors)

    def next_tokens(
        self,
        tokens: Any,
        top_k: int = 5,
        temperature: float = 1.0,
        vocabulary: Vocabulary | None = None,
    ) -> NextTokens:
        """Return the probabilities of the next token after each position of a sequence.

        They are the softmax of the output of ``predict``. The model is one that `pg.generate`
        takes. After each position it sees the tokens up to there, and no more than it has
        positions; one with scores of the next token only needs that many.

        Args:
            tokens: one sequence of whole numbers, or a text if there is a ``vocabulary``.
            top_k: the number of most probable tokens to list.
            temperature: scores are divided by it before softmax. 0 gives the most probable token
                all of the probability.
            vocabulary: of the tokens; with it, the result prints them.

        Raises:
            ShapeError: the model or the tokens have another shape.
            DataError: there are no tokens, or the vocabulary or the model does not have one.
            GraphError: predicting would change a variable or the random state.
        """
        return next_tokens(self._model, tokens, top_k, temperature, vocabulary, self._factors)

    def predict(self, x: Any) -> Any:
        """Return the outputs for ``x``, an array, or a list if the model has several outputs."""
        values = self._compute(self._model.outputs, prepare_inputs(self._model, x, "x"))
        return values[0] if len(values) == 1 else values

    def evaluate(self, x: Any, y: Any) -> dict[str, float]:
        """Return the loss, without penalties of regularizers, and the metrics, by their names.

        Raises:
            GraphError: the model is not compiled, or its outputs have masks.
            DataError, ShapeError, DTypeError: the samples do not fit.
        """
        xs, ys = prepare_data(self._model.recipe, x, y, "")
        return scores(self._model, ys, self._compute(self._model.outputs, xs))

    def step(self) -> StepSight:
        """Return the next training step, operation by operation, as the executor runs it.

        It is run on copies of the variables: the model does not change. Of each operation the
        result has the ready queue, the counts that fall, and numbers about its inputs and outputs;
        and it has the passes of the compiler.

        Raises:
            GraphError: the model has not been trained, or its replicas train at their own pace.
        """
        if self._model.parameter_server is not None:
            raise GraphError(
                "the replicas of this model train at their own pace, so there is no single step."
            )
        return step_operations(self._model.session, self._model.training_targets)

    def kernel(self, name: str) -> KernelBench:
        """Return the kernels of an operation of the training step, with a place to try others.

        The operation runs alone, on a device of its own, with the inputs that it has in the first
        batch: nothing of the model or its training changes. Close it when you are done.

        Args:
            name: of the operation, as the graph shows it: ``"dense_1/matmul_1"``.

        Raises:
            GraphError: no GPU computes an operation of this name in a step, or it cannot run alone;
                or the model has not been trained.
        """
        model = self._model
        values = NodeValues(model.session, model.training_targets)
        try:
            node = values.tensor(name).node
            return KernelBench(model.session, model.training_targets, values, node)
        except Unavailable as problem:
            sentence = _KERNEL_PROBLEMS[problem.code]
            raise GraphError(sentence.format(**{"name": name, **problem.values})) from None
        finally:
            values.close()

    def silenced(self, units: Units) -> Inspection:
        """Return an inspection of the same model in which units or channels are 0 wherever used.

        The weights of the model do not change.

        Args:
            units: their numbers, from 0, by the name of the layer: ``{"dense_1": [3, 5]}``. Those
                that are silenced or scaled already stay so.

        Raises:
            GraphError: there is no such layer or unit.
        """
        return self.scaled(silencing(self._model, units))

    def scaled(self, factors: Factors) -> Inspection:
        """Return an inspection of the same model with units or channels multiplied by factors.

        The weights of the model do not change.

        Args:
            factors: by the name of the layer and the number of the unit, from 0:
                ``{"dense_1": {3: 0.5}}``. 0 silences a unit. Those of units that are scaled already
                are multiplied.

        Raises:
            GraphError: there is no such layer or unit, a factor is not a finite number, or the
                layer's results are integers.
        """
        products = {name: dict(by_unit) for name, by_unit in self._factors.items()}
        for name, by_unit in check_factors(self._model, factors).items():
            product = products.setdefault(name, {})
            for unit, factor in by_unit.items():
                product[unit] = product.get(unit, 1.0) * factor
        return Inspection(self._model, products)

    def _results(self, xs: Sequence[Array]) -> dict[str, Array]:
        tensors = {name: tensor for name, (_, tensor) in results(self._model).items()}
        values = self._compute(list(tensors.values()), xs)
        return dict(zip(tensors, values, strict=True))

    def _compute(self, fetches: Sequence[Any], xs: Sequence[Array]) -> list[Array]:
        return compute(self._model, fetches, xs, self._factors)

    def __str__(self) -> str:
        rows = [("layer", "result", "weights", "shape", "mean", "deviation", "range")]
        for layer in self._layers:
            first = (f"{layer.name} ({layer.kind})", shape_text((None, *layer.shape[1:])))
            for each in layer.weights:
                numbers = (f"{each.mean:.4g}", f"{each.deviation:.4g}")
                ends = f"{each.smallest:.4g} to {each.largest:.4g}"
                rows.append((*first, each.name, shape_text(each.shape), *numbers, ends))
                first = ("", "")
            if not layer.weights:
                rows.append((*first, "", "", "", "", ""))
        scaled = [f"{name}: {by_unit}" for name, by_unit in self._factors.items()]
        ending = [f"scaled: {', '.join(scaled)}"] if scaled else []
        return "\n".join([*ruled_table(rows), *ending])

    __repr__ = __str__


def scores(
    model: TrainableNetwork, ys: Sequence[Array], outputs: Sequence[Array]
) -> dict[str, float]:
    """Return the loss and the metrics of ``outputs`` for the targets ``ys``.

    They are computed in a graph of their own: that of the model does not grow.
    """
    if any(mask_of(output) is not None for output in model.outputs):
        raise GraphError(
            f"the outputs of '{model.name}' have masks, which this does not take into account.",
            hint="Use model.evaluate(x, y).",
        )
    objectives = model.recipe.objectives
    with Graph().as_default() as graph:
        targets = [placeholder(y.dtype.name, (None, *y.shape[1:])) for y in ys]
        predictions = [placeholder(p.dtype.name, (None, *p.shape[1:])) for p in outputs]
        columns = objectives.per_sample(targets, predictions)
    feeds = dict(zip([*targets, *predictions], [*ys, *outputs], strict=True))
    with Session(graph, HOST, threads=1) as session:
        values = session.run(columns, feeds)
    means = [float(mean) for value in values for mean in np.atleast_1d(_means(value))]
    names = objectives.names(model.output_names, model.outputs)
    return objectives.logs(dict(zip(names, means, strict=True)), len(ys[0]))


def _means(column: Array) -> Array:
    means: Array = column.mean(axis=0, dtype=np.float64)
    return means


def inspect(model: TrainableNetwork) -> Inspection:
    """Return an inspection of ``model``: the weights of its layers, and their results for samples.

    Looking changes neither the weights nor the random numbers of the model. The result prints as a
    table; it has ``layers``, ``activations(x)``, ``attention(x)``, ``compare(x, changed)``,
    ``next_tokens(tokens)``, ``predict(x)``, ``evaluate(x, y)``, ``silenced(units)``, in which some
    units are 0, and ``scaled(factors)``, in which they are multiplied.

    Raises:
        GraphError: the model is not built.
        DataError: ``model`` is not a model.
    """
    if not isinstance(model, TrainableNetwork):
        raise DataError(f"pg.inspect takes a model, got {type(model).__name__}.")
    return Inspection(model, {})
