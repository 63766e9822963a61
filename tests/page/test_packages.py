"""Python packages of the server: which ones a program imports, and their installation."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import pytest

from playgrad.assets import PACKAGE_FILES, PACKAGES
from playgrad.page import packages
from playgrad.page.packages import NEEDS, PACKAGE_OF, Packages, imported_modules, with_needs
from tests.page.python_side import python_side

IMPORTS = {
    "import matplotlib.pyplot as plt\nfrom PIL import Image": {"matplotlib", "PIL"},
    "def draw():\n    import os, pandas.plotting as p": {"pandas"},
    "try:\n    from pandas import DataFrame\nexcept ImportError:\n    pass": {"pandas"},
    "if False:\n    from matplotlib import (\n        cm,\n    )": {"matplotlib"},
    "from mpl_toolkits.mplot3d import Axes3D; import dateutil": {"mpl_toolkits", "dateutil"},
    "import numpy as pandas": set(),
    "print('import pandas')\n# import matplotlib": set(),
    "from . import pandas\nfrom .matplotlib import pyplot": set(),
    "import pandas_profiling, plt": set(),
    "import pandas\nx = (": set(),
    'import pandas\npattern = "\\d"': {"pandas"},
}


@pytest.mark.parametrize("program", IMPORTS, ids=range(len(IMPORTS)))
def test_imports_are_found_in_the_syntax_tree(program: str) -> None:
    assert imported_modules(program) == IMPORTS[program]


def test_the_page_knows_the_packages_of_the_server_and_their_needs() -> None:
    assert NEEDS.keys() == PACKAGE_FILES.keys()
    assert set(PACKAGE_OF.values()) == NEEDS.keys()
    for package, file in PACKAGE_FILES.items():
        with zipfile.ZipFile(PACKAGES.folder() / file.name) as wheel:
            (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
            text = wheel.read(name).decode()
            modules = {each.partition("/")[0].removesuffix(".py") for each in wheel.namelist()}
        # Not those with a condition: an extra, another system or an older Python.
        needs = re.findall(r"^Requires-Dist: ([\w-]+)(?![^\n]*;)", text, re.MULTILINE)
        assert {each.lower() for each in needs} - {"numpy"} == set(NEEDS[package]), package
        assert {name for name, owner in PACKAGE_OF.items() if owner == package} <= modules


def test_what_a_package_needs_comes_before_it() -> None:
    order = with_needs(["matplotlib", "pandas"])
    assert len(order) == len(set(order))
    for package in order:
        assert all(order.index(each) < order.index(package) for each in NEEDS[package])


class Server:
    """The wheels of the server.

    Attributes:
        asked: the requested paths, each with the paths that are expected next.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def fetch(self, path: str, *beside: str) -> bytes:
        self.asked.append((path, *beside))
        return (PACKAGES.folder() / PACKAGE_FILES[path.rpartition("/")[2]].name).read_bytes()


def test_a_package_is_installed_once_with_its_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "as it was")
    server = Server()
    installer = Packages(server.fetch, tmp_path)
    installer.install_for("print('nothing of pandas')")
    assert server.asked == []
    for _ in range(2):
        installer.install_for("import dateutil")
    six, dateutil = "/packages/six", "/packages/python-dateutil"
    assert server.asked == [(six,), (dateutil, six, dateutil)]
    assert (tmp_path / "dateutil" / "parser" / "__init__.py").is_file()
    assert (tmp_path / "six.py").is_file()

    # A module that no program imports by name is installed when it is asked for.
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    spec = installer.find_spec("contourpy")
    assert spec is not None and spec.origin == str(tmp_path / "contourpy" / "__init__.py")
    assert installer.find_spec("contourpy.missing") is None
    assert installer.find_spec("torch") is None


def test_a_package_is_imported_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installer = Packages(Server().fetch, tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "six", raising=False)
    monkeypatch.setitem(packages._SLOW, "six", "six")
    installer.prepare("six")
    assert sys.modules.pop("six").__file__ == str(tmp_path / "six.py")


REASON = "cannot load /packages/pandas from the page: the server answers 503"


def test_a_package_that_the_server_lacks_is_an_error_at_its_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fail(path: str, *beside: str) -> bytes:
        asked.append(path)
        raise OSError(REASON)

    with python_side() as python:
        installer = sys.modules["playgrad.page.packages"].Packages(fail, tmp_path)
        python.module.controller.packages = installer
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, installer])
        assert python.run("print('before')\nimport pandas") == "error"
        (error,) = python.of("error")
        assert (error["type"], error["line"]) == ("ModuleNotFoundError", 2)
        assert error["message"].startswith(f"No module named 'pandas': {REASON}. pg.data.read_csv(")
        assert "numpy and playgrad are available" not in error["message"]
        assert len(asked) == 1
        assert python.run("try:\n    import pandas\nexcept ImportError:\n    pass") == "done"
        assert len(asked) == 2, "another run tries again"

        def stop(path: str, *beside: str) -> bytes:
            raise KeyboardInterrupt

        python.module.controller.packages = type(installer)(stop, tmp_path)
        assert python.run("print('never')\nimport pandas") == "stopped"
        assert "never" not in "".join(event["text"] for event in python.of("stdout"))


def test_without_packages_the_nearest_of_ours_is_named() -> None:
    with python_side() as python:
        assert python.module.controller.packages is None
        assert python.run("import PIL") == "error"
        (error,) = python.of("error")
        assert error["message"].startswith("No module named 'PIL'. pg.data.read_png(file)")
        assert python.run("import scipy") == "error"
        message = python.of("error")[-1]["message"]
        assert "numpy and playgrad are available. There is none of it here" in message
