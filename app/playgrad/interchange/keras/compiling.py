"""Compile settings as Keras describes them, and the variables of a new optimizer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from playgrad.errors import ExportError
from playgrad.interchange.keras.layers import described
from playgrad.networks.compile_settings import CompileSettings
from playgrad.nn.curve_metrics import AUC
from playgrad.nn.loss import Loss
from playgrad.nn.metrics import Accuracy, LossMetric, Metric, TopKAccuracy
from playgrad.nn.ratio_metrics import Precision, Recall
from playgrad.optim import Adagrad, Momentum, OneCycle, Optimizer, RMSprop
from playgrad.optim.schedules import Schedule

Array = np.ndarray[Any, Any]
_METRICS_OF_LOSSES = frozenset({
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity",
    "Hinge", "KLDivergence", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError",
    "Poisson", "SparseCategoricalCrossentropy", "SquaredHinge",
})  # fmt: skip
"""Losses that are classes of metrics in Keras, too."""


def compile_config(settings: CompileSettings) -> dict[str, Any]:
    """Return the arguments of ``compile`` as Keras saves them.

    Raises:
        ExportError: Keras has no equivalent of a setting.
    """
    pairs = list(zip(settings.losses, settings.metrics, settings.weighted_metrics, strict=True))
    losses = [_loss(loss) for loss, _, _ in pairs]
    metrics = [[_metric(each, loss) for each in group] for loss, group, _ in pairs]
    weighted = [[_metric(each, loss) for each in group] for loss, _, group in pairs]
    alone = len(pairs) == 1
    return {
        "optimizer": _optimizer(settings),
        "loss": losses[0] if alone else losses,
        "loss_weights": None if settings.loss_weights is None else list(settings.loss_weights),
        "metrics": metrics[0] if alone else metrics,
        "weighted_metrics": weighted[0] if alone else weighted,
        "run_eagerly": False,
        "steps_per_execution": 1,
        "jit_compile": False,
    }


def optimizer_variables(settings: CompileSettings, weights: Sequence[Array]) -> list[Array]:
    """Return the variables of Keras' optimizer before its first step.

    Args:
        weights: the trainable weights, in the order and with the shapes of Keras.
    """
    optimizer = settings.optimizer
    variables: list[Array] = [np.zeros((), np.int64)]
    if optimizer.schedule is None:
        variables.append(np.asarray(settings.learning_rate, np.float32))
    initial = optimizer.initial_accumulator_value if isinstance(optimizer, Adagrad) else 0.0
    for each in _slots(optimizer):
        slots = [np.full(w.shape, initial if each else 0.0, np.float32) for w in weights]
        variables += [slot for slot in slots for _ in range(max(each, 1))]
    return variables


def _slots(optimizer: Optimizer) -> Iterator[int]:
    """Yield how many variables there are for each weight in each group of them; 0 for a group of
    the base class, which has one and begins with zeros."""
    yield from [0] * (optimizer.use_ema + (optimizer.accumulation.steps is not None))
    count = optimizer.slots_per_weight
    if isinstance(optimizer, RMSprop):
        yield from [1] * count
    elif count == 3:  # the third one of Adam, for amsgrad, is in a group of its own
        yield from (2, 1)
    elif count:
        yield count


def _optimizer(settings: CompileSettings) -> dict[str, Any]:
    optimizer = settings.optimizer
    name = "SGD" if isinstance(optimizer, Momentum) else type(optimizer).__name__
    arguments = {
        **_arguments(optimizer, leave_out=("learning_rate", "options", "weight_decay")),
        "name": optimizer.kind,
        "weight_decay": optimizer.weight_decay.factor,
        "clipnorm": optimizer.clipping.clipnorm,
        "clipvalue": optimizer.clipping.clipvalue,
        "global_clipnorm": optimizer.clipping.global_clipnorm,
        "use_ema": optimizer.use_ema,
        "ema_momentum": optimizer.ema_momentum,
        "ema_overwrite_frequency": optimizer.ema_overwrite_frequency,
        "loss_scale_factor": optimizer.loss_scale_factor,
        "gradient_accumulation_steps": optimizer.accumulation.steps,
        "learning_rate": settings.learning_rate,
    }
    if optimizer.schedule is not None:
        arguments["learning_rate"] = _schedule(optimizer.schedule)
    _expect_known(optimizer, "optimizer")
    return described("keras.optimizers", name, arguments)


def _schedule(schedule: Schedule) -> dict[str, Any]:
    if isinstance(schedule, OneCycle):
        raise ExportError("Keras has no learning-rate schedule OneCycle.")
    _expect_known(schedule, "learning-rate schedule")
    return described("keras.optimizers.schedules", type(schedule).__name__, _arguments(schedule))


def _loss(loss: Loss) -> dict[str, Any]:
    _expect_known(loss, "loss")
    if loss.kind in ("custom", "ctc"):
        raise ExportError(f"Keras has no equivalent of the loss '{loss.kind}'.")
    return described("keras.losses", type(loss).__name__, _arguments(loss))


def _metric(metric: Metric, loss: Loss) -> Any:
    _expect_known(metric, "metric")
    if isinstance(metric, Accuracy):
        return "accuracy"  # Keras, too, chooses by the loss and by shapes
    name = type(metric).__name__
    if isinstance(metric, LossMetric):
        name = type(metric.loss).__name__
        if name not in _METRICS_OF_LOSSES:
            raise ExportError(f"Keras has no metric '{metric.name}'.")
        kept = _arguments(metric.loss, leave_out=["reduction"]) | {"name": metric.name}
        return described("keras.metrics", name, kept)
    if metric.kind == "custom":
        raise ExportError(f"the metric '{metric.name}' is a function of the program.")
    if isinstance(metric, TopKAccuracy):
        sparse = loss.target_dtype == "int32"
        name = "SparseTopKCategoricalAccuracy" if sparse else "TopKCategoricalAccuracy"
    if isinstance(metric, AUC):
        limits = [float(each) for each in metric.thresholds[1:-1]]
        own: dict[str, Any] = {"num_thresholds": len(limits) + 2, "thresholds": limits}
        weights = metric.label_weights
        own["label_weights"] = None if weights is None else [float(each) for each in weights]
        return described("keras.metrics", name, _arguments(metric, leave_out=own) | own)
    if isinstance(metric, (Precision, Recall)):
        own = {"thresholds": metric.threshold}
        return described("keras.metrics", name, _arguments(metric, leave_out=own) | own)
    return described("keras.metrics", name, _arguments(metric))


def _arguments(value: Any, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the arguments of the constructor, which are attributes of the same names."""
    constructor: Callable[..., Any] = type(value).__init__
    if constructor is object.__init__:
        return {}
    names = list(inspect.signature(constructor).parameters)[1:]
    arguments = {name: getattr(value, name) for name in names if name not in leave_out}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in arguments.items()}


def _expect_known(value: Any, what: str) -> None:
    if not type(value).__module__.startswith("playgrad."):
        raise ExportError(f"Keras has no {what} '{type(value).__name__}' of the program.")
