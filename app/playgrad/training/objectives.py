"""Objectives: the losses and metrics of a model's outputs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn import losses, metrics
from playgrad.nn.cross_entropy_losses import FromScores
from playgrad.nn.loss import Loss
from playgrad.nn.masked_metric import MaskedMetric
from playgrad.nn.masked_steps import kept_steps
from playgrad.nn.masks import mask_of
from playgrad.nn.metrics import LossMetric, Metric
from playgrad.nn.ratio_metrics import RatioMetric
from playgrad.nn.weighted_metric import WeightedMetric
from playgrad.nn.weighted_steps import OfWeightedSteps
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.elementwise.definitions import logical_and, maximum
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum
from playgrad.ops.training.replica import cross_replica_mean
from playgrad.training.data_checks import as_sequence, check_finite

Array = np.ndarray[Any, Any]
_LEAST_STEPS = 1e-9
"""Divisor of a sum over no steps, which is 0."""


class Objectives:
    """A loss and metrics for each output of a model.

    Args:
        loss: one for all outputs, or a list with one for each; None if it is not known yet.
        metrics_: metrics of all outputs, or a list with a list of metrics for each.
        loss_weights: the factor of each output's loss in the sum; None for 1.
        weighted_metrics: as ``metrics_``; in these, samples count by their weights.

    Raises:
        GraphError: there is no loss or metric of that name.
    """

    def __init__(
        self,
        loss: Any,
        metrics_: Sequence[Any],
        loss_weights: Sequence[float] | None,
        weighted_metrics: Sequence[Any] = (),
    ) -> None:
        self._one_loss = not isinstance(loss, (list, tuple))
        items = as_sequence(loss)
        self.losses: list[Loss] = [losses.get(item) for item in items]
        self.metrics, self._one_group = _groups(metrics_)
        self.weighted_metrics, self._one_weighted_group = _groups(weighted_metrics)
        self._ratios: dict[str, tuple[RatioMetric, list[str]]] = {}
        self.loss_weights = None if loss_weights is None else [float(w) for w in loss_weights]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `Model.compile` that make the same objectives."""
        groups = (self.metrics, self._one_group), (self.weighted_metrics, self._one_weighted_group)
        metrics_, weighted = (group[0] if is_one else group for group, is_one in groups)
        return {
            "loss": self.losses[0] if self._one_loss and self.losses else self.losses,
            "metrics": metrics_,
            "loss_weights": self.loss_weights,
            "weighted_metrics": weighted,
        }

    def check_count(self, outputs: int) -> None:
        """Raise GraphError unless there are losses and metrics for each of ``outputs`` outputs."""
        for what, count, shared in (
            ("losses", len(self.losses), self._one_loss),
            ("lists of metrics", len(self.metrics), self._one_group),
            ("lists of weighted metrics", len(self.weighted_metrics), self._one_weighted_group),
        ):
            if not shared and count != outputs:
                raise GraphError(f"the model has {outputs} outputs, but {count} {what}.")
        if self.loss_weights is not None and len(self.loss_weights) != outputs:
            raise GraphError(
                f"the model has {outputs} outputs, but {len(self.loss_weights)} loss weights."
            )

    def loss_of(self, output: int) -> Loss:
        """Return the loss of the output of this number."""
        return self.losses[0] if self._one_loss else self.losses[output]

    @property
    def gives_logits(self) -> bool:
        """True if the first output is scores before softmax, judging by its loss."""
        loss = self.loss_of(0) if self.losses else None
        return isinstance(loss, FromScores) and loss.from_logits

    def metrics_of(self, outputs: Sequence[Tensor]) -> list[tuple[int, Metric]]:
        """Return all metrics, each with the number of its output; the weighted ones are the last.

        If an output has a mask, its metrics count only the kept steps. A weighted metric is a
        `WeightedMetric`, named ``weighted_<name>`` if another one of the output has its name.

        Args:
            outputs: the outputs, or predictions in their place.
        """
        result: list[tuple[int, Metric]] = []
        for i, output in enumerate(outputs):
            group = self.metrics[0] if self._one_group else self.metrics[i]
            result += [(i, _of_kept_steps(metric, output)) for metric in group]
        taken = {(i, metric.name) for i, metric in result}
        for i, output in enumerate(outputs):
            weighted = self.weighted_metrics
            for metric in weighted[0] if self._one_weighted_group else weighted[i]:
                prefix = "weighted_" if (i, metric.name) in taken else ""
                kept = _of_kept_steps(metric, output)
                result.append((i, WeightedMetric(kept, prefix + metric.name)))
        return result

    def names(self, layers: Sequence[str], outputs: Sequence[Tensor]) -> list[str]:
        """Return the names of the columns: loss, the loss of each of several outputs, metrics.

        A `RatioMetric` has a column for each of its parts, "precision/hits"; see `logs`.

        Args:
            layers: the names of the outputs in logs.
            outputs: the outputs of the model.
        """
        names = _loss_names(layers)
        for name, i, metric in self._named_metrics(layers, outputs):
            if isinstance(metric, RatioMetric):
                names += self.names_of_parts(name, metric, metric.part_names(outputs[i].shape))
            else:
                names.append(name)
        return names

    def names_of_parts(self, name: str, metric: RatioMetric, parts: Sequence[str]) -> list[str]:
        """Return the names of the columns from which `logs` computes the metric ``name``."""
        columns = [f"{name}/{part}" for part in parts]
        self._ratios[name] = (metric, columns)
        return columns

    def _named_metrics(
        self, layers: Sequence[str], outputs: Sequence[Tensor]
    ) -> list[tuple[str, int, Metric]]:
        """Return all metrics, each with its name in logs and the number of its output.

        Of several with one name, the second is called ``<name>_1``, as in Keras.
        """
        taken = set(_loss_names(layers))
        result = []
        for i, metric in self.metrics_of(outputs):
            name = f"{layers[i]}_{metric.name}" if len(outputs) > 1 else metric.name
            numbered = (f"{name}_{number}" for number in itertools.count(1))
            unique = next(each for each in itertools.chain([name], numbered) if each not in taken)
            taken.add(unique)
            result.append((unique, i, metric))
        return result

    def direction_of(
        self, log: str, layers: Sequence[str], outputs: Sequence[Tensor]
    ) -> str | None:
        """Return "min" or "max": whether smaller or larger values of ``log`` are better.

        None if no loss or metric is called so, or if it does not say. Arguments as for `names`.

        Args:
            log: a name in logs, with or without ``val_``.
        """
        directions: dict[str, str | None] = dict.fromkeys(_loss_names(layers), "min")
        for name, _, metric in self._named_metrics(layers, outputs):
            directions[name] = metric.direction
        for name in (log, log.removeprefix("val_")):
            for known in (name, re.sub(r"_\d+$", "", name)):  # one of the results of a metric
                if known in directions:
                    return directions[known]
        return None

    def logs(self, columns: Mapping[str, float], samples: int) -> dict[str, float]:
        """Return the logs, from the means over ``samples`` of the columns that `names` returned.

        They are in the order of the metrics. Columns of a metric whose others are missing are kept.

        Raises:
            GraphError: two metrics have the same name.
        """
        whole = {
            name: parts
            for name, (_, parts) in self._ratios.items()
            if all(part in columns for part in parts)
        }
        owners = {part: name for name, parts in whole.items() for part in parts}
        logs: dict[str, float] = {}
        for column, value in columns.items():
            name = owners.get(column)
            if name is None:
                _add(logs, column, value)
            elif column == whole[name][0]:
                metric, parts = self._ratios[name]
                result = metric.result_of([columns[part] for part in parts], samples)
                if isinstance(result, float):
                    _add(logs, name, result)
                else:
                    for i, each in enumerate(result):
                        _add(logs, f"{name}_{i}", each)
        return logs

    def per_sample(
        self,
        ys: Sequence[Tensor],
        predictions: Sequence[Tensor],
        weights: Sequence[Tensor] = (),
        counted: Tensor | None = None,
    ) -> list[Tensor]:
        """Return a tensor (batch,) for each column of the logs, or (batch, n) for n columns.

        Args:
            weights: one tensor, (batch,), or (batch, steps) for weights of steps, which multiplies
                losses and weighs samples in weighted metrics; or none.
            counted: 1.0 for each sample of the batch that counts, 0.0 for the others, (batch,);
                None if all do.
        """
        weight = weights[0] if weights else None
        each = [
            _checked(_loss(self.loss_of(i), y, prediction, counted, weight), self.loss_of(i).kind)
            for i, (y, prediction) in enumerate(zip(ys, predictions, strict=True))
        ]
        factors = self.loss_weights or [1.0] * len(each)
        total: Tensor | None = None
        for factor, values in zip(factors, each, strict=True):
            term = values if factor == 1.0 else values * factor
            total = term if total is None else total + term
        assert total is not None
        columns = [total] + (each if len(each) > 1 else [])
        for i, metric in self.metrics_of(predictions):
            y, prediction = ys[i], predictions[i]
            if isinstance(metric, WeightedMetric):
                columns += metric.weighted_parts(y, prediction, weight)
            elif isinstance(metric, RatioMetric):
                columns += metric.part_values(y, prediction)
            else:
                columns.append(_checked(metric(y, prediction), metric.name))
        return columns

    def targets(
        self, ys: Sequence[Array], outputs: Sequence[Tensor], layers: Sequence[str], what: str
    ) -> list[Array]:
        """Return the targets as they are copied to the device.

        Args:
            outputs: the outputs that the targets belong to.
            layers: the names of the layers that compute the outputs, for errors.
            what: the name of the targets in errors.

        Raises:
            DataError, ShapeError: the targets do not fit the outputs.
        """
        self.check_count(len(outputs))
        if len(ys) != len(outputs):
            raise DataError(f"{what} holds {len(ys)} arrays, but the model has {len(outputs)}.")
        checked = []
        for i, (y, output, layer) in enumerate(zip(ys, outputs, layers, strict=True)):
            name = what if len(ys) == 1 else f"{what}[{i}]"
            check_finite(y, name)
            checked.append(self.loss_of(i).check_targets(y, output.shape, name, layer))
        return checked


