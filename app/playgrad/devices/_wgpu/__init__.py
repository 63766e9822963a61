"""The desktop host: Plans run through wgpu-py (wgpu-native: Vulkan, Metal, Direct3D 12).

The only package of the library that imports wgpu. ``static/engine`` does the same in a page, in
files of the same names. Devices are opened with the limits that a browser grants by default, so
that a program that runs here also runs in a page.
"""

from playgrad.devices._wgpu.adapters import ENGINE, forget_adapters, list_adapters
from playgrad.devices._wgpu.free_memory import MEMORY_OF, free_memory
from playgrad.devices._wgpu.host import WgpuHost, open
from playgrad.devices._wgpu.measurements import (
    recall_device_times,
    recall_tunings,
    remember_device_times,
    remember_tunings,
)

__all__ = [
    "ENGINE",
    "MEMORY_OF",
    "WgpuHost",
    "forget_adapters",
    "free_memory",
    "list_adapters",
    "open",
    "recall_device_times",
    "recall_tunings",
    "remember_device_times",
    "remember_tunings",
]
