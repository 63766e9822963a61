"""Folders of the files that accompany the library, in a checkout and in a wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from playgrad.errors import PlaygradError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def _beside(name: str) -> Path:
    """Return ``name`` in the package (wheel, browser bundle), else at the top of the checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _CHECKOUT / name


def kernels() -> Path:
    """Return the folder of WGSL files."""
    return _beside("kernels")


def static() -> Path:
    """Return the folder of the page."""
    return _beside("static")


def player() -> Path:
    """Return the folder with the parts of stand-alone pages: ``player.js`` and ``player.css``."""
    inside = _PACKAGE / "player"
    return inside if inside.is_dir() else static() / "vendor" / "player"


def docs() -> Path:
    """Return the folder of the built documentation: inside a wheel, else where set-up built it."""
    inside = _PACKAGE / "docs"
    return inside if inside.is_dir() else var() / "docs"


def var() -> Path:
    """Return the folder of fetched and generated files: Pyodide, data sets, memory snapshots.

    It is ``PLAYGRAD_VAR``; else ``var`` in a checkout, and the user's cache for a wheel.
    """
    chosen = os.environ.get("PLAYGRAD_VAR")
    if chosen:
        return Path(chosen)
    return cache() if static().parent == _PACKAGE else _CHECKOUT / "var"


def cache() -> Path:
    """Return the cache folder.

    It is ``PLAYGRAD_CACHE``; else ``playgrad`` in ``XDG_CACHE_HOME`` or ``~/.cache``.

    Raises:
        PlaygradError: the user has no home folder.
    """
    chosen = os.environ.get("PLAYGRAD_CACHE")
    if chosen:
        return Path(chosen)
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore relative paths.
    return (shared if shared.is_absolute() else _home() / ".cache") / "playgrad"


def _home() -> Path:
    """Return the home folder: ``HOME`` if it is an absolute path, else that of the user's entry."""
    named = Path(os.environ.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        home = _home_of_user()
    except (KeyError, RuntimeError):  # a user without an entry, as in some containers
        home = None
    if home is None or not home.is_absolute():
        raise PlaygradError(
            "there is no place for the cache: the user has no home folder.",
            hint="Set PLAYGRAD_CACHE to a folder.",
        )
    return home


def _home_of_user() -> Path:
    if sys.platform in ("win32", "emscripten"):
        return Path.home()
    import pwd

    return Path(pwd.getpwuid(os.getuid()).pw_dir)
