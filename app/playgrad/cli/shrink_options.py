"""The arguments of ``playgrad shrink``."""

from __future__ import annotations

import argparse
from pathlib import Path

from playgrad.cli import kinds
from playgrad.cli.parsers import Parsers


def add_shrink(parsers: Parsers) -> None:
    """Add the command ``shrink``."""
    parser = parsers.add_parser(
        "shrink",
        help="make a trained model smaller: prune, cluster and quantize it",
        description="Make a trained model smaller, and print what that costs. Weights are pruned, "
        "then clustered, then rounded. --epochs trains the model after each of the first two.",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a file that pg.load_model reads, or the folder of --checkpoint",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=kinds.exported_file,
        metavar="FILE",
        help="file to write, whose ending chooses the format; .c and .tflite need --int8 or --int4",
    )
    form = parser.add_mutually_exclusive_group()
    for name, text in (
        ("int8", "compute with 8-bit integers"),
        ("int4", "the same with 4-bit weights"),
        ("float16", "round weights to 16 bits; the network computes in float32"),
    ):
        form.add_argument(f"--{name}", action="store_const", const=name, dest="form", help=text)
    parser.add_argument(
        "--sparsity", type=_share, metavar="S", help="part of the weights to set to 0, such as 0.9"
    )
    parser.add_argument(
        "--structured",
        action="store_true",
        help="have --sparsity remove whole units and channels",
    )
    parser.add_argument(
        "--clusters",
        type=_clusters,
        metavar="N",
        help="number of values that the weights of a layer share, up to 256",
    )
    parser.add_argument(
        "--data",
        metavar="NAME|FILE",
        help="data set, such as mnist, or an .npz file with x_train, y_train, x_test and y_test; "
        "needed for --int8, --int4 and --epochs. Accuracy is that on its test data",
    )
    parser.add_argument(
        "--epochs", type=kinds.count, metavar="N", help="epochs to train after each change"
    )
    parser.add_argument(
        "--batch-size", type=kinds.count, default=64, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print the report as a JSON object")
    parser.set_defaults(command=run_shrink)


def run_shrink(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Report wrong usage, or run the command."""
    if options.form is None and options.sparsity is None and options.clusters is None:
        parser.error("nothing to do: add --int8, --int4, --float16, --sparsity S or --clusters N")
    if options.structured and options.sparsity is None:
        parser.error("--structured has no effect without --sparsity S")
    if options.data is None:
        needing = [f"--{options.form}"] if options.form in ("int8", "int4") else []
        needing += ["--epochs"] if options.epochs is not None else []
        if needing:
            parser.error(f"{needing[0]} needs --data NAME|FILE")
    if options.epochs is not None and options.sparsity is None and options.clusters is None:
        parser.error("--epochs has no effect without --sparsity S or --clusters N")
    if options.output is not None and options.output.resolve() == Path(options.source).resolve():
        parser.error("-o FILE is SOURCE itself: write the smaller model to another file")
    from playgrad.cli.shrink import shrink
    from playgrad.signals import signals

    signals.begin_work()
    return shrink(options)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.50} is not from 0 to below 1")
    return value


def _clusters(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"{text!r:.50} is not a whole number from 1 to 256")
    return int(text)
