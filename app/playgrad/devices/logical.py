"""Logical devices: the devices that a program can name, such as ``cpu:0`` and ``gpu:1``.

Each has its own queue and its own memory. Several may share an adapter, or the only processor. That
makes them no faster, but a program behaves as it would on several machines.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from playgrad.devices.base import Host
from playgrad.devices.kinds import GPU, KINDS, Kind, index_of, kind_of
from playgrad.devices.target import AdapterInfo
from playgrad.devices.this_host import adapters, this_host
from playgrad.errors import DeviceError

attached_hosts: list[Host] = []
"""Hosts offered as GPUs in addition to this host's adapters."""
_counts: dict[str, int] = {}
MOST = 1024
"""Maximum number of logical devices of a kind. A page has a lower one."""


def gpu_adapters() -> list[AdapterInfo]:
    """Return the adapter of each GPU: this host's, real ones first, then the attached hosts'."""
    physical = adapters()
    count = _counts.get(GPU.name, len(physical)) if physical else 0
    logical = [physical[index % len(physical)] for index in range(count)]
    return logical + [host.info for host in attached_hosts]


def gpu_hint() -> str:
    """Return what to do where there is no GPU."""
    if sys.platform == "emscripten":
        return "Use the CPU, or reload the page to look for a GPU again."
    return (
        "Use device='cpu', or install a Vulkan driver (on Debian, as root: apt-get install "
        "mesa-vulkan-drivers)."
    )


def _adapters_of(kind: Kind) -> list[AdapterInfo]:
    """Return the adapter of each device of a kind."""
    return gpu_adapters() if kind.adapter is None else [kind.adapter] * _counts.get(kind.name, 1)


def set_logical_devices(**counts: int | None) -> None:
    """Set the number of logical devices of each kind: ``cpu:0`` to ``cpu:<n - 1>``, and so on.

    In a page, each kind is limited to the number of the machine's cores, or 4 if that is more.

    Args:
        counts: by the name of the kind; None changes nothing. ``cpu`` are devices on this machine's
            processor, each with its own thread (in a page: worker); the default is 1. ``gpu`` are
            assigned to the adapters in turn; the default is one on each adapter. ``reference``
            compute with NumPy alone; the default is 1.

    Raises:
        DeviceError: there is no such kind, a number is out of range, or GPUs are requested but
            there is no adapter.
    """
    chosen = {name: count for name, count in counts.items() if count is not None}
    for name, count in chosen.items():
        if name not in KINDS:
            *first, last = KINDS
            choices = f"{', '.join(first)} and {last}"
            raise DeviceError(f"{name!r} is not a kind of device.", hint=f"There are {choices}.")
        most = _most()
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= most:
            raise DeviceError(f"{name} must be a number of devices from 1 to {most}, got {count!r}")
        if not _adapters_of(KINDS[name]):
            raise DeviceError("WebGPU offers no adapter here.", hint=gpu_hint())
    _counts.update(chosen)


def _most() -> int:
    return int(this_host().most_devices()) if sys.platform == "emscripten" else MOST


def reset_logical_devices() -> None:
    """Return to the default number of logical devices."""
    _counts.clear()


def ensure_devices(names: Sequence[str]) -> None:
    """Create logical devices as needed so that all of ``names`` (such as ``gpu:3``) exist."""
    for kind in KINDS.values():
        numbers = [index_of(name) for name in names if kind_of(name) is kind]
        if numbers and max(numbers) >= len(_adapters_of(kind)):
            set_logical_devices(**{kind.name: max(numbers) + 1})


def list_devices() -> list[dict[str, Any]]:
    """List every device, CPUs first. The reference is not listed: see `NameableDevices`.

    Returns:
        A dictionary for each device: ``device`` is its name (``cpu:0``, ``gpu:1``), ``adapter`` the
        name of its adapter, ``software`` whether that runs on the CPU, ``backend`` its API.
    """
    return [
        {
            "device": f"{kind.name}:{index}",
            "adapter": info.name,
            "software": info.is_software,
            "backend": info.backend,
        }
        for kind in KINDS.values()
        if kind.is_offered
        for index, info in enumerate(_adapters_of(kind))
    ]


def device_names() -> list[str]:
    """Return the name of every device, CPUs first."""
    return [entry["device"] for entry in list_devices()]


class NameableDevices(Collection[str]):
    """The devices that a program can name: every device, and those that are not offered.

    Adapters are listed only for somebody who asks for a GPU: their drivers take 80 MB of memory.
    """

    def __contains__(self, name: object) -> bool:
        kind = KINDS.get(name.partition(":")[0]) if isinstance(name, str) else None
        return kind is not None and name in names_of(kind)

    def __iter__(self) -> Iterator[str]:
        return (name for kind in KINDS.values() for name in names_of(kind))

    def __len__(self) -> int:
        return sum(len(names_of(kind)) for kind in KINDS.values())


def names_of(kind: Kind) -> list[str]:
    """Return the devices of a kind."""
    return [f"{kind.name}:{index}" for index in range(len(_adapters_of(kind)))]
