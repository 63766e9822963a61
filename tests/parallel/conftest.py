from __future__ import annotations

from collections.abc import Iterator

import pytest

import playgrad as pg
from playgrad.devices import logical


@pytest.fixture(autouse=True)
def restore_devices_and_graph() -> Iterator[None]:
    """Tests may set any number of logical devices, and a default graph with a seed."""
    before = dict(logical._counts)
    yield
    logical._counts.clear()
    logical._counts.update(before)
    pg.reset_default_graph()
