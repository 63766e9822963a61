"""The links that ``playgrad hosts --json`` has measured, for the simulator."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playgrad.errors import DataError
from playgrad.parallel.collectives.choice import LinkModel
from playgrad.parallel.collectives.links import MeasuredLink, Together, link_model
from playgrad.parallel.simulator import Interconnect

_LARGEST_FILE = 1 << 24
_RING = "ring"
EAGER_BYTES = 1 << 21
"""Bytes that Linux's buffers of a TCP connection take at once, and send while the sender computes.
Of tensors of 2 MiB all had arrived then, and of 4 MiB not."""


@dataclass(frozen=True)
class SavedLinks:
    """The links between the members of a run that was measured.

    Attributes:
        cores: of each machine, with the number of members on it.
        members: the number of members.
        link: the slowest link.
        together: what all of them achieve at once.
    """

    cores: tuple[tuple[int, int], ...]
    members: int
    link: MeasuredLink
    together: Together

    def interconnect(self, collective: str) -> Interconnect:
        """Return the links for the simulator: what a member receives in each second.

        In a ring, members send while they receive. Otherwise a tensor has the link to itself.
        """
        bandwidth = self.link.bandwidth
        if collective == _RING:
            both_ways = self.together.bandwidth
            if self.members == 2:  # measured twice; other traffic makes it slower, never quicker
                both_ways = max(both_ways, self.link.both_ways)
            bandwidth = min(bandwidth, both_ways / 2)
        # Within a machine, the receiver copies from the sender's memory, whatever that one does.
        is_network = len(self.cores) > 1
        eager = EAGER_BYTES if is_network else math.inf
        # The latency of a link is a median, in which waiting for a core counts. Simulated work is
        # undisturbed, as the least time of all members at once is.
        latency = min(self.link.latency, self.together.latency)
        return Interconnect(latency, bandwidth, True, eager, arrives_aside=is_network)

    def model(self, members: int) -> LinkModel:
        """Return what collective algorithms are chosen by among ``members``.

        More members than were measured are taken to share no more than those.
        """
        model = link_model(self.link, self.together, self.members)
        at_once = max(1, round(model.at_once * members / self.members))
        return LinkModel(model.latency, model.bandwidth, at_once, model.both_ways)

    def rates(self, devices: int) -> tuple[float, ...]:
        """Return the speed of each device while 1, 2, ... of them compute (`Machine.rates`).

        Members of one machine share its cores, and slow each other down further by its caches and
        memory: the more cores compute, the more, up to the measured speed. Further machines are
        like the measured ones; further members of one machine share what those had.
        """
        if len(self.cores) > 1:
            share = min(cores / slots for cores, slots in self.cores)
            return (min(1.0, share) * self.together.rate,) * devices
        cores = self.cores[0][0]
        busiest = min(cores, self.members)
        loss = (1.0 - self.together.rate) / max(1, busiest - 1)
        return tuple(
            min(1.0, cores / count) * (1.0 - loss * (min(count, busiest) - 1))
            for count in range(1, self.members + 1)
        )

    def cores_of(self, devices: int) -> float:
        """Return the cores of all machines with ``devices`` members (`Machine.cores`)."""
        cores = sum(cores for cores, _ in self.cores)
        return cores if len(self.cores) == 1 else cores * devices / self.members

    def has_few_cores(self, devices: int) -> bool:
        """Return whether some of ``devices`` members have to share a core."""
        return devices > 1 and self.cores_of(devices) < devices

    @property
    def threads(self) -> int:
        """The least share of a machine's cores that a member on it gets."""
        return max(1, min(cores // slots for cores, slots in self.cores))

    def agreement(self, members: int) -> float:
        """Return the seconds in which ``members`` agree at the end of a step."""
        rounds = math.log2(members) / math.log2(self.members) if members > 1 else 0.0
        return self.together.agreement * rounds


def read_links(path: Path) -> SavedLinks:
    """Read the output of ``playgrad hosts --json``.

    Raises:
        DataError: it is not that, or no links were measured.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"{path} is too large to be the output of `playgrad hosts --json`.")
        saved = json.loads(path.read_bytes())
        if not saved["links"] or saved["together"] is None:
            raise DataError(
                f"{path} has no measured links.",
                hint="Mend what `playgrad hosts` names, and give it two processes or more.",
            )
        links = [
            MeasuredLink(*(_positive(link, name) for name in ("latency", "bandwidth", "both_ways")))
            for link in saved["links"]
        ]
        names = ("latency", "bandwidth", "agreement")
        latency, bandwidth, agreement = (_positive(saved["together"], name) for name in names)
        # Files of older versions have no rate, and no time to wake up.
        rate = min(1.0, _positive({"rate": 1.0, **saved["together"]}, "rate"))
        waking = _positive({"waking": 1e-9, **saved["together"]}, "waking")
        together = Together(latency, bandwidth, agreement, rate, waking)
        cores = tuple(
            (int(_positive(host, "cores")), int(_positive(host, "slots")))
            for host in saved["hosts"]
        )
        return SavedLinks(
            cores,
            max(2, int(_positive(saved, "members"))),
            MeasuredLink(
                max(link.latency for link in links),
                min(link.bandwidth for link in links),
                min(link.both_ways for link in links),
            ),
            together,
        )
    except (OSError, ValueError, TypeError, LookupError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{path} is not the output of `playgrad hosts --json`: {type(error).__name__}: {error}"
        ) from None


def _positive(record: Mapping[str, Any], name: str) -> float:
    value = float(record[name])
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value}, not a positive number")
    return value
