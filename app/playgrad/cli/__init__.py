"""The command line: `playgrad train`, `simulate`, `tune`, `serve`, and commands that list."""

from playgrad.cli.main import main

__all__ = ["main"]
