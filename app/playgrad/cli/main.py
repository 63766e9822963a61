"""The entry point.

Exit codes: 0 success, 1 failure with a message on stderr, 2 wrong usage; 128 plus the number of a
signal, 130 for Ctrl+C, if it was stopped; 141 if nobody reads its output any more.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

from playgrad.bridge import advice
from playgrad.cli.parser import make_parser
from playgrad.cli.streams import mend_streams
from playgrad.errors import PlaygradError, is_of_another_member
from playgrad.signals import Terminated, signals

FAILED = 1
BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Wrong usage raises ``SystemExit(2)``.

    Args:
        arguments: None for this process's own, whose signals and streams are then handled too.
    """
    return _run(arguments) if arguments is not None else _run_as_process()


def _run_as_process() -> int:
    signals.install()
    atexit.register(signals.uninstall)
    mend_streams()
    try:
        code = _run(None)
    except SystemExit as end:  # of the parser, or with a message
        code = end.code if isinstance(end.code, int) else FAILED if end.code else 0
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    code = _flush(code)
    if signals.received and code == signals.exit_code:
        # Threads may still be at work, and they need not be waited for.
        atexit._run_exitfuncs()
        os._exit(code)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    parser = make_parser()
    options = parser.parse_args(arguments)
    code = _code_of(options, parser)
    if hasattr(options, "membership"):  # the supervisor returns the code of all
        options.membership.end(code)
        return 0
    return code


def _code_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    try:
        code: int = options.command(options, parser)
        signals.end_work()
    except (KeyboardInterrupt, Terminated) as stop:
        return _fail(options, _with_notes("stopped", stop), signals.exit_code)
    except BrokenPipeError:
        return BROKEN_PIPE
    except PlaygradError as error:
        return _fail(options, _with_notes(f"{type(error).__name__}: {error}", error))
    except Exception as error:
        place = _place(error, getattr(options, "program", None))
        said = advice(error)
        text = f"{type(error).__name__}: {error}{place}"
        if is_of_another_member(error):  # which reports it, with the place in the program
            return _fail(options, "")
        return _fail(options, _with_notes(f"{text}. {said}" if said else text, error))
    return code


def _fail(options: argparse.Namespace, text: str, code: int = FAILED) -> int:
    signals.begin_telling()
    with contextlib.suppress(OSError):
        if options.debug:
            traceback.print_exc()
        if hasattr(options, "membership"):
            options.membership.text = text
        else:
            print(f"playgrad: {text}", file=sys.stderr, flush=True)
    signals.told()
    return code


def _with_notes(text: str, error: BaseException) -> str:
    """Return what to say of ``error``: its notes, then ``text``, a line for each."""
    return "\nplaygrad: ".join([*getattr(error, "__notes__", ()), text])


def _flush(code: int) -> int:
    """Write what is left of the output; return ``code``, or another if that is impossible."""
    for stream, number in ((sys.stderr, 2), (sys.stdout, 1)):
        try:
            stream.flush()
        except OSError as error:
            # Python would try again at its end, and print a traceback.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            if isinstance(error, BrokenPipeError):
                return BROKEN_PIPE
            if number == 1:
                print(f"playgrad: cannot write the output: {error.strerror}", file=sys.stderr)
                return code or FAILED
    return code


def _place(error: BaseException, program: str | None) -> str:
    """Return the place in ``program`` that raised ``error``, or an empty text."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == program]
    return f" ({program}, line {lines[-1]})" if lines else ""
