"""Fixtures of the model server."""

from __future__ import annotations

from pathlib import Path

import pytest

from playgrad.serving.store import ModelStore


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """An empty store."""
    return ModelStore(tmp_path / "models")
