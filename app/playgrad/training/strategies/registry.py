"""The strategies by the names that the command line and the Lab use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playgrad.errors import GraphError
from playgrad.training.strategies.asynchronous import AsynchronousDataParallel
from playgrad.training.strategies.base import Descriptor, Strategy, StrategyOption
from playgrad.training.strategies.data_parallel import DataParallel
from playgrad.training.strategies.local_sgd import LocalSGD
from playgrad.training.strategies.overlap import Overlap
from playgrad.training.strategies.pipeline import Pipeline

STRATEGIES: dict[str, type[Strategy]] = {
    strategy.descriptor.name: strategy
    for strategy in (DataParallel, Pipeline, AsynchronousDataParallel, LocalSGD, Overlap)
}
"""To add a strategy, add it here."""


def descriptors() -> Iterator[Descriptor]:
    """Yield the descriptors of all strategies."""
    for strategy in STRATEGIES.values():
        yield strategy.descriptor


def options_by_name() -> dict[str, list[StrategyOption]]:
    """Return the options of all strategies by name; strategies may mean different things by one."""
    options: dict[str, list[StrategyOption]] = {}
    for descriptor in descriptors():
        for option in descriptor.options:
            same_name = options.setdefault(option.name, [])
            if option not in same_name:
                same_name.append(option)
    return options


def users_of(option: str) -> list[str]:
    """Return the names of the strategies with an option of this name."""
    return [d.name for d in descriptors() if option in (item.name for item in d.options)]


def strategy_named(name: str, devices: int, **options: Any) -> Strategy:
    """Return the strategy called ``name`` over ``devices`` devices of the kind that trains.

    Args:
        options: values of some of its options, by name.

    Raises:
        GraphError: there is no such strategy, or it is not possible with these values.
    """
    if name not in STRATEGIES:
        raise GraphError(
            f"there is no strategy {name!r}.", hint=f"Use one of: {', '.join(STRATEGIES)}."
        )
    return STRATEGIES[name].from_options(devices, **options)
