"""The checks that wgpu-native compiles into shaders: of the bounds of arrays, and of endless loops.

They are part of what a page's WebGPU has, too, in other forms; to measure kernels without them says
what they cost. Not for anything else: a kernel that reads past the end of a buffer is undefined.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

CHECKS = {"none": 0, "bounds": 1, "loops": 2, "all": 31}
"""``WGPUShaderRuntimeChecks`` of wgpu-native, by names."""


@contextmanager
def shader_checks(name: str | None) -> Iterator[None]:
    """Let wgpu-py compile shaders with the checks ``name`` within the block; None for its own."""
    if name is None:
        yield
        return
    from wgpu.backends.wgpu_native import _api

    library = _api.libf
    usual, bits = library.wgpuDeviceCreateShaderModule, CHECKS[name]
    library.wgpuDeviceCreateShaderModule = lambda device, descriptor: (
        library.wgpuDeviceCreateShaderModuleTrusted(device, descriptor, bits)
    )
    try:
        yield
    finally:
        library.wgpuDeviceCreateShaderModule = usual
