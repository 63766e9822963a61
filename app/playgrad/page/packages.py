"""Python packages that the server has for programs: found in a program's syntax tree, and installed
before it runs.

Pyodide has them as wheels. They are unpacked into the interpreter of the run, after its memory was
restored, and their libraries are loaded as Python imports them.
"""

from __future__ import annotations

import ast
import importlib
import io
import os
import sys
import sysconfig
import warnings
import zipfile
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NEEDS: dict[str, tuple[str, ...]] = {
    "contourpy": (),
    "cycler": (),
    "fonttools": (),
    "kiwisolver": (),
    "matplotlib": (
        "contourpy", "cycler", "fonttools", "kiwisolver", "packaging", "pillow", "pyparsing",
        "python-dateutil",
    ),
    "packaging": (),
    "pandas": ("python-dateutil",),
    "pillow": (),
    "pyparsing": (),
    "python-dateutil": ("six",),
    "six": (),
}  # fmt: skip
"""The packages, each with its dependencies other than NumPy."""

PACKAGE_OF = {
    "PIL": "pillow",
    "contourpy": "contourpy",
    "cycler": "cycler",
    "dateutil": "python-dateutil",
    "fontTools": "fonttools",
    "kiwisolver": "kiwisolver",
    "matplotlib": "matplotlib",
    "mpl_toolkits": "matplotlib",
    "packaging": "packaging",
    "pandas": "pandas",
    "pylab": "matplotlib",
    "pyparsing": "pyparsing",
    "six": "six",
}
"""The package of each module that programs import."""

BACKEND = "module://playgrad.page.matplotlib_backend"
"""The backend that matplotlib takes by default, by its name in ``MPLBACKEND``."""

_SLOW = {"matplotlib": "matplotlib.pyplot", "pandas": "pandas"}
"""The module that programs import from each package whose import takes seconds."""

Fetch = Callable[..., "memoryview | bytes"]
"""Returns the file of the first path; further paths name files that are needed next."""


def imported_modules(source: str) -> set[str]:
    """Return the modules of `PACKAGE_OF` that a program imports, wherever it does.

    Returns none if the program has a syntax error, which its compilation reports.
    """
    if not any(module in source for module in PACKAGE_OF):
        return set()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compilation has the same ones
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names} & PACKAGE_OF.keys()


def with_needs(packages: Iterable[str]) -> list[str]:
    """Return packages and all that they need, each after those."""
    found: dict[str, None] = {}
    for package in packages:
        found |= dict.fromkeys([*with_needs(NEEDS[package]), package])
    return list(found)


class Packages:
    """Installs packages of the server, each once.

    As the last finder of ``sys.meta_path`` it serves imports that the program's syntax tree does
    not show: imports at the prompt, and imports in packages, such as matplotlib for pandas' plots.

    Args:
        fetch: loads a file of the server.
        folder: where packages are installed; by default where Python looks for them.
    """

    def __init__(self, fetch: Fetch, folder: Path | None = None) -> None:
        self._fetch = fetch
        self._folder = folder
        self._installed: set[str] = set()
        self._problem = ""

    def install_for(self, source: str) -> None:
        """Install the packages that a program imports. A package that the server lacks is an error
        once it is imported.

        Raises:
            KeyboardInterrupt: a stop was requested.
        """
        self._problem = ""  # that of another run
        modules = imported_modules(source)
        self._install(PACKAGE_OF[module] for module in sorted(modules))
        if "PIL" in modules and "pillow" in self._installed:
            importlib.import_module("playgrad.page.pillow_viewer").register()

    def prepare(self, package: str) -> None:
        """Install a package, and import it if that takes long, for a program that probably will."""
        self._install([package])
        module = _SLOW.get(package)
        if module is not None:
            importlib.import_module(module)

    def conclude(self) -> None:
        """Show the figures that a program has drawn and not shown, at its end."""
        backend = sys.modules.get(BACKEND.removeprefix("module://"))
        if backend is not None:
            backend.show_open_figures()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is that no other finder has.

        Raises:
            ModuleNotFoundError: the server lacks its package.
            KeyboardInterrupt: a stop was requested.
        """
        package = PACKAGE_OF.get(name)
        if package is None or package in self._installed:
            return None
        if not self._problem:
            self._install([package])
        if package in self._installed:
            return PathFinder.find_spec(name)
        raise ModuleNotFoundError(f"No module named {name!r}: {self._problem}", name=name)

    def _install(self, packages: Iterable[str]) -> None:
        missing = [each for each in with_needs(packages) if each not in self._installed]
        paths = [f"/packages/{package}" for package in missing]
        try:
            for package, path in zip(missing, paths, strict=True):
                # The others after the first: a server without them then fetches them all at once.
                beside = paths if self._installed or package != missing[0] else ()
                with zipfile.ZipFile(io.BytesIO(self._fetch(path, *beside))) as wheel:
                    wheel.extractall(self._folder or sysconfig.get_path("purelib"))
                self._installed.add(package)
        except (OSError, zipfile.BadZipFile) as error:
            self._problem = str(error)
        if "matplotlib" in self._installed:
            os.environ.setdefault("MPLBACKEND", BACKEND)
        importlib.invalidate_caches()
