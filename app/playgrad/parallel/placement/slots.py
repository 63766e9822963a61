"""Cuts what each device does into tasks, so that nobody waits for what is ready.

What a segment sends leaves when all of it is done, and it begins when all that it receives is
there. So a task ends where something is sent and work follows, and one begins where something is
received.
"""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.compiler.place import PlannedStart
from playgrad.parallel.placement.clusters import Cluster
from playgrad.parallel.placement.heft import Placed


def slots_of(
    clusters: Sequence[Cluster], placed: Sequence[Placed], cheap: float
) -> dict[str, PlannedStart]:
    """The slot of each node of ``clusters``, by name.

    Args:
        cheap: work of fewer seconds is done before something is sent, or waits for what is
            received, rather than being a task by itself.
    """
    sends = _sending(clusters, placed)
    slots: dict[str, PlannedStart] = {}
    for device in dict.fromkeys(own.device for own in placed):
        mine = [number for number, own in enumerate(placed) if own.device == device]
        mine.sort(key=lambda number: (placed[number].start, number))
        for part in _parts(mine, clusters, placed, sends, cheap):
            task = _name(part, clusters, device)
            for number in part:
                slot = PlannedStart(placed[number].start, task)
                slots.update((node.name, slot) for node in clusters[number].nodes)
    return slots


def _sending(clusters: Sequence[Cluster], placed: Sequence[Placed]) -> set[int]:
    """The clusters whose results another device needs."""
    return {
        before
        for number, cluster in enumerate(clusters)
        for before in cluster.work.after
        if placed[before].device != placed[number].device
    }


def _parts(
    mine: Sequence[int],
    clusters: Sequence[Cluster],
    placed: Sequence[Placed],
    sends: set[int],
    cheap: float,
) -> list[list[int]]:
    """What one device does, in order, cut into tasks."""
    parts: list[list[int]] = []
    done, sent = 0.0, False
    for number in mine:
        seconds = clusters[number].work.seconds[placed[number].device]
        far = any(placed[b].device != placed[number].device for b in clusters[number].work.after)
        if not parts or (sent and seconds >= cheap) or (far and done >= cheap):
            parts.append([])
            done, sent = 0.0, False
        parts[-1].append(number)
        done += seconds
        sent = sent or number in sends
    return parts


def _name(part: Sequence[int], clusters: Sequence[Cluster], device: str) -> str:
    """What the task is called in a timeline: as its heaviest cluster's first node, which no other
    task has."""
    heaviest = max(part, key=lambda number: clusters[number].work.seconds[device])
    return clusters[heaviest].nodes[0].name
