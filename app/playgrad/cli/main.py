"""The entry point. Exit codes: 0 success, 1 failure with a message on stderr, 2 wrong usage."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence

from playgrad.cli.parser import make_parser
from playgrad.errors import PlaygradError

FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Wrong usage raises ``SystemExit(2)``."""
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
    """Return the place in ``program`` that raised ``error``, or an empty text."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == program]
    return f" ({program}, line {lines[-1]})" if lines else ""
