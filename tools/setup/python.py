"""The virtual environment in ``.venv``: playgrad itself, editable, and what it needs."""

from __future__ import annotations

import json
import os
import sys
import tomllib
import venv
from pathlib import Path

from tools.setup.steps import ROOT, Step, run

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
_CONSTRAINTS = ROOT / "constraints.txt"
# A command that each extra brings: gone when the environment was cleared.
_COMMANDS = {"docs": "sphinx-build", "test": "pytest"}


def _build_tables() -> str:
    """The parts of pyproject.toml that an installation depends on: not the linters' settings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tables = [project["build-system"], project["project"], project["tool"]["setuptools"]]
    return json.dumps(tables, sort_keys=True)


def _base_interpreter() -> str:
    """The interpreter to make the environment with, never one inside the environment itself."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _pip_install(*arguments: str | Path) -> None:
    # Without isolation: setuptools is in the environment already, at its pinned version.
    run(
        PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-build-isolation", "--constraint", _CONSTRAINTS, *arguments,
    )  # fmt: skip


def step(extra: str | None = None) -> Step:
    """Installs playgrad, or playgrad with the packages of ``extra``."""
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)

    def make() -> None:
        if extra is None:
            venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(VENV)
            _pip_install("setuptools")
        _pip_install("--editable", target)

    inputs: list[str | Path] = [_build_tables(), _CONSTRAINTS, ROOT / "setup.py"]
    inputs += [str(ROOT), _base_interpreter(), sys.version]
    if extra is None:
        return Step("python packages", inputs, [PYTHON, VENV / "bin" / "playgrad"], make)
    command = VENV / "bin" / _COMMANDS[extra]
    return Step(f"python packages for {extra}", inputs, [command], make)
