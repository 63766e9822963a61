from __future__ import annotations

from collections.abc import Iterator

import pytest

from playgrad.compiler import dispatch_groups
from playgrad.graph.graph import Graph


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    """A new graph, which is the default graph during the test. Few of its kernels are merged, as
    llvmpipe takes much longer for a chain of thirty than for its members."""
    monkeypatch.setattr(dispatch_groups, "MAX_MEMBERS", 4)
    with (graph := Graph(seed=1)).as_default():
        yield graph
