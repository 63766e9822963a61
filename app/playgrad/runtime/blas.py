"""Limits the threads of NumPy's linear algebra while several devices share the processor."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def shared_among(devices: int) -> Iterator[None]:
    """Limit BLAS within the block to the share of the cores that each of ``devices`` has.

    Otherwise the matrix products of every device would start a thread for each core, and these wait
    for each other by spinning: on busy cores, ten times slower than one thread each.
    """
    if devices < 2 or sys.platform == "emscripten":  # there BLAS has a single thread
        yield
        return
    share = max(1, (os.cpu_count() or 1) // devices)
    with _controller().limit(limits=share, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
