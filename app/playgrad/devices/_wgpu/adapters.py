"""The adapters of this machine, described."""

from __future__ import annotations

import functools
import os
import tempfile
from typing import Any

import wgpu

from playgrad.devices.target import AdapterInfo, Limits, is_software_name

LARGEST_BUFFER = 1 << 30


@functools.cache
def adapters() -> tuple[Any, ...]:
    """Return the adapters that can run playgrad, hardware first.

    A GPU that several backends offer is listed once, and with OpenGL only if no other has it.
    """
    # Without it, Mesa's drivers print a warning for each adapter.
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    usable = [
        adapter
        for adapter in wgpu.gpu.enumerate_adapters_sync()
        if adapter.limits["max-compute-invocations-per-workgroup"] >= 256
        and adapter.limits["max-storage-buffers-per-shader-stage"] >= 8
    ]
    usable.sort(key=lambda a: (_is_software(a), a.info["backend_type"] == "OpenGL"))
    by_name: dict[str, Any] = {}
    for adapter in usable:
        by_name.setdefault(adapter.info["device"], adapter)
    return tuple(by_name.values())


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

    That is "timestamp-query", to time kernels, and "subgroup", which a variant of matrix products
    uses.
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
        is_software=_is_software(adapter),
        limits=_limits(adapter),
        features=tuple(sorted(adapter.features)),
    )


def list_adapters() -> list[AdapterInfo]:
    """List the adapters that `open` can open, best first; none if no driver is installed."""
    return [describe(adapter) for adapter in adapters()]


def forget_adapters() -> None:
    """Look for adapters again when they are needed next."""
    adapters.cache_clear()
