"""Long training leaves nothing behind: no buffer, no program, no memory of Python's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.growth import growth

BYTES = 64_000
"""Python's memory comes and goes by so much, whatever is done."""


def check(device: str, steps: int) -> None:
    # Playwright, once started, keeps an event loop in the main thread that runs only when it is
    # asked something; wgpu-py hands its callbacks to a loop that it finds.
    with ThreadPoolExecutor(1) as pool:
        left = pool.submit(growth, device, steps).result()
    assert left.pop("python") < BYTES
    assert set(left.values()) <= {0}


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_steps_leave_nothing_behind(device: str) -> None:
    check(device, 150 if device == "cpu" else 2000)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_ten_thousand_steps_leave_nothing_behind(device: str) -> None:
    check(device, 10_000)
