"""The third of the operations that a run checks on GPUs, and when it checks all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import rotation

CHANGED = [
    "kernels/common/reduce.wgsl",
    "app/playgrad/ops/lowering/reduce.py",
    "app/playgrad/compiler/memory.py",
    "static/engine/program.js",
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files that decide what a GPU computes, with a record of their digest."""
    for name in ("app", "kernels", "static/engine", "tests"):
        shutil.copytree(rotation.ROOT / name, tmp_path / name)
    monkeypatch.setattr(rotation, "ROOT", tmp_path)
    monkeypatch.setattr(rotation, "RECORD", tmp_path / "gpu.sha256")
    rotation.RECORD.write_text(f"{rotation.digest()}\n")
    return tmp_path


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_file_has_all_operations_checked(root: Path, name: str) -> None:
    (root / name).write_text((root / name).read_text("utf-8") + "\n", "utf-8")
    assert rotation.choice.__wrapped__("commit")[0] is None
