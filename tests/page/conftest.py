"""Fixtures of the tests of the page's Python side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from playgrad.graph.graph import reset_default_graph


@pytest.fixture
def new_graph() -> Iterator[None]:
    """Leave an empty default graph to the next test."""
    yield
    reset_default_graph()
