"""Arguments, and what becomes of errors: 0 done, 1 failed with the error on stderr, 2 usage."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import playgrad
from playgrad.cli import kinds
from playgrad.errors import PlaygradError

FAILED = 1
# Said again here, so that `playgrad --help` need not import the library; a test holds them equal.
STRATEGIES = ("sync", "async", "local", "pipeline", "overlap")
SCHEDULES = ("gpipe", "1f1b", "interleaved", "bidirectional", "pipedream")
DETAILS = ("micro_batches", "schedule", "chunks", "collective", "staleness", "every")
COLLECTIVES = ("auto", "ring", "tree", "central")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; wrong usage raises SystemExit(2)."""
    parser = _parser()
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="playgrad", description="Train small neural networks on your own processor."
    )
    parser.add_argument("--version", action="version", version=f"playgrad {playgrad.__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_train, _add_simulate, _add_devices, _add_tune, _add_examples, _add_export, _add_serve,
    ):  # fmt: skip
        add(commands)
    return parser


def _add_train(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "train", help="run an example, or a program of your own that trains a model"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="an example's name, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="auto, cpu, gpu or gpu:N (default: auto)",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=kinds.count, metavar="N", help="passes over the data")
    length.add_argument("--steps", type=kinds.count, metavar="N", help="batches, instead of epochs")
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples a batch")
    parser.add_argument("--seed", type=int, metavar="N", help="of weights, order and dropout")
    _add_parallel(parser)
    parser.add_argument(
        "--export",
        type=kinds.weights_file,
        metavar="FILE",
        help="write the weights (.safetensors, .npz)",
    )
    parser.add_argument(
        "--trace",
        type=kinds.output_file,
        metavar="FILE",
        help="write a Chrome trace of one step",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the result as one JSON object, last"
    )
    parser.set_defaults(command=_train)


def _add_parallel(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several devices")
    group.add_argument(
        "--parallel", choices=STRATEGIES, metavar="STRATEGY", help=", ".join(STRATEGIES)
    )
    group.add_argument("--devices", type=kinds.count, metavar="N", help="how many (default: 2)")
    group.add_argument(
        "--micro-batches", type=kinds.count, metavar="N", help="parts of a batch in a pipeline"
    )
    group.add_argument("--schedule", choices=SCHEDULES, help="of a pipeline's passes")
    group.add_argument(
        "--chunks",
        type=kinds.count,
        metavar="N",
        help="groups of layers on a device, if interleaved",
    )
    group.add_argument(
        "--staleness", type=int, metavar="N", help="batches that async replicas may be ahead"
    )
    group.add_argument(
        "--every",
        type=kinds.count,
        metavar="N",
        help="steps between means of local, or that overlap",
    )
    group.add_argument("--collective", choices=COLLECTIVES, help="how gradients are added up")
    group.add_argument(
        "--placement",
        choices=("auto",),
        help="divide a step among devices by a cost model, where that is faster",
    )
    group.add_argument(
        "--device-kinds",
        type=kinds.device_kinds,
        metavar="KINDS",
        help="what --placement may use, such as cpu,gpu; as many of each as --devices says",
    )
    group.add_argument(
        "--explain", action="store_true", help="say of each operation where it runs, and why"
    )


def _add_simulate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "simulate", help="what a training step would take on devices that are not here"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="an example's name, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="what one of them is like (default: auto)",
    )
    parser.add_argument("--parallel", choices=("sync", "pipeline"), default="sync")
    parser.add_argument(
        "--devices",
        type=kinds.count,
        nargs="+",
        default=[1, 2, 4, 8],
        metavar="N",
    )
    parser.add_argument(
        "--here",
        action="store_true",
        help="all on this machine, whose memory and cores they share; else each has one of its own",
    )
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples a batch")
    parser.add_argument("--micro-batches", type=kinds.count, metavar="N")
    parser.add_argument("--schedule", choices=("gpipe", "1f1b"))
    parser.add_argument("--collective", choices=("ring", "tree", "central"))
    parser.add_argument(
        "--latency",
        type=kinds.positive,
        default=20.0,
        help="microseconds a message (default: 20)",
    )
    parser.add_argument(
        "--bandwidth",
        type=kinds.positive,
        default=10.0,
        help="GB/s of each device (default: 10)",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=_simulate)


def _add_devices(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("devices", help="list the processors that can do the work")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=_devices)


def _add_tune(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "tune", help="measure which kernels are fastest on a GPU, and remember them"
    )
    parser.add_argument(
        "--device", type=kinds.gpu, default="gpu:0", help="gpu:N (default: %(default)s)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="what each GPU runs, and why")
    instead.add_argument("--forget", action="store_true", help="what was measured of it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=_tune)


def _add_examples(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("examples", help="list the examples")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=_examples)


def _add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "export", help="check a weights file and write it in the other format"
    )
    parser.add_argument("source", metavar="SOURCE", help="a .safetensors or .npz file")
    parser.add_argument(
        "target", type=kinds.weights_file, nargs="?", metavar="TARGET",
        help="what to write; without it the contents are listed",
    )  # fmt: skip
    parser.set_defaults(command=_export)


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("serve", help="serve the page")
    parser.add_argument(
        "--host",
        type=kinds.host,
        default=os.environ.get("HOST") or "127.0.0.1",
        help="address (HOST; %(default)s)",
    )
    parser.add_argument(
        "--port",
        type=kinds.port,
        default=os.environ.get("PORT") or "8000",
        help="port (PORT; %(default)s)",
    )
    parser.set_defaults(command=_serve)


# The commands import what they need themselves, so that `playgrad --help` is quick.


def _train(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
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
    from playgrad.parallel.named import USES

    for name in given:
        if name not in USES[strategy]:
            users = " or ".join(user for user, used in USES.items() if name in used)
            option = name.replace("_", "-")
            parser.error(f"--{option} says nothing with --parallel {strategy}, but with {users}")


def _simulate(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
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


def _devices(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import print_devices

    return print_devices(options.json)


def _tune(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.tune import run_tune

    return run_tune(options)


def _examples(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import print_examples

    return print_examples(options.json)


def _export(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.cli.lists import convert

    return convert(options.source, options.target)


def _serve(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from playgrad.server import serve

    serve(options.host, options.port)
    return 0
