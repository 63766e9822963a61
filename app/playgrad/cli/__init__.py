"""The command line: ``playgrad train``, ``devices``, ``examples``, ``export`` and ``serve``."""

from playgrad.cli.main import main

__all__ = ["main"]
