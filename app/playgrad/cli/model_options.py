"""The arguments of ``playgrad models``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from playgrad.cli import commands, kinds
from playgrad.cli.parsers import Parsers
from playgrad.cli.ray_options import add_ray_options

_FOLDER = Path("models")


def add_models(parsers: Parsers) -> None:
    """Add the command ``models`` and its own commands."""
    parser = parsers.add_parser(
        "models",
        help="keep versions of trained models in a folder, and serve them",
        description="Keep versions of trained models in a folder, and serve them over HTTP.",
    )
    inner = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (_add_add, _add_list, _add_serve, _add_rollback, _add_set):
        add(inner)


def _between(
    least: float, most: float, kind: Callable[[str], float] = int
) -> Callable[[str], float]:
    """Return the type of numbers from ``least`` to ``most``."""

    def number(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r:.50} is not from {least:,} to {most:,}")
        return value

    return number


_version = _between(1, 999_999_999)


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise argparse.ArgumentTypeError(f"{text!r:.100} is not NAME=VALUE")
    return name, value


def _label(text: str) -> tuple[str, int]:
    name, value = _assignment(text)
    return name, int(_version(value))


def _share(text: str) -> tuple[str, float]:
    name, value = _assignment(text)
    return name, _between(0, 1, float)(value)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder",
        type=Path,
        default=_FOLDER,
        metavar="DIR",
        help=f"the folder of the models (default: ./{_FOLDER})",
    )


def _add_add(parsers: Parsers) -> None:
    parser = parsers.add_parser("add", help="add a new version of a model")
    parser.add_argument("name", metavar="NAME", help="the name of the model")
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that pg.load_model reads")
    parser.add_argument(
        "--allow-new-signature",
        action="store_true",
        help="its inputs and outputs may differ from those of the version before it",
    )
    _add_folder(parser)
    parser.set_defaults(command=commands.run_models_add)


def _add_list(parsers: Parsers) -> None:
    parser = parsers.add_parser("list", help="list the models and their versions")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    _add_folder(parser)
    parser.set_defaults(command=commands.run_models_list)


def _add_rollback(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "rollback",
        help="go back to an earlier version",
        description="Withdraw the latest version, so that the one before it is served. A version "
        "that is added later is served again.",
    )
    parser.add_argument("name", metavar="NAME", help="the name of the model")
    parser.add_argument(
        "--to", type=_version, metavar="N",
        help="the version to serve, also one that was withdrawn (default: the one before)",
    )  # fmt: skip
    _add_folder(parser)
    parser.set_defaults(command=commands.run_models_rollback)


def _add_set(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "set", help="choose the versions of a model to serve, and who gets which"
    )
    parser.add_argument("name", metavar="NAME", help="the name of the model")
    parser.add_argument(
        "--policy", choices=("latest", "all"), help="serve the latest version, or all of them"
    )
    parser.add_argument(
        "--versions", type=_version, nargs="+", metavar="N", help="serve these versions"
    )
    parser.add_argument(
        "--label", type=_label, action="append", default=[], metavar="LABEL=N",
        help="give a version a label; the one labelled stable answers requests that name none",
    )  # fmt: skip
    parser.add_argument(
        "--share", type=_share, action="append", default=[], metavar="LABEL=SHARE",
        help="have a label answer a share, from 0 to 1, of the requests that name no version",
    )  # fmt: skip
    parser.add_argument(
        "--remove-label", action="append", default=[], metavar="LABEL", help="remove a label"
    )
    _add_folder(parser)
    parser.set_defaults(command=commands.run_models_set)


def _add_serve(parsers: Parsers) -> None:
    parser = parsers.add_parser(
        "serve",
        help="serve the models in a folder",
        description="Serve the models in a folder over HTTP, by the interfaces of TensorFlow "
        "Serving and of the Open Inference Protocol. Versions are taken up as they are added.",
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", default=_FOLDER, metavar="DIR",
        help=f"the folder of the models (default: ./{_FOLDER})",
    )  # fmt: skip
    parser.add_argument(
        "--host", type=kinds.host, default=os.environ.get("HOST") or "127.0.0.1",
        help="address to listen on; one of other machines needs --token-file (default: HOST, else "
        "127.0.0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=kinds.port, default=os.environ.get("PORT") or "8501",
        help="port to listen on (default: PORT, else 8501)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", type=kinds.host_name, action="append", default=[], metavar="NAME",
        help="further name by which clients may call the server; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE",
        help="tokens, one in a line, of which each request needs one",
    )  # fmt: skip
    parser.add_argument(
        "--device", type=kinds.device, default="auto", help="auto, cpu, gpu or gpu:N"
    )
    parser.add_argument(
        "--allow-new-signature", action="store_true",
        help="take up versions whose inputs or outputs differ from the version before",
    )  # fmt: skip
    parser.add_argument(
        "--poll-seconds", type=_between(0.01, 3600, float), default=1.0, metavar="S",
        help="seconds between two looks at the folder (default: 1)",
    )  # fmt: skip
    parser.add_argument("--no-access-log", action="store_true", help="log no requests")
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--max-batch", type=_between(1, 1024), default=32, metavar="N",
        help="samples in a run (default: %(default)s); 1 computes each request by itself",
    )  # fmt: skip
    group.add_argument(
        "--batch-timeout-ms", type=_between(0, 10_000, float), default=0.0, metavar="MS",
        help="how long a request waits for others, when none is being computed (default: 0)",
    )  # fmt: skip
    group.add_argument(
        "--max-queue", type=_between(1, 100_000), default=256, metavar="N",
        help="waiting requests of a version; others get status 503 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-body", type=_between(1, 1024), default=16, metavar="MiB",
        help="size of a request (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-instances", type=_between(1, 1_000_000), default=1024, metavar="N",
        help="samples of a request (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--request-seconds", type=_between(0.1, 3600, float), default=30.0, metavar="S",
        help="seconds to receive a request, and again to answer it (default: 30)",
    )  # fmt: skip
    group.add_argument(
        "--max-connections", type=_between(1, 100_000), default=1000, metavar="N",
        help="connections at the same time (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("several processes, or several machines")
    add_ray_options(group, "replica")
    group.add_argument(
        "--replicas", type=_between(1, 1000), metavar="N",
        help="processes that answer, each with all models (default: 2 with --ray)",
    )  # fmt: skip
    parser.set_defaults(command=commands.run_models_serve)
