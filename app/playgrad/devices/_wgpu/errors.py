"""Translation of wgpu's errors into the library's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import wgpu

from playgrad.errors import DeviceLostError, KernelError, OutOfMemoryError, PlaygradError

_LOST = re.compile(r"device is lost|device was lost|Parent device|DeviceLost|destroyed", re.I)


def lost(adapter: str, node: str | None = None) -> DeviceLostError:
    """Return the error for the loss of a device."""
    return DeviceLostError(f"the device {adapter} was lost.", op=node, hint="Open it again.")


@contextmanager
def translated(adapter: str, where: str, node: str | None = None) -> Iterator[None]:
    """Translate wgpu's errors within the block, and say ``where`` they occurred.

    Raises:
        DeviceLostError, OutOfMemoryError, KernelError: in place of wgpu's.
    """
    try:
        yield
    except wgpu.GPUOutOfMemoryError as error:
        raise OutOfMemoryError(
            f"{adapter} has no room for {where}.",
            op=node,
            hint="Use a smaller batch or a smaller network.",
        ) from error
    except (wgpu.GPUError, RuntimeError) as error:
        if isinstance(error, PlaygradError):
            raise
        text = str(error).strip()
        if _LOST.search(text):
            raise lost(adapter, node) from error
        raise KernelError(f"{where}: {text}", op=node) from error
