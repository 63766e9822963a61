"""Measured links between the members of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from playgrad.parallel.collectives.choice import LinkModel, TransportSums

TASK_SECONDS = 100e-6
"""The time that a round takes beyond its messages: two tasks of the executor."""


@dataclass(frozen=True)
class MeasuredLink:
    """A measured link between two members.

    Attributes:
        latency: seconds until a small message has arrived.
        bandwidth: bytes per second in one direction.
        both_ways: bytes per second in both directions together, when both send at once.
    """

    latency: float
    bandwidth: float
    both_ways: float


@dataclass(frozen=True)
class Together:
    """What the members achieve when all of them exchange at once, each with its neighbours.

    Attributes:
        latency: seconds until all small messages have arrived.
        bandwidth: bytes per second that a member sends and receives, together.
        agreement: seconds until all know that all of them go on.
        rate: the speed at which each computes, as a share of its speed alone, while as many do as
            there are cores, or all if they are fewer: they share caches and memory.
        waking: seconds from a small message until a member goes on that has waited for it while
            the sender computed: it sleeps between looks, and may have to wait for a core.
    """

    latency: float
    bandwidth: float
    agreement: float
    rate: float = 1.0
    waking: float = 1e-9


def link_model(
    link: MeasuredLink, together: Together, members: int, sums: TransportSums | None = None
) -> LinkModel:
    """Return the model that collective algorithms are chosen by.

    Args:
        sums: the measured time of the transport's own sums, if it was measured.
    """
    if sums is not None:
        sums = replace(sums, latency=sums.latency + TASK_SECONDS)
    both_ways = max(1.0, link.both_ways / link.bandwidth)
    at_once = round(members * together.bandwidth / max(link.both_ways, link.bandwidth))
    return LinkModel(
        latency=max(link.latency, together.latency) + TASK_SECONDS,
        bandwidth=link.bandwidth,
        at_once=min(max(at_once, 1), members),
        both_ways=min(both_ways, 2.0),
        sums=sums,
    )
