"""The methods of models that a training step is made of, by the names of Keras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.models.subclassed import SubclassedNetwork
from playgrad.nn.loss import Loss
from playgrad.nn.metrics import Mean, Metric
from playgrad.training.gradient_tape import GradientTape
from playgrad.training.objectives import mean_of_batch


class AnyTargets(Loss):
    """In place of the loss of a model whose ``train_step`` computes one."""

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        raise GraphError(
            "the model was compiled without a loss, so only its train_step knows one.",
            hint="Call model.compile(optimizer, loss) to evaluate it.",
        )

    def check_targets(self, y: Any, output: Any, what: str, layer: str) -> Any:
        return y


class StepMethods(SubclassedNetwork):
    """A network whose steps of training and evaluation can be overridden.

    Attributes:
        without_targets: whether the data of the step that is built last had inputs only.
        has_unset_metrics: whether its step returns metrics that it does not update.
    """

    without_targets = False
    has_unset_metrics = False

    @property
    def has_own_step(self) -> bool:
        """True if its class overrides ``train_step``."""
        return type(self).train_step is not StepMethods.train_step

    @property
    def has_own_test_step(self) -> bool:
        """True if its class overrides ``test_step``."""
        return type(self).test_step is not StepMethods.test_step

    def train_step(self, data: Any) -> dict[str, Any]:
        """Update the weights from a batch, and return numbers for the logs.

        Override it to train in another way. It is called once for each shape of a batch, to build
        the step that ``fit`` then runs on the device, and may use `pg.GradientTape`,
        ``self.optimizer.apply_gradients``, ``self.compute_loss`` and metrics. The logs of an epoch
        are the means of the numbers of its batches.

        Args:
            data: ``(x, y)`` or ``(x, y, sample_weight)``; ``x`` alone if ``fit`` got no targets.
        """
        x, y, *weight = data
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, weight[0] if weight else None)
        variables = self.trainable_variables
        optimizer = self.recipe.optimizer
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return self.compute_metrics(x, y, y_pred) | {"loss": loss}

    def test_step(self, data: Any) -> dict[str, Any]:
        """Return numbers for the logs of a batch, as in ``train_step``, without an update.

        Override it to evaluate in another way. ``evaluate`` and the validation of ``fit`` run it on
        the device, in batches of their own size; the logs are means over all samples.

        Args:
            data: as for ``train_step``.
        """
        x, y, *weight = data
        y_pred = self(x, training=False)
        loss = self.compute_loss(x, y, y_pred, weight[0] if weight else None)
        return self.compute_metrics(x, y, y_pred) | {"loss": loss}

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> Tensor:
        """Return the compiled loss of a batch with the penalties of regularizers, a scalar.

        Raises:
            GraphError: the model is not compiled with a loss.
        """
        y_pred = list(y_pred.values()) if isinstance(y_pred, Mapping) else y_pred
        predictions = list(y_pred) if isinstance(y_pred, (list, tuple)) else [y_pred]
        targets = list(y) if isinstance(y, (list, tuple)) else [y]
        weights = [] if sample_weight is None else [sample_weight]
        columns = self.recipe.objectives.per_sample(targets, predictions, weights)
        return sum(self.losses, start=mean_of_batch(columns[0]))

    def compute_metrics(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Update the compiled metrics with a batch, and return their results by name."""
        compiled = self._compiled_metrics()
        for metric in compiled:
            metric.update_state(y, y_pred, sample_weight)
        return {metric.name: metric.result() for metric in compiled}

    @property
    def metrics(self) -> list[Metric]:
        """A `playgrad.nn.Mean` called "loss", the metrics of ``compile``, and metrics that are
        attributes. A class may list others."""
        tracker: Metric = vars(self).setdefault("_loss_tracker", Mean("loss"))
        attributes = (each for each in vars(self).values() if isinstance(each, Metric))
        return list(dict.fromkeys([tracker, *self._compiled_metrics(), *attributes]))

    def _compiled_metrics(self) -> list[Metric]:
        groups = [] if self._recipe is None else self._recipe.objectives.metrics
        return [metric for group in groups for metric in group]
