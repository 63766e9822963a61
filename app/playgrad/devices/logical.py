"""Which devices there are: logical ones, as many of each kind as are wanted.

Each has its own queue and its own memory. Several may share one adapter, or the one processor; they
are no faster for it, but work just like several machines' do.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from playgrad.devices.base import AdapterInfo, Host
from playgrad.errors import DeviceError

attached_hosts: list[Host] = []
"""Those whose adapters are offered besides this host's own."""
_wanted: dict[str, int] = {"cpu": 1}
MOST = 1024
"""Logical devices of a kind, more than any machine can use. A page has a bound of its own."""


def this_host() -> ModuleType:
    """The module that knows this host's WebGPU."""
    if sys.platform == "emscripten":
        from playgrad.devices import _browser as host
    else:
        from playgrad.devices import _wgpu as host
    return host


def gpu_adapters() -> list[AdapterInfo]:
    """The adapter of each GPU: of this host's, real ones first, then of attached hosts."""
    own = adapters()
    count = _wanted.get("gpu", len(own)) if own else 0
    logical = [own[index % len(own)] for index in range(count)]  # they go round the adapters
    return logical + [host.info for host in attached_hosts]


@functools.cache
def adapters() -> list[AdapterInfo]:
    """What the host has to offer, asked for once: in a page that is a call to another worker."""
    found: list[AdapterInfo] = this_host().list_adapters()
    return found


def set_logical_devices(cpu: int | None = None, gpu: int | None = None) -> None:
    """Say how many devices of a kind there are to be: ``cpu:0`` to ``cpu:<n - 1>``, and so on.

    Args:
        cpu: devices on this machine's processor, each with a thread (in a page: a worker) of its
            own. One unless set.
        gpu: devices on the adapters, in turns. As many as adapters unless set.

    In a page there can be as many of a kind as the machine has cores, and four anyhow.

    Raises:
        DeviceError: a number that is none, or GPUs where there is no adapter.
    """
    for kind, count in (("cpu", cpu), ("gpu", gpu)):
        if count is None:
            continue
        most = _most()
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= most:
            raise DeviceError(f"there can be 1 to {most} devices of a kind, not {count!r}.")
        if kind == "gpu" and not gpu_adapters():
            raise DeviceError(
                "WebGPU offers no adapter here.", hint="Use cpu devices, or install a driver."
            )
        _wanted[kind] = count


def _most() -> int:
    return int(this_host().most_devices()) if sys.platform == "emscripten" else MOST


def reset_logical_devices() -> None:
    """As many devices as there are unless `set_logical_devices` is called."""
    _wanted.clear()
    _wanted["cpu"] = 1


def ensure_devices(names: Sequence[str]) -> None:
    """Make more logical devices, so that there are all of ``names`` (``gpu:3``)."""
    for kind in ("cpu", "gpu"):
        numbers = [int(name.partition(":")[2]) for name in names if name.startswith(kind)]
        have = sum(name.startswith(kind) for name in device_names())
        if numbers and max(numbers) >= have:
            set_logical_devices(**{kind: max(numbers) + 1})


def list_devices() -> list[dict[str, Any]]:
    """Every device by name: ``cpu:0`` and on, then ``gpu:0`` and on, each with its adapter."""
    found: list[dict[str, Any]] = [
        {"device": f"cpu:{index}", "adapter": "NumPy", "software": False, "backend": "numpy"}
        for index in range(_wanted["cpu"])
    ]
    for index, info in enumerate(gpu_adapters()):
        found.append(
            {
                "device": f"gpu:{index}",
                "adapter": info.name,
                "software": info.is_software,
                "backend": info.backend,
            }
        )
    return found


def device_names() -> list[str]:
    return [entry["device"] for entry in list_devices()]
