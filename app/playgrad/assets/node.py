"""Node and npm: of the checkout if set-up installed them there, else from PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def node_environment() -> dict[str, str]:
    """Return the environment in which to run ``node`` and ``npm``."""
    folder = str(Path(sys.prefix, "node"))  # see tools/setup/node.py
    return {**os.environ, "PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])}
