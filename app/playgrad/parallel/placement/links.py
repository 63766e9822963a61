"""What it takes to send tensors from one device to another, measured once by sending some."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from playgrad import ops
from playgrad.graph.graph import Graph
from playgrad.runtime.session import Session

_FEW_HOPS, _MANY_HOPS = 2, 8
_SMALL, _LARGE = 4, 1 << 18
_REPEATS = 5


@dataclass(frozen=True)
class DeviceLink:
    """Between two devices.

    Attributes:
        latency: seconds of each message, whatever its size: also what it takes to begin a segment.
        bandwidth: bytes a second.
        start: seconds that a run on both takes besides.
    """

    latency: float
    bandwidth: float
    start: float = 0.0

    def seconds(self, size: int) -> float:
        """What ``size`` bytes take."""
        return self.latency + size / self.bandwidth


class Links:
    """The links between kinds of devices."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], DeviceLink] = {}

    def between(self, first: str, second: str) -> DeviceLink:
        """The link between two different devices; that of two others of the same kinds is taken to
        be like it."""
        kinds = frozenset((first.partition(":")[0], second.partition(":")[0]))
        if kinds not in self._known:
            self._known[kinds] = _measure(first, second)
        return self._known[kinds]

    def seconds(self, source: str, target: str, size: int) -> float:
        """What it takes to bring ``size`` bytes from ``source`` to ``target``."""
        return self.between(source, target).seconds(size) if source != target else 0.0


def _measure(first: str, second: str) -> DeviceLink:
    few, many = (_there_and_back(first, second, _SMALL, hops) for hops in (_FEW_HOPS, _MANY_HOPS))
    latency = _per_hop(few, many)
    large = (_there_and_back(first, second, _LARGE, hops) for hops in (_FEW_HOPS, _MANY_HOPS))
    more = max(_per_hop(*large) - latency, 1e-9)
    return DeviceLink(latency, 4 * _LARGE / more, max(few - _FEW_HOPS * latency, 0.0))


def _per_hop(few: float, many: float) -> float:
    return max((many - few) / (_MANY_HOPS - _FEW_HOPS), 1e-7)


def _there_and_back(first: str, second: str, size: int, hops: int) -> float:
    graph = Graph()
    with graph.as_default(), graph.device(first):
        start = tensor = ops.placeholder("float32", [size])
        for number in range(hops):
            with graph.device(first if number % 2 else second):
                tensor = ops.neg(tensor)
        target = tensor.node
    feeds = {start: np.ones(size, np.float32)}
    least = float("inf")
    with Session(graph, first) as session:
        for _ in range(1 + _REPEATS):
            begin = time.perf_counter()
            session.run([target], feeds)
            least = min(least, time.perf_counter() - begin)
    return least
