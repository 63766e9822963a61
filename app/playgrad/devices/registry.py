"""Opened devices: each is opened once and shared by all who use it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from playgrad.devices.base import Host
from playgrad.devices.data_cache import DataCache
from playgrad.devices.device import Device, target_for
from playgrad.devices.kinds import GPU, HOST, index_of, kind_of
from playgrad.devices.logical import (
    NameableDevices,
    attached_hosts,
    device_names,
    ensure_devices,
    gpu_adapters,
    gpu_hint,
    list_devices,
    names_of,
    reset_logical_devices,
    set_logical_devices,
)
from playgrad.devices.machines import full_name, full_names
from playgrad.devices.remote_cpu import Connection, RemoteCpu
from playgrad.devices.saved_tunings import adapter_key, dump_tunings, parse_tunings
from playgrad.devices.target import AdapterInfo, Target
from playgrad.devices.this_host import adapters, forget_adapters, this_host
from playgrad.devices.tuning import Tuning
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import DeviceError

_gpus: dict[int, WebGpuDevice] = {}
_processors: dict[str, RemoteCpu] = {}
_interpreters: list[Callable[[str], Connection]] = []
_cache_options: dict[str, int] = {}


@contextmanager
def attached(host: Host, cache: DataCache | None = None) -> Iterator[str]:
    """Offer ``host`` as an additional GPU within the block; yield the name of the device."""
    index = len(gpu_adapters())
    device = WebGpuDevice(f"gpu:{index}", host, cache)
    attached_hosts.append(host)
    _gpus[index] = device
    try:
        yield device.name
    finally:
        device.destroy()
        _gpus.pop(index, None)
        attached_hosts.remove(host)


@contextmanager
def interpreters(connect: Callable[[str], Connection]) -> Iterator[None]:
    """Run ``cpu:1`` and all later processors in other interpreters within the block, as a page
    does.

    Args:
        connect: returns the connection to the interpreter of a device.
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
    """Return the function that connects to other interpreters, if there are any."""
    if sys.platform == "emscripten":
        connect: Callable[[str], Connection] = this_host().connect_processor
        return connect
    return _interpreters[-1] if _interpreters else None


def runs_plans(name: str) -> bool:
    """Return whether a device has its own memory and executes Plans.

    GPUs do. In a page, which has one thread for Python, so do all processors except ``cpu:0`` and
    the reference.
    """
    kind = kind_of(name)
    return kind.runs_plans or (kind.compiles and name != HOST and _connect() is not None)


def start(names: Sequence[str]) -> None:
    """Start the workers of the devices ``names`` at the same time; only a page has any."""
    if sys.platform == "emscripten":
        for name in names:
            this_host().start(name)


def opened(name: str) -> Device:
    """Return the device ``name``, which runs Plans. It is opened once and shared, and opened again
    after it was lost.

    Raises:
        DeviceError: there is no such device, or it cannot be opened.
    """
    if kind_of(name) is GPU:
        return gpu(index_of(name))
    device = _processors.get(name)
    if device is not None:
        device.check()
    if device is None or device.lost:
        connect = _connect()
        assert connect is not None, f"{name} runs no Plans"
        device = _processors[name] = RemoteCpu(name, connect(name))
    return device


def gpu(index: int = 0) -> WebGpuDevice:
    """Return the GPU ``gpu:<index>``. It is opened once and shared, and opened again after it was
    lost.

    Raises:
        DeviceError: there is no such GPU, or it cannot be opened.
    """
    device = _gpus.get(index)
    if device is not None:
        device.check()
    if device is None or device.lost:
        if device is not None:
            forget_adapters()  # the adapter may be gone as well
        try:
            device = _gpus[index] = _open_gpu(index)
        except DeviceError:
            forget_adapters()  # the next attempt must list adapters anew
            raise
    return device


def target_of(name: str) -> Target | None:
    """Return the target of a GPU, which need not be open; None for other devices and machines'."""
    if kind_of(name) is not GPU:
        return None
    index = index_of(name)
    if index in _gpus:
        return _gpus[index].target
    found = gpu_adapters()[index : index + 1]
    return replace(target_for(found[0]), measured=known_tuning(found[0])) if found else None


def open_scratch_gpu() -> WebGpuDevice:
    """Open a further device on the adapter of ``gpu:0``, which nobody else uses.

    The caller must destroy it. Losing it affects no other device.

    Raises:
        DeviceError: there is no GPU, or it cannot be opened.
    """
    number = len(gpu_adapters())
    if number == 0:
        raise DeviceError("WebGPU offers no adapter here.", hint=gpu_hint())
    device = WebGpuDevice(f"gpu:{number}", _open_host(number))
    device.target = replace(device.target, measured=known_tuning(device.host.info))
    return device


