"""The machines of a run, as ``--hosts`` names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from playgrad.errors import DeviceError

MOST_MEMBERS = 1024
_HOST = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)(?::([0-9]{1,4}))?")
LOCAL = ("localhost", "127.0.0.1")
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8")
"""The command that reaches a machine: it fails rather than asks, as nobody could answer."""


@dataclass(frozen=True)
class HostSlots:
    """A machine, and the number of members that run on it."""

    name: str
    slots: int

    @property
    def is_local(self) -> bool:
        """Whether it is this machine, by its name."""
        return self.name in LOCAL


def parse_hosts(text: str) -> list[HostSlots]:
    """Parse ``a:4,b:4``: names or addresses, each with a number of members, 1 by default.

    Raises:
        ValueError: a name or a number is not valid, a host is named twice, or there are too many.
    """
    hosts: list[HostSlots] = []
    for part in text.split(","):
        match = _HOST.fullmatch(part.strip())
        slots = int(match[2] or 1) if match else 0
        if match is None or not slots:
            raise ValueError(f"{part!r} is not a host with a number of processes, such as a:4")
        host = HostSlots(match[1], slots)
        if any(host.name == each.name or (host.is_local and each.is_local) for each in hosts):
            raise ValueError(f"the host {host.name} is named twice")
        hosts.append(host)
    if sum(host.slots for host in hosts) > MOST_MEMBERS:
        raise ValueError(f"at most {MOST_MEMBERS} processes")
    return hosts


def hosts_text(hosts: Sequence[HostSlots]) -> str:
    """Return what `parse_hosts` parses."""
    return ",".join(f"{host.name}:{host.slots}" for host in hosts)


def member_names(hosts: Sequence[HostSlots]) -> list[str]:
    """Return a name of each member for messages, in order of their ranks: ``member 5 (b)``."""
    places = [host.name for host in hosts for _ in range(host.slots)]
    return [f"member {rank} ({place})" for rank, place in enumerate(places)]


def device_numbers(hosts: Sequence[HostSlots]) -> list[range]:
    """Return the numbers of each machine's devices, which are the ranks of its members."""
    ends = list(accumulate(host.slots for host in hosts))
    return [range(end - host.slots, end) for host, end in zip(hosts, ends, strict=True)]


def host_of(hosts: Sequence[HostSlots], rank: int) -> HostSlots:
    """Return the machine of the member with this rank.

    Raises:
        DeviceError: there is no such member.
    """
    first = 0
    for host in hosts:
        first += host.slots
        if rank < first:
            return host
    raise DeviceError(f"there is no member {rank}: the run has {first}.")
