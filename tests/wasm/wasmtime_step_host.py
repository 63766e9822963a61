"""The desktop's host of compiled steps, as tests need it: small, counting, and for every node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.runtime.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]


class WasmtimeStepHost(WasmtimeHost):
    """A host of ``size`` bytes that gives the same bits on all processors.

    Attributes:
        calls: the number of calls of loaded functions.
        loaded: the modules that were loaded.
    """

    def __init__(self, size: int = 1 << 28, multiplies: bool = False, threads: int = 1) -> None:
        super().__init__(size, relaxed=False, multiplies=multiplies)
        self.threads = threads
        self.calls = 0
        self.loaded: list[bytes] = []

    def empty(self, size: int) -> Array:
        array = super().empty(size)
        array[:] = 0xAB
        return array

    def load(self, module: bytes, count: int, number: int = 0) -> Sequence[Callable[..., None]]:
        self.loaded.append(module)
        return [self._counting(run) for run in super().load(module, count)]

    def _counting(self, run: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: int) -> None:
            self.calls += 1
            run(*arguments)

        return call