def _groups(metrics_: Sequence[Any]) -> tuple[list[list[Metric]], bool]:
    """Return lists of metrics, and whether there is one for all outputs."""
    nested = bool(metrics_) and all(isinstance(item, (list, tuple)) for item in metrics_)
    groups: Sequence[Any] = metrics_ if nested else [metrics_]
    return [[metrics.get(m) for m in group] for group in groups], not nested


def _add(logs: dict[str, float], name: str, value: float) -> None:
    if name in logs:
        raise GraphError(
            f"two metrics are called '{name}' in logs.", hint="Pass one of them another name=."
        )
    logs[name] = value


def _loss_names(layers: Sequence[str]) -> list[str]:
    """Return the names of the losses in logs, for the names of the outputs."""
    return ["loss", *(f"{layer}_loss" for layer in layers if len(layers) > 1)]


def _of_kept_steps(metric: Metric, output: Tensor) -> Metric:
    """Return ``metric``, or the metric of the steps that the mask of ``output`` keeps."""
    mask = mask_of(output)
    if mask is None or (isinstance(metric, LossMetric) and metric.loss.uses_mask):
        return metric
    return MaskedMetric(metric, mask.spec.rank)


def mean_of_batch(values: Tensor) -> Tensor:
    """Return the mean of a column (batch,), or the means of several, (batch, n)."""
    return reduce_mean(values) if len(values.shape) == 1 else reduce_mean(values, axis=0)


