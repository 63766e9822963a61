"""The devices there are, and opening them.

Every device is a logical one: it has its own queue and its own memory. Several may share one
adapter, or the one processor; they are no faster for it, but work just like several machines' do.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from playgrad.devices.base import AdapterInfo, Host
from playgrad.devices.device import Device
from playgrad.devices.kept import KeptData
from playgrad.devices.remote_cpu import Link, RemoteCpu
from playgrad.devices.tuning import Tuning, adapter_key, dump_tunings, parse_tunings
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import DeviceError, DeviceLostError

_open: dict[int, WebGpuDevice] = {}
_processors: dict[str, RemoteCpu] = {}
_attached: list[Host] = []
_interpreters: list[Callable[[str], Link]] = []
_wanted: dict[str, int] = {"cpu": 1}
_kept: dict[str, int] = {}
MOST = 1024
"""Logical devices of a kind, more than any machine can use. A page has a bound of its own."""


def _host() -> ModuleType:
    """The module that knows this host's WebGPU."""
    if sys.platform == "emscripten":
        from playgrad.devices import _browser as host
    else:
        from playgrad.devices import _wgpu as host
    return host


def gpu_adapters() -> list[AdapterInfo]:
    """The adapters that WebGPU offers here, real ones first, then those of attached hosts."""
    return _logical(_adapters()) + [host.info for host in _attached]


@functools.cache
def _adapters() -> list[AdapterInfo]:
    """What the host has to offer, asked for once: in a page that is a call to another worker."""
    adapters: list[AdapterInfo] = _host().list_adapters()
    return adapters


def _logical(adapters: list[AdapterInfo]) -> list[AdapterInfo]:
    """The adapter of each logical GPU: they go round the adapters that there are."""
    count = _wanted.get("gpu", len(adapters)) if adapters else 0
    return [adapters[index % len(adapters)] for index in range(count)]


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
    return int(_host().most_devices()) if sys.platform == "emscripten" else MOST


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


@contextmanager
def attached(host: Host, kept: KeptData | None = None) -> Iterator[str]:
    """Offer ``host`` as one more GPU within the block; yields the name of the device."""
    index = len(gpu_adapters())
    device = WebGpuDevice(f"gpu:{index}", host, kept)
    _attached.append(host)
    _open[index] = device
    try:
        yield device.name
    finally:
        device.destroy()
        _open.pop(index, None)
        _attached.remove(host)


@contextmanager
def interpreters(connect: Callable[[str], Link]) -> Iterator[None]:
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


def _connect() -> Callable[[str], Link] | None:
    """How other interpreters are reached, where there are any."""
    if sys.platform == "emscripten":
        connect: Callable[[str], Link] = _host().connect_processor
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
            _host().start(name)


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


def gpu(index: int = 0) -> WebGpuDevice:
    """The GPU ``gpu:<index>``, opened once and shared; opened anew after it was lost.

    Raises:
        DeviceError: there is no such GPU, or it cannot be opened.
    """
    device = _open.get(index)
    if device is not None:
        device.check()
    if device is None or device.lost:
        adapters = gpu_adapters()
        if index >= len(adapters):
            offered = ", ".join(f"gpu:{each}" for each in range(len(adapters))) or "no adapter"
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
    return KeptData(_host().Snapshot, _kept["room"]) if "room" in _kept else None


def _open_host(index: int) -> Host:
    """A device of its own for ``gpu:<index>``; in a page, in a worker of its own."""
    host = _host()
    number = index if sys.platform == "emscripten" else index % len(_adapters())
    opened: Host = host.open(number)
    return opened


# What was measured of adapters


@functools.cache
def _tunings() -> dict[str, Tuning]:
    """Those that the host remembers, and those of this process."""
    return parse_tunings(_host().recall_tunings())


def known_tuning(info: AdapterInfo) -> Tuning | None:
    """What was measured of an adapter, with this driver and these kernels; None if nothing was."""
    return _tunings().get(adapter_key(info))


def is_untuned(device: WebGpuDevice) -> bool:
    """Whether ``device`` should be measured: a real GPU of this host that nobody has measured.

    On a software adapter the default is what measuring finds (docs/decisions/010), for seconds.
    """
    info = device.host.info
    return not info.is_software and device.host not in _attached and known_tuning(info) is None


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
    _host().remember_tunings(dump_tunings(known))


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
    _adapters.cache_clear()
    _tunings.cache_clear()


__all__ = [
    "DeviceError",
    "DeviceLostError",
    "WebGpuDevice",
    "attached",
    "close_gpus",
    "device_names",
    "ensure_devices",
    "gpu",
    "gpu_adapters",
    "interpreters",
    "is_apart",
    "is_untuned",
    "keep_tuning",
    "known_tuning",
    "list_devices",
    "opened",
    "reset_logical_devices",
    "set_logical_devices",
    "start",
]
