"""Types of the command line's arguments: texts to values, or words on what is wrong with them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path

from playgrad.errors import CheckpointError
from playgrad.io.weights import format_of


def at_least(least: int) -> Callable[[str], int]:
    """Return the type of whole numbers of at least ``least``."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
        return int(text)

    return number


count = at_least(1)


def positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def host(text: str) -> str:
    if not text:
        # It would mean every address of the machine.
        raise argparse.ArgumentTypeError("no address is given; 0.0.0.0 stands for all of them")
    return text


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port number")
    return int(text)


def device(text: str) -> str:
    if not re.fullmatch(r"auto|cpu|gpu(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is none of auto, cpu, gpu, gpu:N")
    return text


def device_kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if not set(kinds) <= {"cpu", "gpu"}:
        raise argparse.ArgumentTypeError(f"{text!r} is none of cpu, gpu, and cpu,gpu")
    return kinds


def gpu(text: str) -> str:
    if not re.fullmatch(r"gpu(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither gpu nor gpu:N")
    return text


def output_file(text: str) -> Path:
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written")
    return path


def weights_file(text: str) -> Path:
    path = output_file(text)
    try:
        format_of(path)
    except CheckpointError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return path
