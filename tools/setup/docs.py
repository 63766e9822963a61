"""The documentation in ``var/docs``: guides and reference, built by Sphinx."""

from __future__ import annotations

from tools.docs import SITE
from tools.setup.python import PYTHON
from tools.setup.steps import ROOT, Step, run


def build_step() -> Step:
    """Build the site again when a guide, a docstring or the configuration has changed."""
    folders = {"docs": "*", "app/playgrad": "*.py", "tools/docs": "*.py"}
    inputs = [
        path
        for folder, pattern in folders.items()
        for path in sorted((ROOT / folder).rglob(pattern))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    static = ROOT / "static"
    inputs += [static / "css" / "theme.css", static / "js" / "start" / "early-theme.js"]
    return Step(
        "documentation",
        inputs,
        [SITE / "index.html", SITE / "api.json"],
        lambda: run(PYTHON, "-m", "tools.docs"),
        after=["python packages for docs"],
    )
