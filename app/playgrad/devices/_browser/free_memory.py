"""The memory that Python can still get in a page."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

MEMORY_OF = "the page"
"""The owner of the memory, for messages."""

_MOST = 1 << 32
"""Bytes that WebAssembly with 32-bit addresses can have."""
_CHUNK = 1 << 26


def free_memory(needed: int) -> int:
    """Return the bytes that Python can still get, exactly if they are fewer than ``needed``.

    The memory of WebAssembly never shrinks, so that the page knows only how large it has become.
    What is free inside of it is found by asking for it, which touches no memory.
    """
    import pyodide_js  # not while an image of Python's memory is made

    free = _MOST - int(pyodide_js._module.HEAPU8.byteLength)
    chunks: list[np.ndarray[Any, Any]] = []
    with contextlib.suppress(MemoryError):
        while max(free, len(chunks) * _CHUNK) < min(needed, _MOST):
            chunks.append(np.empty(_CHUNK, np.uint8))
    return max(free, len(chunks) * _CHUNK)
