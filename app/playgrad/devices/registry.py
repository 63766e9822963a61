"""Devices opened, each once, and shared by all who use them; `logical` says which there are."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from playgrad.devices.base import AdapterInfo, Host
from playgrad.devices.data_cache import KeptData
from playgrad.devices.device import Device
from playgrad.devices.logical import (
    adapters,
    attached_hosts,
    device_names,
    ensure_devices,
    gpu_adapters,
    list_devices,
    reset_logical_devices,
    set_logical_devices,
    this_host,
)
from playgrad.devices.remote_cpu import Connection, RemoteCpu
from playgrad.devices.tuning import Tuning, adapter_key, dump_tunings, parse_tunings
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import DeviceError

_open: dict[int, WebGpuDevice] = {}
_processors: dict[str, RemoteCpu] = {}
_interpreters: list[Callable[[str], Connection]] = []
_kept: dict[str, int] = {}


@contextmanager
def attached(host: Host, kept: KeptData | None = None) -> Iterator[str]:
    """Offer ``host`` as one more GPU within the block; yields the name of the device."""
    index = len(gpu_adapters())
    device = WebGpuDevice(f"gpu:{index}", host, kept)
    attached_hosts.append(host)
    _open[index] = device
    try:
        yield device.name
    finally:
        device.destroy()
        _open.pop(index, None)
        attached_hosts.remove(host)


@contextmanager
def interpreters(connect: Callable[[str], Connection]) -> Iterator[None]:
    """Have ``cpu:1`` and on, as in a page, in interpreters of their own within the block.

    Args:
        connect: gives the way to the interpreter of a device.
    """
    _interpreters.append(connect)
    try:
        yield
    finally:
        for device in _processors.values():
            device.destroy()
        _processors.clear()
        _interpreters.remove(connect)


def _connect() -> Callable[[str], Connection] | None:
    """How other interpreters are reached, where there are any."""
    if sys.platform == "emscripten":
        connect: Callable[[str], Connection] = this_host().connect_processor
        return connect
    return _interpreters[-1] if _interpreters else None


def is_apart(name: str) -> bool:
    """Whether a device has a memory of its own and works by plans: GPUs; in a page, which has one
    thread for Python, also all processors but ``cpu:0``."""
    return name.startswith("gpu") or (name != "cpu:0" and _connect() is not None)


def start(names: Sequence[str]) -> None:
    """Have what ``names`` need started, all at the same time, if it is not there yet."""
    if sys.platform == "emscripten":
        for name in names:
            this_host().start(name)


def opened(name: str) -> Device:
    """A device apart, opened once and shared; opened anew after it was lost.

    Raises:
        DeviceError: there is no such device, or it cannot be opened.
    """
    kind, _, index = name.partition(":")
    if kind == "gpu":
        return gpu(int(index))
    device = _processors.get(name)
    if device is not None:
        device.check()
    if device is None or device.lost:
        connect = _connect()
        assert connect is not None, f"{name} is not a device apart"
        device = _processors[name] = RemoteCpu(name, connect(name))
    return device


def gpu(index: int = 0) -> WebGpuDevice:
    """The GPU ``gpu:<index>``, opened once and shared; opened anew after it was lost.

    Raises:
        DeviceError: there is no such GPU, or it cannot be opened.
    """
    device = _open.get(index)
    if device is not None:
        device.check()
    if device is None or device.lost:
        count = len(gpu_adapters())
        if index >= count:
            offered = ", ".join(f"gpu:{each}" for each in range(count)) or "no adapter"
            raise DeviceError(
                f"there is no gpu:{index}: WebGPU offers {offered} here.",
                hint="Use device='cpu', or install a Vulkan driver.",
            )
        device = _open[index] = WebGpuDevice(f"gpu:{index}", _open_host(index), _new_kept())
        device.target = replace(device.target, measured=known_tuning(device.host.info))
    return device


def keep_data(room: int) -> None:
    """Let GPUs opened from now on hold data sets from one session to the next, in a page.

    Args:
        room: bytes that each may hold while no session uses them.
    """
    _kept["room"] = room


def drop_kept() -> None:
    """Free the data sets that GPUs hold and no session uses."""
    for device in _open.values():
        device.drop_kept()


def _new_kept() -> KeptData | None:
    return KeptData(this_host().BrowserSnapshot, _kept["room"]) if "room" in _kept else None


def _open_host(index: int) -> Host:
    """A device of its own for ``gpu:<index>``; in a page, in a worker of its own."""
    host = this_host()
    number = index if sys.platform == "emscripten" else index % len(adapters())
    opened: Host = host.open(number)
    return opened


# What was measured of adapters


@functools.cache
def _tunings() -> dict[str, Tuning]:
    """Those that the host remembers, and those of this process."""
    return parse_tunings(this_host().recall_tunings())


def known_tuning(info: AdapterInfo) -> Tuning | None:
    """What was measured of an adapter, with this driver and these kernels; None if nothing was."""
    return _tunings().get(adapter_key(info))


def is_untuned(device: WebGpuDevice) -> bool:
    """Whether ``device`` should be measured: a real GPU of this host that nobody has measured.

    On a software adapter the default is what measuring finds (docs/decisions/010), for seconds.
    """
    info = device.host.info
    return not info.is_software and device.host not in attached_hosts and known_tuning(info) is None


def keep_tuning(device: WebGpuDevice, tuning: Tuning | None) -> None:
    """Let all devices on the adapter of ``device`` run ``tuning`` from now on, and remember it;
    None forgets what was measured.

    Raises:
        OSError: it cannot be remembered beyond this process.
    """
    key = adapter_key(device.host.info)
    known = _tunings()
    known.pop(key, None)
    if tuning is not None:
        known[key] = tuning
    for other in _open.values():
        if adapter_key(other.host.info) == key:
            other.target = replace(other.target, measured=tuning)
    this_host().remember_tunings(dump_tunings(known))


def close_used() -> None:
    """Destroy those devices on which something is left, now that no session is open: an interrupt
    may have come between its making and its being noted."""
    for device in (*_open.values(), *_processors.values()):
        if device.is_used():
            device.destroy()


def close_gpus() -> None:
    """Destroy every opened GPU device and its buffers, and look for adapters and what is known of
    them anew."""
    for device in _open.values():
        device.destroy()
    _open.clear()
    adapters.cache_clear()
    _tunings.cache_clear()


__all__ = [
    "attached",
    "close_gpus",
    "close_used",
    "device_names",
    "drop_kept",
    "ensure_devices",
    "gpu",
    "gpu_adapters",
    "interpreters",
    "is_apart",
    "is_untuned",
    "keep_data",
    "keep_tuning",
    "known_tuning",
    "list_devices",
    "opened",
    "reset_logical_devices",
    "set_logical_devices",
    "start",
]
