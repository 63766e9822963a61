"""The page's modules that need no browser, tested by Node's test runner."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from playgrad.server.names import names_content

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The names of the library, as the server sends them, for `language.mjs`."""
    path = tmp_path_factory.mktemp("language") / "names.json"
    path.write_bytes(names_content().plain)
    return path


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.mjs")))
def test_page_module_passes_its_tests(name: str, names: Path) -> None:
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    # Without `--test`, which would start another process for the file. The limit is below that of
    # pytest for a test, and far above what a busy machine takes.
    result = subprocess.run(
        [node, str(HERE / name)],
        env={**os.environ, "PLAYGRAD_NAMES": str(names)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