def look_for_lost_gpus() -> None:
    """Ask for adapters again if all GPUs that were once opened here are gone."""
    if _gpus and not gpu_adapters():
        forget_adapters()


def _open_gpu(index: int) -> WebGpuDevice:
    count = len(gpu_adapters())
    if index >= count:
        offered = full_names(f"gpu:{each}" for each in range(count)) or "no adapter"
        raise DeviceError(
            f"there is no {full_name(f'gpu:{index}')}: WebGPU offers {offered} here.",
            hint=gpu_hint(),
        )
    device = WebGpuDevice(f"gpu:{index}", _open_host(index), _new_cache())
    device.target = replace(device.target, measured=known_tuning(device.host.info))
    return device


def _open_host(index: int) -> Host:
    """Open a host for ``gpu:<index>``; in a page, in its own worker."""
    package = this_host()
    number = index if sys.platform == "emscripten" else index % len(adapters())
    try:
        host: Host = package.open(number)
    except DeviceError as error:
        name = f"gpu:{index}"
        error.message = f"{full_name(name)}: {error.message.removeprefix(f'{name}: ')}"
        error.hint = error.hint or gpu_hint()
        raise
    return host


# The data cache


def enable_data_cache(capacity: int) -> None:
    """Give GPUs that are opened from now on a data cache. Only a page has one.

    Args:
        capacity: bytes of data sets that each GPU may keep while no session uses them.
    """
    _cache_options["capacity"] = capacity


def clear_data_caches() -> None:
    """Free the data sets in data caches that no session uses."""
    for device in _gpus.values():
        device.clear_cache()


def _new_cache() -> DataCache | None:
    if "capacity" not in _cache_options:
        return None
    return DataCache(this_host().BrowserSnapshot.of, _cache_options["capacity"])


# Measured tunings


@functools.cache
def _tunings() -> dict[str, Tuning]:
    """Return the tunings that the host saved, and this process's own."""
    return parse_tunings(this_host().recall_tunings())


def known_tuning(info: AdapterInfo) -> Tuning | None:
    """Return the tuning measured on an adapter with this driver and these kernels, if any."""
    return _tunings().get(adapter_key(info))


def is_untuned(device: WebGpuDevice) -> bool:
    """Return whether ``device`` should be measured: a hardware GPU of this host without a tuning.

    Software adapters are not measured: that takes seconds and finds the default
    (docs/decisions/010).
    """
    info = device.host.info
    return not info.is_software and device.host not in attached_hosts and known_tuning(info) is None


def save_tuning(device: WebGpuDevice, tuning: Tuning | None) -> None:
    """Set the tuning of all devices on the adapter of ``device``, and save it; None forgets it.

    Raises:
        OSError: the tuning cannot be saved. It holds for this process.
    """
    key = adapter_key(device.host.info)
    tunings = _tunings()
    tunings.pop(key, None)
    if tuning is not None:
        tunings[key] = tuning
    for other in _gpus.values():
        if adapter_key(other.host.info) == key:
            other.target = replace(other.target, measured=tuning)
    this_host().remember_tunings(dump_tunings(tunings))


def save_for_next_process(device: WebGpuDevice, tuning: Tuning) -> None:
    """Save the tuning of the adapter of ``device``, which this process goes on without.

    Raises:
        OSError: it cannot be saved.
    """
    saved = parse_tunings(this_host().recall_tunings())
    saved[adapter_key(device.host.info)] = tuning
    this_host().remember_tunings(dump_tunings(saved))


# Closing


def close_used() -> None:
    """Destroy the devices that still have buffers or programs, now that no session is open.

    An interrupt can come between the creation of a buffer and its registration.
    """
    for device in (*_gpus.values(), *_processors.values()):
        if device.is_used():
            device.destroy()


def close_gpus() -> None:
    """Destroy every opened GPU and its buffers, and clear the cached adapters and tunings."""
    for device in _gpus.values():
        device.destroy()
    _gpus.clear()
    forget_adapters()
    _tunings.cache_clear()


__all__ = [
    "NameableDevices",
    "attached",
    "clear_data_caches",
    "close_gpus",
    "close_used",
    "device_names",
    "enable_data_cache",
    "ensure_devices",
    "gpu",
    "gpu_adapters",
    "interpreters",
    "is_untuned",
    "known_tuning",
    "list_devices",
    "look_for_lost_gpus",
    "names_of",
    "opened",
    "reset_logical_devices",
    "runs_plans",
    "save_for_next_process",
    "save_tuning",
    "set_logical_devices",
    "start",
]
