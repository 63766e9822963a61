"""The arguments of each command."""

from __future__ import annotations

import argparse
import os
from typing import TypeAlias

import playgrad
from playgrad.cli import commands, kinds
from playgrad.cli.strategy_options import add_strategy_options
from playgrad.training.strategies.registry import STRATEGIES

Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def make_parser() -> argparse.ArgumentParser:
    """The parser of all of them; what it gives has the ``command`` to call, of `commands`."""
    parser = argparse.ArgumentParser(
        prog="playgrad", description="Train small neural networks on your own processor."
    )
    parser.add_argument("--version", action="version", version=f"playgrad {playgrad.__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_train, _add_simulate, _add_devices, _add_tune, _add_examples, _add_export, _add_serve,
    ):  # fmt: skip
        add(parsers)
    return parser


def _add_train(parsers: Parsers) -> None:
    parser = parsers.add_parser(
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
    parser.set_defaults(command=commands.run_train)


def _add_parallel(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several devices")
    add_strategy_options(group)
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


def _add_simulate(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "simulate", help="what a training step would take on devices that are not here"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="an example's name, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="what one of them is like (default: auto)",
    )
    strategies = [name for name, s in STRATEGIES.items() if s.descriptor.can_be_simulated]
    parser.add_argument("--parallel", choices=strategies, default="sync")
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
    parser.set_defaults(command=commands.run_simulate)


def _add_devices(parsers: Parsers) -> None:
    parser = parsers.add_parser("devices", help="list the processors that can do the work")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_devices)


def _add_tune(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "tune", help="measure which kernels are fastest on a GPU, and remember them"
    )
    parser.add_argument(
        "--device", type=kinds.gpu, default="gpu:0", help="gpu:N (default: %(default)s)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="what each GPU runs, and why")
    instead.add_argument("--forget", action="store_true", help="what was measured of it")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=commands.run_tune)


def _add_examples(parsers: Parsers) -> None:
    parser = parsers.add_parser("examples", help="list the examples")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_examples)


def _add_export(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "export", help="check a weights file and write it in the other format"
    )
    parser.add_argument("source", metavar="SOURCE", help="a .safetensors or .npz file")
    parser.add_argument(
        "target", type=kinds.weights_file, nargs="?", metavar="TARGET",
        help="what to write; without it the contents are listed",
    )  # fmt: skip
    parser.set_defaults(command=commands.run_export)


def _add_serve(parsers: Parsers) -> None:
    parser = parsers.add_parser("serve", help="serve the page")
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
    parser.set_defaults(command=commands.run_serve)
