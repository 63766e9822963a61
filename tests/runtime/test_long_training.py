"""Half an hour of compiled training leaves memory as it was, on the desktop."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from playgrad.runtime import desktop_host
from tests.long_training import check_flat, long_training

MINUTES = 30


def resident() -> int:
    """Return the bytes of memory that the process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.slow
def test_half_an_hour_of_training_takes_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(desktop_host.VARIABLE)
    check_flat(long_training(60 * MINUTES, resident), 8_000_000)
