"""The desktop host: Plans run through wgpu-py (wgpu-native: Vulkan, Metal, Direct3D 12).

The only package of the library that imports wgpu; its files are those of ``static/engine``, which
does the same in a page. The device is opened with the limits a browser gives by default, so that
what runs here runs in a page.
"""

from playgrad.devices._wgpu.adapters import list_adapters
from playgrad.devices._wgpu.host import WgpuHost, open
from playgrad.devices._wgpu.tunings import recall_tunings, remember_tunings

__all__ = ["WgpuHost", "list_adapters", "open", "recall_tunings", "remember_tunings"]
