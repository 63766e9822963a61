"""The virtual environment in ``.venv``: playgrad, editable, and its requirements."""

from __future__ import annotations

import json
import os
import sys
import threading
import tomllib
import venv
from pathlib import Path
from typing import Any

from tools.setup.steps import ROOT, VAR, Step, run

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
CONSTRAINTS = ROOT / "constraints.txt"
# A command that each extra installs.
_COMMANDS = {"docs": "sphinx-build", "ray": "ray", "ray-serve": "fastapi", "test": "pytest"}
_PIP = threading.Lock()
"""Held while pip runs: two of them may install the same package."""


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _inputs() -> list[str | Path]:
    """Return what determines the environment, with the parts of pyproject.toml that affect it."""
    project = _project()
    tables = [project["build-system"], project["project"], project["tool"]["setuptools"]]
    text = json.dumps(tables, sort_keys=True)
    return [text, CONSTRAINTS, str(ROOT), _base_interpreter(), sys.version]


def _base_interpreter() -> str:
    """Return the interpreter to create the environment with, never one of a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def pip_install(*arguments: str | Path) -> None:
    """Install packages at their pinned versions."""
    # Python compiles a module when it is first imported, and most never are.
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    with _PIP:
        run(PYTHON, "-m", "pip", "install", *options, "--constraint", CONSTRAINTS, *arguments)


def environment_step() -> Step:
    """Return the step that creates the environment, with pip, anew."""
    builder = venv.EnvBuilder(clear=True, with_pip=True, symlinks=True)
    return Step("virtual environment", _inputs(), [PYTHON], lambda: builder.create(VENV))


def packages_step() -> Step:
    """Return the step that installs the requirements, and setuptools for the next step."""

    def make() -> None:
        pip_install("setuptools", *_project()["project"]["dependencies"])

    outputs = [VENV / "bin" / "flask"]
    return Step("python packages", _inputs(), outputs, make, after=["virtual environment"])


def editable_step() -> Step:
    """Return the step that installs playgrad itself."""

    def make() -> None:
        # Without isolation, because the environment has setuptools at its pinned version.
        pip_install("--no-deps", "--no-build-isolation", "--no-index", "--editable", ROOT)

    inputs = [*_inputs(), ROOT / "setup.py"]
    outputs = [VENV / "bin" / "playgrad"]
    return Step("playgrad", inputs, outputs, make, after=["python packages"])


def steps() -> list[Step]:
    return [environment_step(), packages_step(), editable_step()]


def extra_step(extra: str) -> Step:
    """Return the step that installs the packages of ``extra``."""

    def make() -> None:
        pip_install(*_project()["project"]["optional-dependencies"][extra])

    # The first step clears the environment. Without the command, this step runs again.
    command = VENV / "bin" / _COMMANDS[extra]
    name = f"python packages for {extra}"
    return Step(name, _inputs(), [command], make, after=["playgrad"])


def mpich_step() -> Step:
    """Return the step that installs MPICH beside the environment, which has Open MPI."""
    folder = VAR / "mpich"
    builder = venv.EnvBuilder(clear=True, symlinks=True)

    def make() -> None:
        builder.create(folder)
        pip_install("--prefix", folder, "mpich")

    outputs = [folder / "bin" / "mpiexec.hydra"]
    return Step("MPICH", _inputs(), outputs, make, after=["playgrad"])
