"""The devices there are, and opening them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from playgrad.devices.base import AdapterInfo, Host
from playgrad.devices.webgpu import WebGpuDevice
from playgrad.errors import DeviceError, DeviceLostError

_open: dict[int, WebGpuDevice] = {}
_attached: list[Host] = []


def _host() -> ModuleType:
    """The module that knows this host's WebGPU."""
    if sys.platform == "emscripten":
        from playgrad.devices import _browser as host
    else:
        from playgrad.devices import _wgpu as host
    return host


def gpu_adapters() -> list[AdapterInfo]:
    """The adapters that WebGPU offers here, real ones first, then those of attached hosts."""
    adapters: list[AdapterInfo] = _host().list_adapters()
    return adapters + [host.info for host in _attached]


@contextmanager
def attached(host: Host) -> Iterator[str]:
    """Offer ``host`` as one more GPU within the block; yields the name of the device."""
    index = len(gpu_adapters())
    device = WebGpuDevice(f"gpu:{index}", host)
    _attached.append(host)
    _open[index] = device
    try:
        yield device.name
    finally:
        device.destroy()
        _open.pop(index, None)
        _attached.remove(host)


def list_devices() -> list[dict[str, Any]]:
    """Every device by name: ``cpu:0``, then ``gpu:0`` and on, each with its adapter."""
    found: list[dict[str, Any]] = [
        {"device": "cpu:0", "adapter": "NumPy", "software": False, "backend": "numpy"}
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
            raise DeviceError(
                f"there is no gpu:{index}: WebGPU offers {len(adapters)} adapters here.",
                hint="Use device='cpu', or install a Vulkan driver.",
            )
        device = _open[index] = WebGpuDevice(f"gpu:{index}", _host().open(index))
    return device


def close_gpus() -> None:
    """Destroy every opened GPU device and its buffers."""
    for device in _open.values():
        device.destroy()
    _open.clear()


__all__ = [
    "DeviceError",
    "DeviceLostError",
    "WebGpuDevice",
    "attached",
    "close_gpus",
    "device_names",
    "gpu",
    "gpu_adapters",
    "list_devices",
]
