"""Strategies by the names that the command line and the page have for them."""

from __future__ import annotations

from playgrad.errors import GraphError
from playgrad.parallel import Strategy
from playgrad.parallel.relaxed import AsynchronousDataParallel, LocalSGD, Overlap
from playgrad.parallel.strategies import DataParallel, Pipeline

DETAILS = ("micro_batches", "schedule", "chunks", "collective", "staleness", "every")
"""What else can be said of strategies."""
USES = {
    "sync": ("devices", "collective"),
    "async": ("devices", "staleness"),
    "local": ("devices", "every", "collective"),
    "pipeline": ("devices", "micro_batches", "schedule", "chunks", "collective"),
    "overlap": ("every",),
}
"""The strategies, and what means something with each."""
NAMES = tuple(USES)


def strategy_named(
    name: str,
    devices: int,
    micro_batches: int = 4,
    schedule: str = "1f1b",
    chunks: int | None = None,
    collective: str = "auto",
    staleness: int | None = None,
    every: int = 8,
) -> Strategy:
    """The strategy called ``name`` over so many devices of the kind that trains.

    Args:
        micro_batches, schedule: of a pipeline.
        chunks: groups of layers on each device, with the schedule "interleaved".
        collective: of "sync" and "local", and of pipelines with two streams.
        staleness: of "async".
        every: steps between two means of "local"; steps made one run of "overlap".

    Raises:
        GraphError: there is no such strategy.
    """
    if name == "sync":
        return DataParallel(devices, collective=collective)
    if name == "async":
        return AsynchronousDataParallel(devices, staleness)
    if name == "local":
        return LocalSGD(devices, every, collective)
    if name == "pipeline":
        return Pipeline(devices, micro_batches, schedule, chunks=chunks, collective=collective)
    if name == "overlap":
        return Overlap(every)
    raise GraphError(f"there is no strategy {name!r}.", hint=f"There are: {', '.join(NAMES)}.")
