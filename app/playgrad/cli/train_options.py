"""The arguments of ``playgrad train``."""

from __future__ import annotations

import argparse

from playgrad.cli import commands, kinds
from playgrad.cli.parsers import Parsers
from playgrad.cli.ray_options import add_ray_options
from playgrad.cli.strategy_options import add_strategy_options
from playgrad.graph.graph import PRECISIONS
from playgrad.watching.address import PORT


def add_train(parsers: Parsers) -> None:
    """Add the command ``train``."""
    parser = parsers.add_parser(
        "train", help="run an example or your own program that trains a model"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="name of an example, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="auto, cpu, gpu, gpu:N, or reference for NumPy alone (default: auto, which is "
        "PLAYGRAD_DEVICE or the faster one)",
    )
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="mixed: float16 operands of matrix products and convolutions (default: the program's)",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=kinds.count, metavar="N", help="number of epochs")
    length.add_argument(
        "--steps", type=kinds.count, metavar="N", help="number of steps, instead of epochs"
    )
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples per batch")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed for weights, shuffling and dropout"
    )
    _add_parallel(parser)
    parser.add_argument(
        "--export",
        type=kinds.exported_file,
        metavar="FILE",
        help="write the model (.onnx, .keras, .pt.zip, .py, .html) or its weights (.safetensors, "
        ".npz)",
    )
    _add_checkpoints(parser)
    _add_watching(parser)
    parser.add_argument(
        "--trace",
        type=kinds.output_file,
        metavar="FILE",
        help="write a trace of one step for Chrome's tracing view",
    )
    parser.add_argument(
        "--report",
        type=kinds.output_file,
        metavar="FILE",
        help="write the run as one HTML file: settings, curves, weights, and the times of a step",
    )
    parser.add_argument(
        "--doctor", action="store_true", help="say what is wrong with the training, and what helps"
    )
    parser.add_argument(
        "--json", action="store_true", help="print the result as a JSON object on the last line"
    )
    parser.set_defaults(command=commands.run_train)


def _add_checkpoints(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("checkpoints")
    group.add_argument(
        "--checkpoint",
        type=kinds.checkpoint_folder,
        metavar="DIR",
        help="save the state of the training in this folder, also when it is interrupted",
    )
    group.add_argument(
        "--checkpoint-every",
        type=kinds.count,
        metavar="N",
        help="save it every N steps (default: every 8 s); in short --every, except with a strategy "
        "that has an option of this name",
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help="continue from the last checkpoint in the folder; without one, train from the start",
    )


def _add_watching(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("watching")
    group.add_argument(
        "--watch",
        type=kinds.watch_place,
        nargs="?",
        const=kinds.watch_place(str(PORT)),
        metavar="[ADDRESS:]PORT",
        help="let `playgrad watch` show this training, on this machine or through a tunnel "
        f"(default: 127.0.0.1:{PORT}); on another address, others can reach it",
    )
    group.add_argument(
        "--token-file",
        type=kinds.token_file,
        dest="token",
        metavar="FILE",
        help="file with the token that `playgrad watch` must know (default: a new one, which is "
        "printed)",
    )


def _add_parallel(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several devices")
    add_strategy_options(group)
    add_ray_options(group, "replica")
    group.add_argument(
        "--placement",
        choices=("auto",),
        help="divide a step among devices where a cost model predicts that it is faster",
    )
    group.add_argument(
        "--device-kinds",
        type=kinds.device_kinds,
        metavar="KINDS",
        help="device kinds for --placement, such as cpu,gpu, with --devices of each",
    )
    group.add_argument(
        "--hosts",
        type=kinds.hosts,
        metavar="A:N,B:N",
        help="train with N processes on each of these machines, each with a device of its own "
        "(default strategy: --parallel sync)",
    )
    group.add_argument(
        "--rsh", metavar="COMMAND", help="command in place of ssh to start processes with --hosts"
    )
    group.add_argument(
        "--explain", action="store_true", help="print where each operation runs, and why"
    )
