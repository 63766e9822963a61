"""The threads of NumPy's linear algebra (BLAS): as many as pay, and no more than the user allows.

By default BLAS divides every product among a thread for each core, and the threads wait for each
other by spinning. A product of 0.1 ms then takes 50 ms on a machine on which another program keeps
one core busy, and so does the product of another device. Limits are by the sizes of the products,
never by the load: with another number of threads a sum may differ in its last digits
(docs/decisions/028).
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from playgrad.compiler.work_estimates import is_product, operations
from playgrad.graph.tensor import Node

VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables by which a user sets the number of threads, which is then final."""
LARGE = 1 << 26
"""Multiplications and additions of the smallest product that is worth several threads: about a
millisecond of one core."""

_lock = threading.Lock()
_limits: list[int] = []
_before: list[int] = []


def worthwhile_threads(nodes: Iterable[Node]) -> int:
    """Return the number of BLAS threads for a program of ``nodes``, which have static shapes.

    Large products get half of the cores. The others are left to independent operations and to other
    programs, for which the threads would wait.
    """
    is_large = any(is_product(node) and operations(node) >= LARGE for node in nodes)
    return max(1, (os.cpu_count() or 1) // 2) if is_large else 1


def limited_to(threads: int) -> AbstractContextManager[None]:
    """Let BLAS use at most ``threads`` threads within the block, and as many as before after it.

    Blocks may be nested, and overlap in several threads: the smallest limit counts. A number in the
    environment is final, and so is a smaller one that the program has set.
    """
    libraries = controlled_libraries()
    return _limited(libraries, threads) if libraries else nullcontext()


@contextmanager
def _limited(libraries: list[Any], threads: int) -> Iterator[None]:
    with _lock:
        if not _limits:
            _before[:] = [library.get_num_threads() for library in libraries]
        _limits.append(threads)
        _apply(libraries)
    try:
        yield
    finally:
        with _lock:
            _limits.remove(threads)
            _apply(libraries)


@contextmanager
def shared_among(devices: int) -> Iterator[None]:
    """Limit BLAS within the block to the share of the cores that each of ``devices`` has."""
    if devices < 2:
        yield
        return
    with limited_to(max(1, (os.cpu_count() or 1) // devices)):
        yield


def _apply(libraries: list[Any]) -> None:
    for library, before in zip(libraries, _before, strict=True):
        # threadpoolctl ignores every thread but the first that has set a number, so that threads
        # do not undo each other's: `_limits` sees to that here.
        if library.internal_api == "openblas":
            library.clear_controlling_thread(force=True)
        library.set_num_threads(min(before, *_limits) if _limits else before)


@cache
def controlled_libraries() -> list[Any]:
    """Return the BLAS libraries of this process whose threads can be limited."""
    if sys.platform == "emscripten":  # NumPy has no BLAS there
        return []
    if any(re.match(r"\s*0*[1-9]", os.environ.get(name, "")) for name in VARIABLES):
        return []
    from threadpoolctl import ThreadpoolController

    controllers: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return controllers
