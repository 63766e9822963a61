"""Modules in wasmtime, on a memory that tests read and write as NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import wasmtime

Array = np.ndarray[Any, Any]

_PAGE = 1 << 16
_CONFIG = wasmtime.Config()
_CONFIG.cranelift_opt_level = "none"  # most of a test is compilation, and each code runs once
_ENGINE = wasmtime.Engine(_CONFIG)


@lru_cache(maxsize=8)
def _loaded(module: bytes) -> wasmtime.Module:
    """Return a compiled module, also for the next one who runs it with other inputs."""
    return wasmtime.Module(_ENGINE, module)


class WasmtimeHost:
    """An instance of ``module`` on ``size`` bytes of memory, which are freed with it.

    Attributes:
        memory: all bytes.
    """

    def __init__(self, module: bytes, size: int) -> None:
        self._store = wasmtime.Store(_ENGINE)
        pages = -(-size // _PAGE)
        memory = wasmtime.Memory(self._store, wasmtime.MemoryType(wasmtime.Limits(pages, None)))
        self._instance = wasmtime.Instance(self._store, _loaded(module), [memory])
        start = ctypes.cast(memory.data_ptr(self._store), ctypes.POINTER(ctypes.c_uint8))
        self.memory: Array = np.ctypeslib.as_array(start, (pages * _PAGE,))

    def function(self, name: str) -> Callable[..., None]:
        """Return an exported function."""
        exported = self._instance.exports(self._store)[name]
        assert isinstance(exported, wasmtime.Func)
        return lambda *arguments: exported(self._store, *arguments)

    def view(self, address: int, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
        """Return the array at ``address``."""
        return np.ndarray(shape, dtype, self.memory, address)
