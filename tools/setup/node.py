"""The npm packages, and the browser modules bundled from them."""

from __future__ import annotations

import shutil
import subprocess

from tools.setup.steps import ROOT, SetupError, Step, run

MODULES = ROOT / "node_modules"
_OLDEST_NODE = (20, 19)
"""ESLint needs it; everything else runs on any version 20."""
VENDOR = ROOT / "static" / "vendor"
"""The modules that the page imports; the folder is emptied whenever they are bundled."""


def _check_node() -> None:
    """Raise SetupError unless npm and a recent enough Node are on PATH."""
    cure = "install Node.js {}.{} or newer, with npm, and run this again".format(*_OLDEST_NODE)
    if not shutil.which("node") or not shutil.which("npm"):
        raise SetupError(f"node and npm are not both on PATH: {cure}")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    major, minor = version.stdout.strip().lstrip("v").split(".")[:2]
    if (int(major), int(minor)) < _OLDEST_NODE:
        raise SetupError(f"node is {version.stdout.strip()}, which is too old: {cure}")


def packages_step() -> Step:
    def make() -> None:
        _check_node()
        run("npm", "ci", "--loglevel=error")

    inputs = [ROOT / "package.json", ROOT / "package-lock.json", ROOT / ".npmrc"]
    return Step("npm packages", inputs, [MODULES / "pyodide", MODULES / "esbuild"], make)


def vendor_step() -> Step:
    script = ROOT / "tools" / "vendor.mjs"
    static = ROOT / "static"
    # All that the player of stand-alone pages may consist of.
    player = [
        *static.glob("standalone/**/*.js"),
        static / "standalone" / "player.css",
        static / "engine" / "program.js",
        static / "engine" / "errors.js",
        static / "js" / "digit.js",
    ]
    return Step(
        "browser modules",
        [script, ROOT / "package-lock.json", *sorted(player)],
        [VENDOR / "preact.js", VENDOR / "codemirror.js", VENDOR / "player" / "player.js"],
        lambda: run("node", script),
    )
