"""How many threads NumPy's linear algebra may use while several devices share the processor."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def shared_among(devices: int) -> Iterator[None]:
    """Give each of ``devices`` its share of the cores within the block.

    Otherwise every one's products would start a thread for each core, and those wait for each
    other by spinning: ten times slower than one thread each where the cores are busy.
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
