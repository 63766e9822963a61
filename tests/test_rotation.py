"""The fifth of the operations on GPUs and of the costly tests that a run tries, and when all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rotation
from tests.rotation import core
from tests.seconds import COMMITTED, ROOT, Seconds, file_of


def git(root: Path, *arguments: str) -> None:
    """Run git, so that the hashes of commits are the same in each run of the tests."""
    who = {"NAME": "test", "EMAIL": "test@localhost", "DATE": "2026-01-01T00:00:00Z"}
    names = {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}
    subprocess.run(["git", *arguments], cwd=root, env={**os.environ, **names}, check=True)


def commit(root: Path, message: str) -> None:
    git(root, "commit", "--quiet", "--allow-empty", f"--message={message}")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files that decide what a GPU computes, with their digest and a commit."""
    for name in ("app/playgrad", "kernels", "static/engine"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(rotation.ROOT / name, tmp_path / name, ignore=ignore)
    monkeypatch.setattr(rotation, "ROOT", tmp_path)
    monkeypatch.setattr(rotation, "RECORD", tmp_path / rotation.RECORD.name)
    rotation.RECORD.write_text(f"{rotation.digest()}\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "first")
    return tmp_path


def part() -> int | None:
    return rotation.choice("commit")[0]


def test_commits_choose_every_part(checkout: Path) -> None:
    parts = set()
    for number in range(20):
        commit(checkout, str(number))
        parts.add(part())
    assert parts == {1, 2, 3, 4, 5}
    assert rotation.header("commit")[0].startswith(f"operations on GPUs: part {part()} of 5 (")


def test_all_operations_are_checked_where_a_gpu_computes_something_else(checkout: Path) -> None:
    for name in (
        "app/playgrad/compiler/memory.py",
        "app/playgrad/ops/lowering/reduce.py",
        "kernels/common/reduce.wgsl",
        "static/engine/program.js",
    ):
        file = checkout / name
        content = file.read_bytes()
        file.write_bytes(content + b"\n")
        assert part() is None
        assert rotation.header("commit")[0].startswith("operations on GPUs: all (")
        file.write_bytes(content)
        assert part() is not None
    (checkout / "kernels/reduce.wgsl").rename(checkout / "kernels/reduction.wgsl")
    assert part() is None


def test_other_files_change_nothing(checkout: Path) -> None:
    before = part()
    (checkout / "app/playgrad/nn/dense.py").unlink()
    assert part() == before


def test_costly_files_take_turns(checkout: Path) -> None:
    seconds = Seconds.read(COMMITTED).files
    rest = [rotation.resting(part) for part in ("1", "2", "3", "4", "5")]
    for file, spent in seconds.items():
        takes_turns = spent > rotation.COSTLY and file not in core()
        assert sum(file in each for each in rest) == (4 if takes_turns else 0), file
    assert rotation.resting("commit") == rest[(part() or 0) - 1]
    assert rotation.resting("all") == {}


def test_parts_are_about_as_long() -> None:
    parts = rotation.costly_parts({f"tests/{n}.py": 3.1 + n**1.5 for n in range(40)})
    lengths = [sum(files.values()) for files in parts.values()]
    assert max(lengths) < 1.02 * min(lengths)


def test_files_that_rest_are_not_imported() -> None:
    """All that a run of a part collects are files that do not rest in it."""
    resting = max(rotation.resting("1"), key=lambda file: file.startswith("tests/io/"))
    files = [resting, "tests/test_expr.py"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *files]
    for options, expected in (["--part=1"], {files[1]}), (["--part=all"], set(files)):
        ran = subprocess.run(
            [*command, *options], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert {file_of(line) for line in ran.stdout.splitlines() if "::" in line} == expected


@pytest.mark.parametrize("file", core())
def test_core_files_exist(file: str) -> None:
    assert (COMMITTED.parent.parent / file).is_file()
