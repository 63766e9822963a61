"""The arguments of each command."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import TypeAlias

import playgrad
from playgrad.cli import commands, kinds
from playgrad.cli.model_options import add_models
from playgrad.cli.ray_options import add_ray_options
from playgrad.cli.shrink_options import add_shrink
from playgrad.cli.strategy_options import add_strategy_options
from playgrad.parallel.schedules import SCHEDULES
from playgrad.training.strategies.registry import STRATEGIES
from playgrad.watching.address import PORT

Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. ``options.command`` is the function to call."""
    parser = argparse.ArgumentParser(
        prog="playgrad", description="Train small neural networks on your own GPU or CPU."
    )
    parser.add_argument("--version", action="version", version=f"playgrad {playgrad.__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_train, _add_predict, _add_sweep, _add_simulate, _add_hosts, _add_devices, _add_tune,
        _add_examples, _add_export, add_shrink, add_models, _add_serve, _add_watch, _add_site,
    ):  # fmt: skip
        add(parsers)
    return parser


def _add_train(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "train", help="run an example or your own program that trains a model"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="name of an example, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="auto, cpu, gpu or gpu:N (default: auto, which is PLAYGRAD_DEVICE or the faster one)",
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


def _add_predict(parsers: Parsers) -> None:
    parser = parsers.add_parser("predict", help="print a saved model's predictions for samples")
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a file that pg.load_model reads, or the folder of --checkpoint",
    )
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="samples: .npy, .npz with one array, .csv, .png, or - for standard input",
    )
    parser.add_argument(
        "--device", type=kinds.device, default="auto", help="auto, cpu, gpu or gpu:N"
    )
    parser.add_argument(
        "--format",
        choices=("table", "json", "csv"),
        default="table",
        help="form of the output (default: table)",
    )
    parser.add_argument(
        "--logits", action="store_true", help="the output is the scores of classes before softmax"
    )
    parser.add_argument(
        "--labels",
        metavar="A,B,C|FILE",
        help="names of the classes in their order, or a file with one in a line",
    )
    parser.add_argument(
        "--top",
        type=kinds.count,
        metavar="N",
        help="number of classes to print, most probable first (default: 3 in a table, else all)",
    )
    _add_sequence_length(parser, "default: that of the samples")
    parser.set_defaults(command=commands.run_predict)


def _add_sequence_length(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--sequence-length",
        type=kinds.sequence_length,
        metavar="N",
        help="the number of steps in each sample, for a file of Keras that leaves it open "
        f"({default})",
    )


def _add_sweep(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "sweep",
        usage="%(prog)s EXAMPLE|FILE [--grid NAME=VALUE,VALUE ...] [--random NAME=LOW..HIGH ...] "
        "[options]",
        help="train a program with many settings, several at the same time",
        description="A setting is a name that the program gives a value at its top level, such as "
        "`lr = 0.1`, or an argument that one call is given by name, such as learning_rate.",
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="name of an example, or a .py file")
    space = parser.add_argument_group("settings")
    space.add_argument(
        "--grid", type=kinds.grid_setting, nargs="+", action="extend", metavar="NAME=VALUE,VALUE",
        help="try all combinations of these values",
    )  # fmt: skip
    space.add_argument(
        "--random", type=kinds.random_setting, nargs="+", action="extend", metavar="NAME=LOW..HIGH",
        help="draw from these ranges (LOW..HIGH:log for orders of magnitude) or values",
    )  # fmt: skip
    space.add_argument("--trials", type=kinds.count, metavar="N", help="number of trials")
    space.add_argument(
        "--seed", type=kinds.at_least(0), default=0, metavar="N",
        help="seed of what is drawn, and of each trial's weights (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--parallel", type=kinds.count, metavar="N",
        help="trials at the same time (default: one for every two cores; with --ray, as many as "
        "the cluster holds)",
    )  # fmt: skip
    add_ray_options(parser, "trial")
    parser.add_argument(
        "--metric", metavar="NAME",
        help="the loss or metric to compare (default: val_loss where there is one, else loss)",
    )  # fmt: skip
    parser.add_argument(
        "--mode", choices=("auto", "min", "max"), default="auto",
        help="which of its values are better (default: auto, which asks the metric)",
    )  # fmt: skip
    parser.add_argument("--epochs", type=kinds.count, metavar="N", help="epochs of each trial")
    parser.add_argument(
        "--halving", type=kinds.at_least(2), nargs="?", const=3, metavar="FACTOR",
        help="end trials early that are not among the best 1/FACTOR (default: 3) after "
        "--first-epochs, FACTOR times as many, and so on",
    )  # fmt: skip
    parser.add_argument(
        "--first-epochs", type=kinds.count, metavar="N",
        help="epochs before the first comparison (default: 1)",
    )  # fmt: skip
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples per batch")
    parser.add_argument(
        "--device", type=kinds.device, default="auto", help="auto, cpu, gpu or gpu:N"
    )
    parser.add_argument(
        "--folder", type=kinds.checkpoint_folder, metavar="DIR",
        help="for the record, the best weights and what each trial prints; a sweep in it is "
        "continued (default: sweep-PROGRAM)",
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", help="print the result as a JSON object on the last line"
    )
    parser.set_defaults(command=commands.run_sweep)


