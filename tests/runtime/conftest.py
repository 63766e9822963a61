from __future__ import annotations

import pytest

from playgrad.graph.graph import Graph


@pytest.fixture
def graph():
    """A new graph, which is the default graph during the test."""
    graph = Graph()
    with graph.as_default():
        yield graph


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request) -> str:
    """Each kind of device."""
    return request.param
