"""What each command does with its arguments; wrong usage is told before anything is done.

They import what they need themselves, so that `playgrad --help` does not wait for the server's
libraries.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from playgrad.parallel.registry import DETAILS, USES


def run_train(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.train import train

    program = _program(options, parser)
    details = ("devices", *DETAILS)
    given = [name for name in details if getattr(options, name) is not None]
    if options.placement is not None:
        if options.parallel is not None:
            parser.error("--parallel places all operations itself, so --placement says nothing")
        given = [name for name in given if name != "devices"]
    elif options.device_kinds is not None:
        parser.error("--device-kinds says nothing without --placement")
    if given and options.parallel is None:
        parser.error(f"--{given[0].replace('_', '-')} says nothing without --parallel")
    if options.parallel is not None:
        _refuse_unused(given, options.parallel, parser)
    return train(program, options)


def _refuse_unused(given: list[str], strategy: str, parser: argparse.ArgumentParser) -> None:
    """An option that would change nothing is a mistake of the user's, and is told."""
    for name in given:
        if name not in USES[strategy]:
            users = " or ".join(user for user, used in USES.items() if name in used)
            option = name.replace("_", "-")
            parser.error(f"--{option} says nothing with --parallel {strategy}, but with {users}")


def run_simulate(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.simulate import simulate

    given = [name for name in DETAILS if getattr(options, name, None) is not None]
    _refuse_unused(given, options.parallel, parser)
    return simulate(_program(options, parser), options)


def _program(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Path:
    from playgrad.cli.train import find_program

    program = find_program(options.program)
    if program is None:
        parser.error(f"there is no example or file {options.program!r}: see `playgrad examples`")
    options.program = str(program)
    return program


def run_devices(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import print_devices

    return print_devices(options.json)


def run_tune(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli import tune

    return tune.run_tune(options)


def run_examples(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import print_examples

    return print_examples(options.json)


def run_export(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import convert

    return convert(options.source, options.target)


def run_serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.server import serve

    serve(options.host, options.port)
    return 0
