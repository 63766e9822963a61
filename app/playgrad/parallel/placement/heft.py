"""List scheduling by earliest finish time.

HEFT (Topcuoglu, Hariri and Wu 2002, *Performance-effective and low-complexity task scheduling for
heterogeneous computing*): tasks in decreasing order of the longest path from each to the end; each
goes to the device on which it finishes first, transfers included, and may fill a gap between
earlier assignments. The additions here are groups of tasks that share a device, and limited memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.errors import GraphError, OutOfMemoryError

Transfer = Callable[[str, str, int], float]
"""Returns the seconds of a transfer, from source device, target device and bytes."""
_SAME = 1e-9


@dataclass
class Work:
    """Work that one device does without a break.

    Attributes:
        seconds: by device, for each device that can do it.
        after: bytes received from earlier work, by its position.
        held: bytes read of each group, transferred from the group's device.
        groups: the groups it is bound to: all work bound to a group shares a device.
    """

    seconds: Mapping[str, float]
    after: Mapping[int, int] = field(default_factory=dict)
    held: Mapping[Hashable, int] = field(default_factory=dict)
    groups: frozenset[Hashable] = frozenset()


@dataclass(frozen=True)
class Option:
    """When a device could finish some work, and the transfer it would wait for.

    Attributes:
        start, end: seconds from the beginning of the step.
        moving: seconds that the last transfer to arrive delays the start.
        bytes, source: size and origin of that transfer.
    """

    start: float
    end: float
    moving: float = 0.0
    bytes: int = 0
    source: str = ""


@dataclass(frozen=True)
class Assigned:
    """The device of some work, and the options it was chosen from, by device."""

    device: str
    options: Mapping[str, Option]

    @property
    def start(self) -> float:
        return self.options[self.device].start

    @property
    def end(self) -> float:
        return self.options[self.device].end


@dataclass
class ListScheduler:
    """Assigns work to devices.

    Args:
        works: each after the work it needs.
        homes: the devices of groups that are already decided; `run` adds the others.
        sizes: bytes of each group.
        memory: bytes available by device; unlimited for devices not listed.
    """

    works: Sequence[Work]
    transfer: Transfer
    homes: dict[Hashable, str] = field(default_factory=dict)
    sizes: Mapping[Hashable, int] = field(default_factory=dict)
    memory: Mapping[str, int] = field(default_factory=dict)
    assigned: dict[int, Assigned] = field(default_factory=dict, init=False)
    _homes_allowed: dict[Hashable, frozenset[str]] = field(default_factory=dict, init=False)
    _busy: dict[str, list[tuple[float, float]]] = field(default_factory=dict, init=False)

    def run(self) -> list[Assigned]:
        """Assign all work.

        Raises:
            OutOfMemoryError: no device has room for a group.
            GraphError: no device can do all the work that is bound to a group.
        """
        for work in self.works:
            for group in work.groups:
                able = frozenset(work.seconds)
                self._homes_allowed[group] = self._homes_allowed.get(group, able) & able
        ranks = self._ranks()
        # Of equal rank the earlier one, as work must not be assigned before what it needs.
        for number in sorted(range(len(self.works)), key=lambda n: (-ranks[n], n)):
            self._assign(number)
        return [self.assigned[number] for number in range(len(self.works))]

    def _ranks(self) -> list[float]:
        """Return the length of the longest path from each work to the end, in seconds averaged over
        devices: the paper's upward rank."""
        devices = list(dict.fromkeys(device for work in self.works for device in work.seconds))
        pairs = [(a, b) for a in devices for b in devices if a != b]
        transfers: dict[int, float] = {}
        ahead = [0.0] * len(self.works)
        ranks = [0.0] * len(self.works)
        for number in reversed(range(len(self.works))):
            work = self.works[number]
            ranks[number] = sum(work.seconds.values()) / len(work.seconds) + ahead[number]
            for before, size in work.after.items():
                if size not in transfers:
                    total = sum(self.transfer(a, b, size) for a, b in pairs)
                    transfers[size] = total / max(len(pairs), 1)
                ahead[before] = max(ahead[before], transfers[size] + ranks[number])
        return ranks

    def _assign(self, number: int) -> None:
        work = self.works[number]
        options = {device: self._option(work, device) for device in self._allowed(work)}
        best = next(iter(options))
        for device, option in options.items():
            if option.end < options[best].end - _SAME:
                best = device
        for group in (*work.groups, *work.held):
            # A device that only reads a group is its home only if the work bound to it can follow.
            if best in self._homes_allowed.get(group, (best,)):
                self.homes.setdefault(group, best)
        self.assigned[number] = Assigned(best, options)
        if work.seconds[best]:
            busy = self._busy.setdefault(best, [])
            busy.append((options[best].start, options[best].end))
            busy.sort()

    def _allowed(self, work: Work) -> list[str]:
        """Return the devices that can do ``work``, are with its groups and have room for them."""
        groups = {*work.groups, *work.held}
        able = set(work.seconds)
        for group in work.groups:
            able &= {self.homes[group]} if group in self.homes else self._homes_allowed[group]
        if not able:
            raise self._conflict(work)
        needed = sum(self.sizes.get(group, 0) for group in groups if group not in self.homes)
        room = {
            device: size - sum(self.sizes.get(g, 0) for g, d in self.homes.items() if d == device)
            for device, size in self.memory.items()
        }
        fitting = [
            device
            for device in work.seconds
            if device in able and room.get(device, math.inf) >= needed
        ]
        if not fitting:
            raise OutOfMemoryError(
                f"no device has room for {needed:,} bytes of variables.",
                hint=f"Room left: {room}." if room else None,
            )
        return fitting

    def _conflict(self, work: Work) -> GraphError:
        """Return the error for work that no device can do where all its groups are."""
        places = [
            f"{group} is on {self.homes[group]}"
            if group in self.homes
            else f"{group} can be on {_listed(self._homes_allowed[group])}"
            for group in sorted(work.groups, key=str)
        ]
        return GraphError(
            f"an operation that {_listed(work.seconds)} can run uses variables in place that are "
            f"not all there: {', '.join(places)}.",
            hint="Put the variables and the operations that write them in the same device scope.",
        )

    def _option(self, work: Work, device: str) -> Option:
        sources = [
            (self.assigned[before].end, self.assigned[before].device, size)
            for before, size in work.after.items()
        ]
        sources += [
            (0.0, self.homes[group], size)
            for group, size in work.held.items()
            if group in self.homes
        ]
        ready, moving, last, origin = 0.0, 0.0, 0, ""
        for end, source, size in sources:
            seconds = self.transfer(source, device, size)
            if end + seconds > ready:
                ready, moving, last, origin = end + seconds, seconds, size, source
        start = self._gap(device, ready, work.seconds[device])
        # A transfer that ends while the device is still busy delays nothing.
        waited = max(0.0, moving - (start - ready))
        return Option(start, start + work.seconds[device], waited, last, origin)

    def _gap(self, device: str, ready: float, seconds: float) -> float:
        """Return when the device can first begin work of ``seconds`` that is ``ready``."""
        start = ready
        for begin, end in self._busy.get(device, ()):
            if start + seconds <= begin:
                break
            start = max(start, end)
        return start


def _listed(devices: Iterable[str]) -> str:
    return " or ".join(sorted(devices)) or "no device"
