"""The adapters of this machine, described."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from dataclasses import asdict
from typing import Any

import wgpu

from playgrad.devices.target import PACKED_DOT, AdapterInfo, Limits, is_software_name

ENGINE = f"wgpu-py {wgpu.__version__}"
"""The library that runs the kernels, with its version."""
LARGEST_BUFFER = 1 << 30


@functools.cache
def adapters() -> tuple[Any, ...]:
    """Return the adapters that can run playgrad, hardware first.

    A GPU that several backends or drivers offer is listed once, and with OpenGL only if no other
    has it. Two cards of one model are two adapters.
    """
    # Without it, Mesa's drivers print a warning for each adapter.
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    usable = [each for each in wgpu.gpu.enumerate_adapters_sync() if _suffices(each)]
    usable.sort(key=lambda each: (_is_software(each), _is_opengl(each)))
    distinct: list[Any] = []
    for adapter in usable:
        if not any(_are_twins(other, adapter) for other in distinct):
            distinct.append(adapter)
    return tuple(distinct)


def _suffices(adapter: Any) -> bool:
    """Return whether an adapter has compute shaders, and the limits that devices are opened with.

    OpenGL has compute shaders since 4.3, OpenGL ES since 3.1. wgpu lists older ones, and loses the
    device.
    """
    if _is_opengl(adapter):
        text = adapter.info["description"]
        version = re.search(r"(\d+)\.(\d+)", text)
        least = (3, 1) if " ES" in text else (4, 3)
        if version is None or (int(version[1]), int(version[2])) < least:
            return False
    needed, offered = Limits(), Limits.from_mapping(adapter.limits)
    return all(
        (getattr(offered, name) <= value)
        if name.startswith("min_")
        else (getattr(offered, name) >= value)
        for name, value in asdict(needed).items()
    )


def _are_twins(adapter: Any, other: Any) -> bool:
    """Return whether two adapters are one GPU, by different backends or drivers.

    Those of OpenGL do not know their device, only its vendor.
    """
    a, b = adapter.info, other.info
    if all(a[key] == b[key] for key in ("backend_type", "device", "description")):
        return False
    return a["vendor_id"] == b["vendor_id"] and b["device_id"] in (0, a["device_id"])


def _is_opengl(adapter: Any) -> bool:
    return bool(adapter.info["backend_type"] == "OpenGL")


def _is_software(adapter: Any) -> bool:
    info = adapter.info
    return info["adapter_type"] == "CPU" or is_software_name(f"{info['device']} {info['vendor']}")


def _limits(adapter: Any) -> Limits:
    """Return WebGPU's default limits, with buffers as large as the adapter allows, up to 1 GiB."""
    return Limits(
        max_buffer_size=min(adapter.limits["max-buffer-size"], LARGEST_BUFFER),
        max_storage_buffer_binding_size=min(
            adapter.limits["max-storage-buffer-binding-size"], LARGEST_BUFFER
        ),
    )


def extra_features(adapter: Any) -> list[str]:
    """Return the features to enable beyond WebGPU's core.

    That is "timestamp-query", to time kernels, and "subgroup", which variants of matrix products
    and of reductions use.
    """
    return [name for name in ("timestamp-query", "subgroup") if name in adapter.features]


def describe(adapter: Any) -> AdapterInfo:
    """Return the description of a wgpu adapter."""
    info = adapter.info
    return AdapterInfo(
        name=info["device"],
        vendor=info["vendor"],
        architecture=info["architecture"],
        driver=info["description"],
        backend=info["backend_type"],
        system=info["backend_type"],
        is_software=_is_software(adapter),
        limits=_limits(adapter),
        features=tuple(sorted({*adapter.features, PACKED_DOT})),  # wgpu's WGSL has it everywhere
    )


def list_adapters() -> list[AdapterInfo]:
    """List the adapters that `open` can open, best first; none if no driver is installed."""
    return [describe(adapter) for adapter in adapters()]


def forget_adapters() -> None:
    """Look for adapters again when they are needed next."""
    adapters.cache_clear()
