"""A host of compiled steps in wasmtime: a memory of its own, in which arrays are allocated."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import wasmtime

Array = np.ndarray[Any, Any]
_PAGE = 1 << 16
_ALIGNMENT = 16
_ENGINE = wasmtime.Engine()


class WasmtimeStepHost:
    """Memory of ``size`` bytes, of which freed arrays are used again.

    Attributes:
        relaxed: False: the code gives the same bits on all processors.
        allocated: the bytes of arrays that exist.
        calls: the number of calls of loaded functions.
        loaded: the modules that were loaded.
    """

    relaxed = False

    def __init__(self, size: int = 1 << 28) -> None:
        self._store = wasmtime.Store(_ENGINE)
        pages = -(-size // _PAGE)
        kind = wasmtime.MemoryType(wasmtime.Limits(pages, pages))
        self._memory = wasmtime.Memory(self._store, kind)
        start = ctypes.cast(self._memory.data_ptr(self._store), ctypes.POINTER(ctypes.c_uint8))
        self._bytes: Array = np.ctypeslib.as_array(start, (pages * _PAGE,))
        self._begin: int = self._bytes.__array_interface__["data"][0]
        self._gaps = [(_ALIGNMENT, len(self._bytes))]  # not 0, at which nothing may lie
        self.allocated = 0
        self.calls = 0
        self.loaded: list[bytes] = []

    def empty(self, size: int) -> Array:
        taken = max(-(-size // _ALIGNMENT), 1) * _ALIGNMENT
        gap = next((gap for gap in self._gaps if gap[1] - gap[0] >= taken), None)
        if gap is None:
            raise MemoryError
        begin = gap[0]
        self._gaps[self._gaps.index(gap)] = (begin + taken, gap[1])
        self.allocated += taken
        # A buffer of its own: an array of it is its owner, and the base of all of its views.
        owner = (ctypes.c_uint8 * size).from_address(self._begin + begin)
        weakref.finalize(owner, self._free, begin, begin + taken)
        array = np.frombuffer(owner, np.uint8)
        array[:] = 0xAB
        return array

    def _free(self, begin: int, end: int) -> None:
        self.allocated -= end - begin
        self._gaps.append((begin, end))
        self._gaps.sort()
        merged: list[tuple[int, int]] = []
        for gap in self._gaps:
            if merged and merged[-1][1] == gap[0]:
                merged[-1] = (merged[-1][0], gap[1])
            else:
                merged.append(gap)
        self._gaps = merged

    def reachable(self, array: Array) -> bool:
        return 0 < self.address(array) < len(self._bytes)

    def address(self, array: Array) -> int:
        place: int = array.__array_interface__["data"][0]
        return place - self._begin

    def load(self, module: bytes, count: int) -> Sequence[Callable[..., None]]:
        self.loaded.append(module)
        instance = wasmtime.Instance(self._store, wasmtime.Module(_ENGINE, module), [self._memory])
        exports = instance.exports(self._store)
        return [self._function(exports[f"run{number}"]) for number in range(count)]

    def _function(self, exported: Any) -> Callable[..., None]:
        def call(*arguments: int) -> None:
            self.calls += 1
            exported(self._store, *arguments)

        return call
