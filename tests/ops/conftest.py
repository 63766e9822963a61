from __future__ import annotations

from collections.abc import Iterator

import pytest

from playgrad.graph.graph import Graph


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    """A new graph, which is the default graph during the test."""
    with (graph := Graph(seed=1)).as_default():
        yield graph
