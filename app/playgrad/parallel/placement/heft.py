"""List scheduling by earliest finish time.

HEFT (Topcuoglu, Hariri and Wu 2002, *Performance-effective and low-complexity task scheduling for
heterogeneous computing*): tasks in the order of how much work hangs on them, each to the device on
which it ends first, transfers included; a task may go into a gap that was left before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.errors import OutOfMemoryError

Transfer = Callable[[str, str, int], float]
"""Seconds of so many bytes from one device to another."""
_SAME = 1e-9


@dataclass(frozen=True)
class Work:
    """Something that one device does without a break.

    Attributes:
        seconds: on each device that can do it.
        after: the works (positions) that must end before, with the bytes that come from each.
        held: groups whose data it reads, with the bytes that it reads of each: from wherever the
            group is.
        groups: groups that it is bound to: all of one are on one device.
    """

    seconds: Mapping[str, float]
    after: Mapping[int, int] = field(default_factory=dict)
    held: Mapping[Hashable, int] = field(default_factory=dict)
    groups: tuple[Hashable, ...] = ()


@dataclass(frozen=True)
class Option:
    """What a device could have done with a work.

    Attributes:
        end: seconds from the beginning of the step.
        moving: seconds of it for the transfer that the work waits for longest.
        bytes: of that transfer.
        source: the device that it comes from.
    """

    end: float
    moving: float = 0.0
    bytes: int = 0
    source: str = ""


@dataclass(frozen=True)
class Placed:
    """A work's device, when it runs there, and what each device offered."""

    device: str
    start: float
    options: Mapping[str, Option]

    @property
    def end(self) -> float:
        return self.options[self.device].end


def schedule(
    works: Sequence[Work],
    transfer: Transfer,
    homes: Mapping[Hashable, str],
    sizes: Mapping[Hashable, int],
    memory: Mapping[str, int],
) -> tuple[list[Placed], dict[Hashable, str]]:
    """A device for each work, and for each group.

    Args:
        works: in an order in which each comes after those that it needs.
        homes: groups whose device is given.
        sizes: bytes of each group.
        memory: bytes that devices have room for; without limit where not said.

    Raises:
        OutOfMemoryError: no device has room for a group.
    """
    return _Schedule(works, transfer, homes, sizes, memory).run()


class _Schedule:
    def __init__(
        self,
        works: Sequence[Work],
        transfer: Transfer,
        homes: Mapping[Hashable, str],
        sizes: Mapping[Hashable, int],
        memory: Mapping[str, int],
    ) -> None:
        self.works = works
        self.transfer = transfer
        self.homes = dict(homes)
        self.sizes = sizes
        self.room = dict(memory)
        for group, device in homes.items():
            self._take(device, sizes.get(group, 0))
        self.placed: dict[int, Placed] = {}
        self.busy: dict[str, list[tuple[float, float]]] = {}

    def run(self) -> tuple[list[Placed], dict[Hashable, str]]:
        ranks = _ranks(self.works, self.transfer)
        # Of equal rank, the earlier one: a work must not come before what it needs.
        for number in sorted(range(len(self.works)), key=lambda n: (-ranks[n], n)):
            self._place(number)
        return [self.placed[number] for number in range(len(self.works))], self.homes

    def _take(self, device: str, size: int) -> None:
        if device in self.room:
            self.room[device] -= size

    def _place(self, number: int) -> None:
        work = self.works[number]
        options: dict[str, Option] = {}
        best, start = "", math.inf
        for device in self._allowed(work):
            option, begin = self._option(work, device)
            options[device] = option
            if not best or option.end < options[best].end - _SAME:
                best, start = device, begin
        for group in (*work.groups, *work.held):
            if group not in self.homes:
                self.homes[group] = best
                self._take(best, self.sizes.get(group, 0))
        self.placed[number] = Placed(best, start, options)
        if work.seconds[best]:
            self.busy.setdefault(best, []).append((start, options[best].end))
            self.busy[best].sort()

    def _allowed(self, work: Work) -> list[str]:
        bound = {self.homes[group] for group in work.groups if group in self.homes}
        devices = [device for device in work.seconds if not bound or device in bound]
        fresh = [g for g in (*work.groups, *work.held) if g not in self.homes]
        needed = sum(self.sizes.get(group, 0) for group in set(fresh))
        fitting = [device for device in devices if self.room.get(device, math.inf) >= needed]
        if not fitting:
            raise OutOfMemoryError(
                f"no device has room for {needed:,} bytes of variables more.",
                hint=f"There is room on: {self.room}." if self.room else None,
            )
        return fitting

    def _option(self, work: Work, device: str) -> tuple[Option, float]:
        ready, last = 0.0, Option(0.0)
        sources = [
            (self.placed[before].end, self.placed[before].device, size)
            for before, size in work.after.items()
        ]
        sources += [
            (0.0, self.homes[group], size)
            for group, size in work.held.items()
            if group in self.homes
        ]
        for end, source, size in sources:
            moving = self.transfer(source, device, size)
            if end + moving > ready:
                ready, last = end + moving, Option(0.0, moving, size, source)
        start = self._gap(device, ready, work.seconds[device])
        end = start + work.seconds[device]
        # A transfer that is over before the device is free costs nothing.
        waited = max(0.0, min(last.moving, last.moving - (start - ready)))
        return Option(end, waited, last.bytes, last.source), start

    def _gap(self, device: str, ready: float, seconds: float) -> float:
        """When the device can begin at the earliest."""
        start = ready
        for begin, end in self.busy.get(device, ()):
            if start + seconds <= begin:
                break
            start = max(start, end)
        return start


def _ranks(works: Sequence[Work], transfer: Transfer) -> list[float]:
    """Of each work the seconds, on average over the devices, from its beginning to the end."""
    ranks = [0.0] * len(works)
    later: list[list[tuple[int, int]]] = [[] for _ in works]
    devices = list(dict.fromkeys(device for work in works for device in work.seconds))
    pairs = [(a, b) for a in devices for b in devices if a != b]
    costs: dict[int, float] = {}

    def mean_transfer(size: int) -> float:
        if size not in costs:
            costs[size] = sum(transfer(a, b, size) for a, b in pairs) / max(len(pairs), 1)
        return costs[size]

    for number, work in enumerate(works):
        for before, size in work.after.items():
            later[before].append((number, size))
    for number in reversed(range(len(works))):
        own = works[number].seconds.values()
        ahead = max((mean_transfer(size) + ranks[n] for n, size in later[number]), default=0.0)
        ranks[number] = sum(own) / len(own) + ahead
    return ranks
