"""Whether NumPy's operations may use kernels of WebAssembly where there are any: see
`playgrad.wasm`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ALONE = ContextVar("numpy_alone", default=False)


def has_page_kernels() -> bool:
    """Return whether this is a page, whose kernels work on NumPy's memory, outside of
    `numpy_alone`."""
    return sys.platform == "emscripten" and not _ALONE.get()


@contextmanager
def numpy_alone() -> Iterator[None]:
    """Have NumPy compute everything within the block."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)
