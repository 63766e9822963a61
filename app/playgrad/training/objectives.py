"""Objectives: the losses and metrics of a model's outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import losses, metrics
from playgrad.nn.losses import Loss
from playgrad.nn.metrics import Metric
from playgrad.nn.ratio_metrics import RatioMetric
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.training.data_checks import as_sequence, check_finite

Array = np.ndarray[Any, Any]


class Objectives:
    """A loss and metrics for each output of a model.

    Args:
        loss: one for all outputs, or a list with one for each; None if it is not known yet.
        metrics_: metrics of all outputs, or a list of lists with those of each.
        loss_weights: the factor of each output's loss in the sum; None for 1.

    Raises:
        GraphError: there is no loss or metric of that name.
    """

    def __init__(
        self, loss: Any, metrics_: Sequence[Any], loss_weights: Sequence[float] | None
    ) -> None:
        self._one_loss = not isinstance(loss, (list, tuple))
        items = as_sequence(loss)
        self.losses: list[Loss] = [losses.get(item) for item in items]
        nested = bool(metrics_) and all(isinstance(item, (list, tuple)) for item in metrics_)
        groups: Sequence[Any] = metrics_ if nested else [metrics_]
        self.metrics: list[list[Metric]] = [[metrics.get(m) for m in group] for group in groups]
        self._one_group = not nested
        self._ratios: dict[str, tuple[RatioMetric, list[str]]] = {}
        self.loss_weights = None if loss_weights is None else [float(w) for w in loss_weights]

    def check_count(self, outputs: int) -> None:
        """Raise GraphError unless there are losses and metrics for each of ``outputs`` outputs."""
        for what, count, shared in (
            ("losses", len(self.losses), self._one_loss),
            ("lists of metrics", len(self.metrics), self._one_group),
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
        return isinstance(loss, losses.FromScores) and loss.from_logits

    def metrics_of(self, output: int) -> list[Metric]:
        """Return the metrics of the output of this number."""
        return self.metrics[0] if self._one_group else self.metrics[output]

    def names(self, outputs: Sequence[tuple[str, Shape]]) -> list[str]:
        """Return the names of the columns: loss, the loss of each of several outputs, metrics.

        A `RatioMetric` has a column for each of its parts, "precision/hits"; see `logs`.

        Args:
            outputs: the names and shapes of the outputs.
        """
        is_list = len(outputs) > 1
        names = ["loss"] + ([f"{output}_loss" for output, _ in outputs] if is_list else [])
        for i, (output, shape) in enumerate(outputs):
            prefix = f"{output}_" if is_list else ""
            for metric in self.metrics_of(i):
                name = prefix + metric.name
                if isinstance(metric, RatioMetric):
                    parts = [f"{name}/{part}" for part in metric.part_names(shape)]
                    self._ratios[name] = (metric, parts)
                    names += parts
                else:
                    names.append(name)
        return names

    def logs(self, columns: Mapping[str, float]) -> dict[str, float]:
        """Return the logs, from the means of the columns that `names` returned."""
        logs = dict(columns)
        for name, (metric, parts) in self._ratios.items():
            if not all(part in logs for part in parts):
                continue
            result = metric.result([logs.pop(part) for part in parts])
            if isinstance(result, float):
                logs[name] = result
            else:
                logs |= {f"{name}_{i}": value for i, value in enumerate(result)}
        return logs

    def per_sample(
        self, ys: Sequence[Tensor], predictions: Sequence[Tensor], weights: Sequence[Tensor] = ()
    ) -> list[Tensor]:
        """Return a tensor (batch,) for each column of the logs, or (batch, n) for n columns.

        Args:
            weights: one tensor (batch,) that losses are multiplied by, or none.
        """
        each = [
            _checked(self.loss_of(i)(y, prediction), self.loss_of(i).kind)
            for i, (y, prediction) in enumerate(zip(ys, predictions, strict=True))
        ]
        each = [values * weight for values in each for weight in weights] if weights else each
        factors = self.loss_weights or [1.0] * len(each)
        total: Tensor | None = None
        for factor, values in zip(factors, each, strict=True):
            term = values if factor == 1.0 else values * factor
            total = term if total is None else total + term
        assert total is not None
        columns = [total] + (each if len(each) > 1 else [])
        for i, (y, prediction) in enumerate(zip(ys, predictions, strict=True)):
            for metric in self.metrics_of(i):
                if isinstance(metric, RatioMetric):
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


def mean_of_batch(values: Tensor) -> Tensor:
    """Return the mean of a column (batch,), or the means of several, (batch, n)."""
    return reduce_mean(values) if len(values.shape) == 1 else reduce_mean(values, axis=0)


def _checked(values: Tensor, what: str) -> Tensor:
    if len(values.shape) != 1:
        raise ShapeError(
            f"'{what}' returns shape {shape_text(values.shape)}, expected one number per sample, "
            "(batch,)."
        )
    return values
