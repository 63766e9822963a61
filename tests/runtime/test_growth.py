"""Long training leaves nothing behind: no buffers, no programs, no Python memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.growth import growth

BYTES = 64_000
"""Variation of Python's memory that does not depend on the steps."""


def check(device: str, steps: int) -> None:
    # Once started, Playwright keeps an event loop in the main thread that runs only during its
    # calls. wgpu-py would hand its callbacks to that loop, so training needs another thread.
    with ThreadPoolExecutor(1) as pool:
        left = pool.submit(growth, device, steps).result()
    assert left.pop("python") < BYTES
    assert set(left.values()) <= {0}


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_steps_leak_no_memory(device: str) -> None:
    check(device, 150 if device == "cpu" else 1000)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_ten_thousand_steps_leak_no_memory(device: str) -> None:
    check(device, 10_000)
