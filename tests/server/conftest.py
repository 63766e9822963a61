"""Fixtures for tests of the server: a client without a network, and a temporary static folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from playgrad import paths
from playgrad.server import create_app


class BufferedClient(FlaskClient):
    """A client that reads every response completely, so that no file stays open."""

    def open(self, *args: Any, **options: Any) -> TestResponse:
        return super().open(*args, **{"buffered": True, **options})


@pytest.fixture
def client() -> FlaskClient:
    """A client of the application that serves this checkout."""
    app = create_app()
    app.test_client_class = BufferedClient
    return app.test_client()


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, served as ``/static``. Its parent contains a secret."""
    folder = tmp_path / "static"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr(paths, "static", lambda: folder)
    return folder
