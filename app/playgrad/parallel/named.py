"""Strategies by the names that the command line and the page have for them."""

from __future__ import annotations

from playgrad.errors import GraphError
from playgrad.parallel.strategies import DataParallel, Pipeline, Strategy

NAMES = ("sync", "pipeline")


def strategy_named(
    name: str,
    devices: int,
    micro_batches: int = 4,
    schedule: str = "1f1b",
    collective: str = "auto",
) -> Strategy:
    """The strategy called ``name`` over so many devices of the kind that trains.

    Raises:
        GraphError: there is no such strategy.
    """
    if name == "sync":
        return DataParallel(devices, collective=collective)
    if name == "pipeline":
        return Pipeline(devices, micro_batches, schedule, collective=collective)
    raise GraphError(f"there is no strategy {name!r}.", hint=f"There are: {', '.join(NAMES)}.")
