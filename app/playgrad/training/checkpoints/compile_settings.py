"""The arguments of ``compile`` as plain data, and back: optimizer, losses, metrics, strategy.

An object is ``{"loss": name of its class, "arguments": {...}}``. Only classes of the library can be
named: reading the data executes nothing of the program that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from playgrad import optim
from playgrad.compiler.planner import Automatic
from playgrad.constructed import Constructed
from playgrad.errors import CheckpointError
from playgrad.nn import loss as losses
from playgrad.nn import metrics
from playgrad.optim import Optimizer
from playgrad.optim import optimizer as optimizers
from playgrad.training.recipe import Recipe
from playgrad.training.strategies.registry import STRATEGIES

_SCHEDULES = (
    optim.CosineDecay,
    optim.ExponentialDecay,
    optim.InverseTimeDecay,
    optim.OneCycle,
    optim.PiecewiseConstantDecay,
    optim.PolynomialDecay,
)
_LIBRARY = f"{__name__.partition('.')[0]}."


def compile_settings(recipe: Recipe) -> dict[str, Any]:
    """Return the arguments of ``compile``, as plain data.

    Raises:
        CheckpointError: an argument is a function, or of a class that the program defines.
    """
    placing, optimizer = recipe.placing(), recipe.optimizer
    arguments = {
        "optimizer": optimizer,
        **recipe.objectives.arguments(),
        "strategy": placing.strategy,
        "placement": placing.placement,
        "precision": recipe.network.compiled_precision,
    }
    names, parts = optimizer.weight_decay.excluded
    return {
        "arguments": {name: _plain(value, name) for name, value in arguments.items()},
        "without_decay": {"names": names, "parts": parts},
    }


def compile_arguments(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``compile``, from the result of `compile_settings`.

    Raises:
        CheckpointError: the data is damaged, or names a class that this playgrad does not have.
    """
    try:
        arguments = {name: _object(value) for name, value in settings["arguments"].items()}
        excluded = settings["without_decay"]
        optimizer = arguments["optimizer"]
        assert isinstance(optimizer, Optimizer)
        optimizer.weight_decay.exclude(excluded["names"], excluded["parts"])
    except CheckpointError:
        raise
    except Exception as error:  # constructors can raise anything for damaged data
        raise CheckpointError(
            f"the settings of the training are damaged: {type(error).__name__} {str(error)[:200]}."
        ) from None
    return arguments


def _classes() -> dict[str, dict[str, type[Any]]]:
    """Return the classes that can be named, by their names, for each key."""

    def by_name(classes: Iterable[type[Any]]) -> dict[str, type[Any]]:
        kept = (each for each in classes if each.__module__.startswith(_LIBRARY))
        return {each.__name__: each for each in kept}

    return {
        "optimizer": by_name(optimizers.BY_KIND.values()),
        "schedule": by_name(_SCHEDULES),
        "loss": by_name(losses.BY_KIND.values()),
        "metric": by_name([*metrics.BY_KIND.values(), metrics.LossMetric]),
        "strategy": by_name(STRATEGIES.values()),
        "placement": by_name([Automatic]),
    }


def _plain(value: Any, argument: str) -> Any:
    """Return a value within an argument of ``compile`` as plain data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item, argument) for item in value]
    if isinstance(value, Mapping):
        return {"items": [[_plain(k, argument), _plain(v, argument)] for k, v in value.items()]}
    kind = type(value)
    key = next((key for key, known in _classes().items() if kind in known.values()), None)
    if key is None:
        name = getattr(value, "__name__", kind.__name__)
        raise CheckpointError(f"{argument} is '{name}', which the program defines.")
    return {key: kind.__name__, "arguments": _plain_arguments(value, argument)}


def _plain_arguments(value: Any, argument: str) -> dict[str, Any]:
    if isinstance(value, Constructed):
        passed = value.arguments()
    else:
        assert is_dataclass(value)
        passed = {item.name: getattr(value, item.name) for item in fields(value)}
    return {name: _plain(item, argument) for name, item in passed.items()}


def _object(data: Any) -> Any:
    """Invert `_plain`. Lists become tuples: strategies can be compared."""
    if isinstance(data, list):
        return tuple(_object(item) for item in data)
    if not isinstance(data, dict):
        return data
    if "items" in data:
        return {_object(key): _object(value) for key, value in data["items"]}
    arguments = {str(name): _object(value) for name, value in data["arguments"].items()}
    for key, known in _classes().items():
        name = data.get(key)
        if name is not None and name not in known:
            raise CheckpointError(
                f"the file needs the {key} '{name!s:.60}', which this playgrad does not have.",
                hint="Update playgrad.",
            )
        if name is not None:
            return known[name](**arguments)
    raise ValueError("an object without a class")
