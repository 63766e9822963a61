"""What is computed from a model's outputs while it is trained: losses and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn import losses, metrics
from playgrad.nn.losses import Loss
from playgrad.nn.metrics import Metric
from playgrad.training.data_checks import check_finite

Array = np.ndarray[Any, Any]


class Objectives:
    """A loss and metrics for each output of a model.

    Args:
        loss: one for all outputs, or a list with one for each; None for none yet.
        metrics: for all outputs, or a list of lists with those of each.
        loss_weights: what each output's loss counts in the sum; 1 where None.
    """

    def __init__(
        self, loss: Any, metrics_: Sequence[Any], loss_weights: Sequence[float] | None
    ) -> None:
        many = isinstance(loss, (list, tuple))
        self.losses: list[Loss] = (
            [losses.get(item) for item in loss]
            if many
            else []
            if loss is None
            else [losses.get(loss)]
        )
        self._one_loss = not many
        nested = bool(metrics_) and all(isinstance(item, (list, tuple)) for item in metrics_)
        groups: Sequence[Any] = metrics_ if nested else [metrics_]
        self.metrics: list[list[Metric]] = [[metrics.get(m) for m in group] for group in groups]
        self._one_group = not nested
        self.loss_weights = None if loss_weights is None else [float(w) for w in loss_weights]

    def check_count(self, outputs: int) -> None:
        """Raise GraphError unless there is something for each of ``outputs``."""
        for what, given, shared in (
            ("losses", len(self.losses), self._one_loss),
            ("lists of metrics", len(self.metrics), self._one_group),
        ):
            if not shared and given != outputs:
                raise GraphError(f"the model has {outputs} outputs, but {given} {what}.")
        if self.loss_weights is not None and len(self.loss_weights) != outputs:
            raise GraphError(
                f"the model has {outputs} outputs, but {len(self.loss_weights)} loss weights."
            )

    def loss_of(self, output: int) -> Loss:
        return self.losses[0] if self._one_loss else self.losses[output]

    def metrics_of(self, output: int) -> list[Metric]:
        return self.metrics[0] if self._one_group else self.metrics[output]

    def names(self, outputs: Sequence[str]) -> list[str]:
        """The columns of the logs: loss, with several outputs each one's loss, then metrics."""
        several = len(outputs) > 1
        names = ["loss"] + ([f"{output}_loss" for output in outputs] if several else [])
        for i, output in enumerate(outputs):
            prefix = f"{output}_" if several else ""
            names += [prefix + metric.name for metric in self.metrics_of(i)]
        return names

    def per_sample(self, ys: Sequence[Tensor], predictions: Sequence[Tensor]) -> list[Tensor]:
        """One tensor (batch,) for each of ``names``."""
        each = [
            _checked(self.loss_of(i)(y, prediction), self.loss_of(i).kind)
            for i, (y, prediction) in enumerate(zip(ys, predictions, strict=True))
        ]
        weights = self.loss_weights or [1.0] * len(each)
        total: Tensor | None = None
        for weight, values in zip(weights, each, strict=True):
            term = values if weight == 1.0 else values * weight
            total = term if total is None else total + term
        assert total is not None
        columns = [total] + (each if len(each) > 1 else [])
        for i, (y, prediction) in enumerate(zip(ys, predictions, strict=True)):
            columns += [_checked(m(y, prediction), m.name) for m in self.metrics_of(i)]
        return columns

    def targets(
        self, ys: Sequence[Array], outputs: Sequence[Tensor], layers: Sequence[str], what: str
    ) -> list[Array]:
        """Labels as they go to the device, checked against the outputs they belong to, which
        ``layers`` make.

        Raises:
            DataError, ShapeError: they do not fit; nothing has changed.
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


def _checked(values: Tensor, what: str) -> Tensor:
    if len(values.shape) != 1:
        raise ShapeError(
            f"'{what}' gives shape {shape_text(values.shape)}, where one number a sample, "
            "(batch,), is needed."
        )
    return values
