"""Compile settings from files of Keras."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from playgrad import optim
from playgrad.errors import CheckpointError
from playgrad.interchange.keras.importing.layers import keras_class, keras_config
from playgrad.nn import metrics
from playgrad.nn.loss import BY_KIND

_SETTINGS = ("loss", "loss_weights", "metrics", "weighted_metrics")
_LEFT_OUT = ("dtype", "name", "reduction")
_MEAN = "sum_over_batch_size"


def read_compile_config(config: Any) -> dict[str, Any]:
    """Return the arguments of ``model.compile``.

    Raises:
        CheckpointError: playgrad does not have a setting.
        GraphError, ValueError, TypeError: likewise, raised by its constructor.
    """
    if not isinstance(config, Mapping):
        raise CheckpointError("the settings of compile are damaged.")
    read = {"loss": _loss, "metrics": _metric, "weighted_metrics": _metric}
    settings = {
        key: _each(config[key], read.get(key, lambda value: value))
        for key in _SETTINGS
        if config.get(key) is not None
    }
    return {"optimizer": _optimizer(config.get("optimizer")), **settings}


def _each(value: Any, read: Callable[[Any], Any]) -> Any:
    """Apply ``read`` to a setting, or to the settings of each output, in lists or by name."""
    if isinstance(value, list):
        return [_each(item, read) for item in value]
    if isinstance(value, Mapping) and "class_name" not in value:
        return {name: _each(item, read) for name, item in value.items()}
    return None if value is None else read(value)


def _optimizer(data: Any) -> Any:
    if isinstance(data, str):
        return data
    arguments = {key: value for key, value in keras_config(data).items() if value is not None}
    rate = arguments.get("learning_rate")
    if isinstance(rate, Mapping):
        schedule = _class_of_optim(keras_class(rate, "schedules"))
        arguments["learning_rate"] = schedule(**_arguments(rate, schedule))
    arguments.pop("name", None)
    return _class_of_optim(keras_class(data, "optimizers"))(**arguments)


def _class_of_optim(name: str) -> Any:
    found = getattr(optim, name, None) if name in optim.__all__ else None
    if not isinstance(found, type):
        raise CheckpointError(f"playgrad has no {name[:80]}.")
    return found


def _loss(data: Any) -> Any:
    if isinstance(data, str):
        return data
    name = keras_class(data, "losses")
    if keras_config(data).get("reduction", _MEAN) != _MEAN:
        raise CheckpointError(f"the loss {name[:80]} is not the mean over the batch.")
    for loss in BY_KIND.values():
        if loss.__name__ == name and loss.__module__.startswith("playgrad."):
            return loss(**_arguments(data, loss))
    raise CheckpointError(f"playgrad has no loss {name[:80]}.")


def _metric(data: Any) -> Any:
    if isinstance(data, str):
        return data
    name = keras_class(data, "metrics")
    if name == "Accuracy":  # counts equal values, unlike the metric of this name here
        raise CheckpointError("playgrad has no metric Accuracy of equal values.")
    metric = metrics.get(name)
    if isinstance(metric, metrics.LossMetric):
        loss = _loss({**data, "module": "keras.losses"})
        return metrics.LossMetric(loss, keras_config(data).get("name"))
    arguments = _arguments(data, type(metric))
    return type(metric)(**arguments, name=keras_config(data).get("name"))


def _arguments(data: Any, constructor: Any) -> dict[str, Any]:
    """Return the arguments in the configuration of an object for a class here.

    Raises:
        CheckpointError: the class does not take one of them.
    """
    known = inspect.signature(constructor).parameters
    arguments: dict[str, Any] = {}
    for key, value in keras_config(data).items():
        if key in _LEFT_OUT:
            continue
        if key in known:
            arguments[key] = value
        elif value is not None:
            raise CheckpointError(f"{constructor.__name__} of playgrad has no {key[:80]}.")
    return arguments
