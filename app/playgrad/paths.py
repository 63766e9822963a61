"""Where the files beside the library are: the one place that knows a checkout from a wheel."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _beside(name: str) -> Path:
    """``name`` inside the package (wheel, browser bundle), else at the top of the checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent.parent / name


def kernels() -> Path:
    """The folder of WGSL files."""
    return _beside("kernels")


def static() -> Path:
    """The folder of the page."""
    return _beside("static")


def docs() -> Path:
    """The folder of the built documentation: inside a wheel, else where set-up built it."""
    inside = _PACKAGE / "docs"
    return inside if inside.is_dir() else var() / "docs"


def var() -> Path:
    """The folder that set-up filled: Pyodide, data sets. ``PLAYGRAD_VAR`` overrides it."""
    chosen = os.environ.get("PLAYGRAD_VAR")
    return Path(chosen) if chosen else _PACKAGE.parent.parent / "var"
