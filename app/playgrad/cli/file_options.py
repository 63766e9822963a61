"""The arguments of ``playgrad predict`` and ``playgrad export``, which read a model from a file."""

from __future__ import annotations

import argparse

from playgrad.cli import commands, kinds
from playgrad.cli.parsers import Parsers


def add_predict(parsers: Parsers) -> None:
    """Add the command ``predict``."""
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


def add_export(parsers: Parsers) -> None:
    """Add the command ``export``."""
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


def _add_sequence_length(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--sequence-length",
        type=kinds.sequence_length,
        metavar="N",
        help="the number of steps in each sample, for a file of Keras that leaves it open "
        f"({default})",
    )
