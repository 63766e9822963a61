"""Runs the command line, and what becomes of errors: 0 done, 1 failed, told on stderr, 2 usage."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence

from playgrad.cli.parser import make_parser
from playgrad.errors import PlaygradError

FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; wrong usage raises SystemExit(2)."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        code: int = options.command(options, parser)
    except KeyboardInterrupt:
        return _fail(options, "stopped")
    except PlaygradError as error:
        return _fail(options, f"{type(error).__name__}: {error}")
    except Exception as error:
        place = _place(error, getattr(options, "program", None))
        return _fail(options, f"{type(error).__name__}: {error}{place}")
    return code


def _fail(options: argparse.Namespace, text: str) -> int:
    if options.debug:
        traceback.print_exc()
    print(f"playgrad: {text}", file=sys.stderr)
    return FAILED


def _place(error: BaseException, program: str | None) -> str:
    """Where ``program`` failed, if it did and the error's own text does not say so."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == program]
    return f" ({program}, line {lines[-1]})" if lines else ""
