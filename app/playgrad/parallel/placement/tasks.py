"""Tasks: each device's planned work, cut so that no device waits for a result that is ready.

A segment sends its results when it is complete, and starts when all that it receives has arrived.
So a task ends where a result is sent and more work follows, and a task starts where something is
received.
"""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.compiler.place import PlannedStart
from playgrad.parallel.placement.clusters import Cluster
from playgrad.parallel.placement.heft import Assigned


def planned_starts(
    clusters: Sequence[Cluster], assigned: Sequence[Assigned], cheap: float
) -> dict[str, PlannedStart]:
    """Return start and task of each node of ``clusters``, by name.

    Args:
        cheap: seconds; less work than this does not become a task by itself: it delays what is
            sent, or waits for what is received.
    """
    starts: dict[str, PlannedStart] = {}
    for device in dict.fromkeys(each.device for each in assigned):
        for part in _tasks(device, clusters, assigned, cheap):
            # Named after the heaviest cluster's first node, for timelines.
            heaviest = max(part, key=lambda number: clusters[number].seconds[device])
            task = clusters[heaviest].nodes[0].name
            for number in part:
                start = PlannedStart(assigned[number].start, task)
                starts.update((node.name, start) for node in clusters[number].nodes)
    return starts


def _tasks(
    device: str, clusters: Sequence[Cluster], assigned: Sequence[Assigned], cheap: float
) -> list[list[int]]:
    """Return the positions of the clusters of ``device``, in order, by task."""

    def crosses(before: int, number: int) -> bool:
        return assigned[before].device != assigned[number].device

    sending = {
        before
        for number, cluster in enumerate(clusters)
        for before in cluster.after
        if crosses(before, number)
    }
    order = [number for number, each in enumerate(assigned) if each.device == device]
    order.sort(key=lambda number: (assigned[number].start, number))
    tasks: list[list[int]] = []
    done, sent = 0.0, False
    for number in order:
        seconds = clusters[number].seconds[device]
        receives = any(crosses(before, number) for before in clusters[number].after)
        if not tasks or (sent and seconds >= cheap) or (receives and done >= cheap):
            tasks.append([])
            done, sent = 0.0, False
        tasks[-1].append(number)
        done += seconds
        sent = sent or number in sending
    return tasks
