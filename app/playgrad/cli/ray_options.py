"""The options for processes on a Ray cluster."""

from __future__ import annotations

import argparse

from playgrad.cli import kinds
from playgrad.errors import DataError
from playgrad.parallel.ray_cluster import Ray


def add_ray_options(parser: argparse._ActionsContainer, process: str) -> None:
    """Add ``--ray`` and what each process takes.

    Args:
        process: what runs in a process: "trial".
    """
    parser.add_argument(
        "--ray", nargs="?", const="local", metavar="ADDRESS",
        help=f"run each {process} on a Ray cluster: auto for that of this machine, or HOST:PORT; "
        "without an address, start Ray here. Needs: pip install 'playgrad[ray]'",
    )  # fmt: skip
    for resource, default in (("cpus", 1), ("gpus", 0)):
        parser.add_argument(
            f"--{process}-{resource}", type=kinds.positive, metavar="N",
            help=f"{resource[:-1].upper()}s that Ray reserves for each {process} "
            f"(default: {default})",
        )  # fmt: skip


def passed_ray(
    options: argparse.Namespace, process: str, parser: argparse.ArgumentParser
) -> Ray | None:
    """Return the cluster that the command line names; end with a usage error if it cannot be."""
    resources = {
        resource: value
        for resource in ("cpus", "gpus")
        if (value := getattr(options, f"{process}_{resource}")) is not None
    }
    if options.ray is None:
        for resource in resources:
            parser.error(f"--{process}-{resource} has no effect without --ray")
        return None
    try:
        return Ray(options.ray, **resources)
    except DataError as error:
        parser.error(str(error))
