"""Installs the peers into ``var/bench``, as pinned by the files next to this one."""

from __future__ import annotations

import shutil
import subprocess
import sys

from bench.paths import BENCH, NPM, PYTHON, VAR

_NPM_PINS = ("package.json", "package-lock.json")
_PYTHON_PINS = "constraints.txt"


def _same(name: str) -> bool:
    """Return whether the last installation used the current pins."""
    stamp = VAR / name
    return stamp.is_file() and stamp.read_bytes() == (BENCH / name).read_bytes()


def install() -> None:
    """Install the peers that are missing or whose pins have changed."""
    VAR.mkdir(parents=True, exist_ok=True)
    if not (NPM.is_dir() and all(map(_same, _NPM_PINS))):
        for name in _NPM_PINS:
            shutil.copyfile(BENCH / name, VAR / name)
        command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(command, cwd=VAR, check=True)
    if not (PYTHON.is_dir() and _same(_PYTHON_PINS)):
        shutil.rmtree(PYTHON, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--target", str(PYTHON), "--requirement", str(BENCH / _PYTHON_PINS)]
        subprocess.run(command, check=True)
        shutil.copyfile(BENCH / _PYTHON_PINS, VAR / _PYTHON_PINS)


def installed() -> set[str]:
    """Return the peers that are installed. PyTorch comes with the test packages."""
    places = {
        "tfjs": NPM / "@tensorflow" / "tfjs",
        "jax": NPM / "@jax-js" / "jax",
        "borch": PYTHON / "borch_webgpu",
        "tinygrad": PYTHON / "tinygrad",
    }
    return {"playgrad", "numpy", "torch"} | {name for name, path in places.items() if path.is_dir()}


if __name__ == "__main__":
    install()
