"""The arguments of each command."""

from __future__ import annotations

import argparse

import playgrad
from playgrad.benchmark.speed_run import MEASURED
from playgrad.cli import commands, kinds
from playgrad.cli.cluster_options import add_hosts, add_simulate
from playgrad.cli.file_options import add_export, add_predict
from playgrad.cli.model_options import add_models
from playgrad.cli.page_options import add_serve, add_site, add_watch
from playgrad.cli.parsers import Parsers
from playgrad.cli.shrink_options import add_shrink
from playgrad.cli.sweep_options import add_sweep
from playgrad.cli.train_options import add_train


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. ``options.command`` is the function to call."""
    parser = argparse.ArgumentParser(
        prog="playgrad", description="Train small neural networks on your own GPU or CPU."
    )
    parser.add_argument("--version", action="version", version=f"playgrad {playgrad.__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        add_train, add_predict, add_sweep, add_simulate, add_hosts, _add_devices, _add_tune,
        _add_bench, _add_examples, add_export, add_shrink, add_models, add_serve, add_watch,
        add_site,
    ):  # fmt: skip
        add(parsers)
    return parser


def _add_devices(parsers: Parsers) -> None:
    parser = parsers.add_parser("devices", help="list the devices of this machine")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_devices)


def _add_tune(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "tune", help="measure which kernels are fastest on a GPU, and remember the result"
    )
    parser.add_argument(
        "--device", type=kinds.gpu, default="gpu:0", help="gpu:N (default: %(default)s)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--list", action="store_true", help="print the kernels chosen for each GPU, and why"
    )
    instead.add_argument(
        "--forget", action="store_true", help="delete the measurements of this GPU"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=commands.run_tune)


def _add_bench(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "bench",
        help="measure how fast this machine trains, beside a known card",
        description="Measure how fast this machine trains five small networks and multiplies two "
        "matrices, beside the same rows of a known card. Takes about 20 seconds. Nothing is sent.",
    )
    parser.add_argument(
        "--device",
        action="append",
        type=kinds.device,
        metavar="DEVICE",
        help="cpu, gpu or gpu:N; several times for several (default: a hardware GPU, and cpu)",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=MEASURED,
        help="measure one row; several times for several (default: all)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=commands.run_bench)


def _add_examples(parsers: Parsers) -> None:
    parser = parsers.add_parser("examples", help="list the examples")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_examples)