def _add_simulate(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "simulate", help="predict how long a training step takes on more devices"
    )
    parser.add_argument("program", metavar="EXAMPLE|FILE", help="name of an example, or a .py file")
    parser.add_argument(
        "--device",
        type=kinds.device,
        default="auto",
        help="device to measure (default: auto)",
    )
    strategies = [name for name, s in STRATEGIES.items() if s.descriptor.can_be_simulated]
    parser.add_argument("--parallel", choices=strategies, default="sync")
    parser.add_argument(
        "--devices",
        type=kinds.count,
        nargs="+",
        default=[1, 2, 4, 8],
        metavar="N",
        help="numbers of devices to simulate (default: 1 2 4 8)",
    )
    parser.add_argument(
        "--here",
        action="store_true",
        help="devices share the memory and cores of this machine; without it each has its own",
    )
    parser.add_argument("--batch-size", type=kinds.count, metavar="N", help="samples per batch")
    parser.add_argument(
        "--micro-batches", type=kinds.count, metavar="N", help="micro-batches per batch"
    )
    parser.add_argument("--schedule", choices=tuple(SCHEDULES), help="pipeline schedule")
    parser.add_argument(
        "--chunks", type=kinds.count, metavar="N", help="stages on each device, if interleaved"
    )
    parser.add_argument("--replicas", type=kinds.count, metavar="N", help="number of pipelines")
    parser.add_argument(
        "--devices-per-stage", type=kinds.count, metavar="N", help="devices of each stage"
    )
    parser.add_argument(
        "--collective", choices=("ring", "tree", "central"), help="how gradients are added up"
    )
    parser.add_argument(
        "--latency",
        type=kinds.positive,
        default=20.0,
        help="microseconds per message (default: 20)",
    )
    parser.add_argument(
        "--bandwidth",
        type=kinds.positive,
        default=10.0,
        help="GB/s per device (default: 10)",
    )
    parser.add_argument(
        "--links",
        type=kinds.links,
        metavar="FILE",
        help="links and cores as measured by hosts --json, in place of --latency and --bandwidth",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_simulate)


def _add_hosts(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "hosts",
        help="check the machines for train --hosts, and measure the links between them",
        description="Ask each machine for its versions, cores, memory, GPUs and clock, measure the "
        "links between all of them, and say what to mend. The exit code is 1 if there is "
        "something.",
    )
    parser.add_argument(
        "hosts", type=kinds.hosts, metavar="A:N,B:N", help="machines, and processes on each"
    )
    parser.add_argument("--rsh", metavar="COMMAND", help="command in place of ssh")
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object, which simulate --links reads"
    )
    parser.set_defaults(command=commands.run_hosts)


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


