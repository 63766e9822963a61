"""The virtual environment in ``.venv``: playgrad, editable, and its requirements."""

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
# A command that each extra installs.
_COMMANDS = {"docs": "sphinx-build", "test": "pytest"}


def _build_tables() -> str:
    """Return the parts of pyproject.toml that affect an installation."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    tables = [project["build-system"], project["project"], project["tool"]["setuptools"]]
    return json.dumps(tables, sort_keys=True)


def _base_interpreter() -> str:
    """Return the interpreter to create the environment with, never one of a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _pip_install(*arguments: str | Path) -> None:
    # Without isolation, because the environment has setuptools at its pinned version.
    run(
        PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-build-isolation", "--constraint", _CONSTRAINTS, *arguments,
    )  # fmt: skip


def step(extra: str | None = None) -> Step:
    """Return the step that installs playgrad, or playgrad with the packages of ``extra``."""
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
    # The first step clears the environment. Without the command, this step runs again.
    command = VENV / "bin" / _COMMANDS[extra]
    return Step(f"python packages for {extra}", inputs, [command], make)
