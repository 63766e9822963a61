"""Runs a program in a file."""

from __future__ import annotations

import sys
from pathlib import Path

from playgrad.errors import PlaygradError
from playgrad.graph.graph import reset_default_graph


def run_program(program: Path, seed: int, source: bytes | None = None) -> None:
    """Run ``program`` as Python would: it may import modules next to it, and call ``sys.exit``.

    Args:
        seed: of the default graph.
        source: run this text in place of the file's.

    Raises:
        PlaygradError: the program exited with a status other than 0.
    """
    name = str(program)
    code = compile(program.read_bytes() if source is None else source, name, "exec")
    reset_default_graph(seed)
    arguments, folders = sys.argv, sys.path
    sys.argv, sys.path = [name], [str(program.resolve().parent), *folders]
    try:
        exec(code, {"__name__": "__main__", "__file__": name})
    except SystemExit as end:
        if end.code not in (None, 0):
            raise PlaygradError(f"{program.name} exited with status {end.code}.") from None
    finally:
        sys.argv, sys.path = arguments, folders