def _loss(
    loss: Loss, y: Tensor, prediction: Tensor, counted: Tensor | None, weight: Tensor | None
) -> Tensor:
    """Return the loss of each sample times its weight; the mean over the batch is that over all
    kept steps."""
    if weight is None or weight.spec.rank == 1:
        values = _plain_loss(loss, y, prediction, counted)
        return values if weight is None else values * weight
    if loss.uses_mask or prediction.spec.rank <= weight.spec.rank:
        raise ShapeError(
            f"{loss.kind} of predictions {shape_text(prediction.shape)} takes a weight for each "
            f"sample, not weights of shape {shape_text(weight.shape)}."
        )
    return _plain_loss(OfWeightedSteps(loss, weight), y, prediction, counted)


def _plain_loss(loss: Loss, y: Tensor, prediction: Tensor, counted: Tensor | None) -> Tensor:
    mask = None if loss.uses_mask else mask_of(prediction)
    kept = loss.kept_targets(y)
    if kept is not None:
        while mask is not None and mask.spec.rank < kept.spec.rank:
            mask = expand_dims(mask, -1)
        mask = kept if mask is None else logical_and(kept, mask)
    if mask is None:
        return loss.per_sample(y, prediction)
    steps = kept_steps(mask)
    if counted is None:
        mean_steps = cross_replica_mean(reduce_mean(steps))
    else:
        mean_steps = reduce_sum(steps * counted) / reduce_sum(counted)
    return loss.of_kept_steps(y, prediction, mask, maximum(mean_steps, _LEAST_STEPS))


def _checked(values: Tensor, what: str) -> Tensor:
    if len(values.shape) != 1:
        raise ShapeError(
            f"'{what}' returns shape {shape_text(values.shape)}, expected one number per sample, "
            "(batch,)."
        )
    return values
