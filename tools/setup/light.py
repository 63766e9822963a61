"""``playgrad.assets`` before the requirements of playgrad are installed."""

from __future__ import annotations

import sys
from types import ModuleType

from tools.setup.steps import ROOT


def make_importable() -> None:
    """Import ``playgrad`` and ``playgrad.io`` as folders, without what they import: NumPy."""
    for name in ("playgrad", "playgrad.io"):
        package = ModuleType(name)
        package.__path__ = [str(ROOT.joinpath("app", *name.split(".")))]
        sys.modules[name] = package