def _add_examples(parsers: Parsers) -> None:
    parser = parsers.add_parser("examples", help="list the examples")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    parser.set_defaults(command=commands.run_examples)


def _add_export(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "export", help="check a model's file or its weights, and write it in another format"
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a file that pg.load_model reads, or the folder of --checkpoint",
    )
    parser.add_argument(
        "target", type=kinds.output_file, nargs="?", metavar="TARGET",
        help="file to write, whose ending chooses the format; without it, list the tensors",
    )  # fmt: skip
    parser.add_argument(
        "--format",
        type=kinds.exported_format,
        metavar="NAME",
        help="the format of TARGET by name, such as pytorch, whatever its ending; without TARGET, "
        "write a file beside SOURCE",
    )
    parser.add_argument(
        "--opset",
        type=int,
        metavar="N",
        help="the version of the operators in an ONNX file (default: the lowest that they need)",
    )
    _add_sequence_length(parser, "the file written has this length")
    parser.set_defaults(command=commands.run_export)


def _add_serve(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "serve",
        help="serve the page",
        description="Serve the page. The first run fetches Pyodide and MNIST into the cache, "
        "PLAYGRAD_CACHE or ~/.cache/playgrad. PLAYGRAD_ASSETS names a folder, such as a copy of "
        "that cache, to take them from instead of the network.",
    )
    parser.add_argument(
        "--host",
        type=kinds.host,
        default=os.environ.get("HOST") or "127.0.0.1",
        help="address to listen on (default: HOST, else 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        type=kinds.port,
        default=os.environ.get("PORT") or "8000",
        help="port to listen on (default: PORT, else 8000)",
    )
    parser.add_argument(
        "--allow-host",
        type=kinds.host_name,
        action="append",
        default=[],
        metavar="NAME",
        help="further name by which browsers may call the server, such as that of a reverse "
        "proxy; may be repeated",
    )
    parser.add_argument(
        "--embed-in",
        type=kinds.embedding_site,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="site whose pages may show a program in a frame, such as https://school.example; may "
        "be repeated; 'none' for no site (default: any)",
    )
    parser.add_argument(
        "--docs-command",
        type=shlex.split,
        default=[],
        metavar="COMMAND",
        help="builds the documentation while the page is served already; it should end when its "
        "standard input does",
    )
    parser.set_defaults(command=commands.run_serve)


def _add_watch(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "watch",
        help="show a training that runs elsewhere",
        description="Show a training in the page: its curves, its output and the times of a step. "
        "The training must have been started by `playgrad train --watch`, which prints the "
        "address.",
    )
    parser.add_argument(
        "address",
        type=kinds.watch_address,
        metavar="HOST[:PORT][#TOKEN]",
        help=f"where the training runs (default port: {PORT}); https:// for one behind a proxy",
    )
    parser.add_argument(
        "--token-file",
        type=kinds.token_file,
        dest="token",
        metavar="FILE",
        help="file with the token, which other users of this machine could see in the address",
    )
    parser.add_argument(
        "--port", type=kinds.port, default=8001, help="port of the page (default: 8001)"
    )
    parser.set_defaults(command=commands.run_watch)


def _add_site(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "site",
        help="write the page as files for a static host",
        description="Write the page as files for any host that serves files over https, at any "
        "path, such as GitHub Pages or the web space of a school. Nothing needs to be set there: "
        "the page's service worker adds the headers. An earlier version in OUT is replaced.",
    )
    parser.add_argument("out", metavar="OUT", type=Path, help="folder to write")
    parser.add_argument(
        "--lite",
        action="store_true",
        help="leave out the documentation, Fashion-MNIST and files that speed up later visits",
    )
    parser.add_argument(
        "--packages",
        action="store_true",
        help="add matplotlib, pandas and Pillow, which programs may import: 15 MB that a visitor "
        "fetches only for such a program",
    )
    parser.set_defaults(command=commands.run_site)
