"""The command line: ``playgrad train``, ``simulate``, ``tune``, ``serve``, and others."""

from playgrad.cli.main import main

__all__ = ["main"]
