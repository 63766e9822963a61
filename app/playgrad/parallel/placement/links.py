"""Times of transfers between devices, measured once by sending tensors back and forth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playgrad import ops
from playgrad.devices.kinds import Kind, kind_of
from playgrad.graph.graph import Graph
from playgrad.runtime.measuring import MeasuredNode, run_in_turns
from playgrad.runtime.members import current_members
from playgrad.runtime.session import Session

_FEW_HOPS, _MANY_HOPS = 2, 8
_SMALL, _LARGE = 4, 1 << 18
_ROUNDS = 6


@dataclass(frozen=True)
class DeviceLink:
    """The link model of two devices (Hockney 1994).

    Attributes:
        latency: seconds of each message, whatever its size, including the start of a segment.
        bandwidth: bytes per second.
        start: seconds that a run on both devices takes in addition.
    """

    latency: float
    bandwidth: float
    start: float = 0.0

    def seconds(self, size: int) -> float:
        """Return the seconds of a message of ``size`` bytes."""
        return self.latency + size / self.bandwidth


class Links:
    """The links between kinds of devices."""

    def __init__(self) -> None:
        self._measured: dict[frozenset[Kind], DeviceLink] = {}

    def between(self, first: str, second: str) -> DeviceLink:
        """Return the link between two devices, measured once for their kinds."""
        kinds = frozenset((kind_of(first), kind_of(second)))
        if kinds not in self._measured:
            link = current_members().first_of(_measure(first, second))
            self._measured[kinds] = link
        return self._measured[kinds]

    def seconds(self, source: str, target: str, size: int) -> float:
        """Return the seconds it takes to bring ``size`` bytes from ``source`` to ``target``."""
        return self.between(source, target).seconds(size) if source != target else 0.0


def _measure(first: str, second: str) -> DeviceLink:
    graph = Graph()
    targets, feeds = [], {}
    with graph.as_default():
        for size in (_SMALL, _LARGE):
            for hops in (_FEW_HOPS, _MANY_HOPS):
                with graph.device(first):
                    start = tensor = ops.placeholder("float32", [size])
                for number in range(hops):
                    with graph.device(first if number % 2 else second):
                        tensor = ops.neg(tensor)
                targets.append(tensor.node)
                feeds[tensor.node] = {start: np.ones(size, np.float32)}
    with Session(graph, first) as session:
        nodes = [MeasuredNode(session, target, feeds[target]) for target in targets]
        rounds = run_in_turns(nodes, _ROUNDS, traced=False)
    few, many, few_large, many_large = (min(run.seconds for run in runs) for runs in rounds)
    latency = _per_hop(few, many)
    longer = max(_per_hop(few_large, many_large) - latency, 1e-9)
    return DeviceLink(latency, 4 * _LARGE / longer, max(few - _FEW_HOPS * latency, 0.0))


def _per_hop(few: float, many: float) -> float:
    return max((many - few) / (_MANY_HOPS - _FEW_HOPS), 1e-7)
