"""Types of the command line's arguments: they convert text to a value, or raise an error."""

from __future__ import annotations

import argparse
import ast
import os
import re
from collections.abc import Callable
from pathlib import Path

from playgrad.cluster.hosts import HostSlots, parse_hosts
from playgrad.cluster.saved_links import SavedLinks, read_links
from playgrad.devices.kinds import KINDS
from playgrad.errors import CheckpointError, DataError
from playgrad.interchange.bounds import MOST_STEPS
from playgrad.sweeps.space import Between, Value, checked
from playgrad.watching.address import WatchAddress, read_token


def at_least(least: int) -> Callable[[str], int]:
    """Return the type of whole numbers of at least ``least``."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return number


count = at_least(1)


def sequence_length(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= MOST_STEPS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_STEPS:,}")
    return int(text)


def positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def hosts(text: str) -> list[HostSlots]:
    try:
        return parse_hosts(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}") from None


def links(text: str) -> SavedLinks:
    try:
        return read_links(Path(text))
    except DataError as error:
        raise argparse.ArgumentTypeError(f"{error}") from None


def host(text: str) -> str:
    if not text:
        # An empty address would listen on all addresses of the machine.
        raise argparse.ArgumentTypeError("the address is empty; use 0.0.0.0 for all addresses")
    return text


def host_name(text: str) -> str:
    from playgrad.server.hosts import Hosts  # loads the server's libraries

    try:
        Hosts.of("", [text])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def embedding_site(text: str) -> str:
    from playgrad.server.embedding import FramePolicy  # loads the server's libraries

    try:
        FramePolicy.of([text])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number (0 to 65535)")
    return int(text)


def watch_place(text: str) -> tuple[str, int]:
    """An address and a port to listen on: ``8765``, ``0.0.0.0:8765`` or ``[::1]:8765``."""
    address, colon, number = text.rpartition(":")
    is_named = re.fullmatch(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]", address)
    if (colon and not is_named) or not number.isdecimal() or int(number) > 65535:
        raise argparse.ArgumentTypeError(
            f"{text!r:.200} is not PORT or ADDRESS:PORT; the program's name comes before --watch"
        )
    return address.strip("[]") or "127.0.0.1", int(number)


def watch_address(text: str) -> WatchAddress:
    try:
        return WatchAddress.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def token_file(text: str) -> str:
    """The token in a file."""
    try:
        return read_token(Path(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def device(text: str) -> str:
    if not re.fullmatch(rf"auto|({'|'.join(KINDS)})(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of auto, {', '.join(KINDS)}, gpu:N")
    return text


def device_kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    offered = [kind.name for kind in KINDS.values() if kind.is_offered]
    if not set(kinds) <= set(offered):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(offered)} and cpu,gpu")
    return kinds


def gpu(text: str) -> str:
    if not re.fullmatch(r"gpu(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not gpu or gpu:N")
    return text


def grid_setting(text: str) -> tuple[str, list[Value]]:
    """A setting and its values: ``units=32,64``."""
    name, _, values = text.partition("=")
    texts = values.split(",")
    if not name.isidentifier() or not all(texts):
        raise argparse.ArgumentTypeError(f"{text!r:.200} is not NAME=VALUE,VALUE")
    try:
        return name, checked(name, map(_value, texts))
    except DataError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def random_setting(text: str) -> tuple[str, Between | list[Value]]:
    """A setting and its range, ``units=32..512`` or ``lr=1e-4..1e-1:log``, or its values."""
    name, _, values = text.partition("=")
    span = re.fullmatch(r"(.+)\.\.(.+?)(:log)?", values)
    if span is None or not name.isidentifier():
        return grid_setting(text)
    low, high = _value(span[1]), _value(span[2])
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float):
            raise argparse.ArgumentTypeError(f"{text!r:.200} is not NAME=NUMBER..NUMBER")
    try:
        return name, Between(low, high, log=span[3] is not None)  # type: ignore[arg-type]
    except DataError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _value(text: str) -> Value:
    """Return what a literal of Python says; any other text is itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if value is None or isinstance(value, bool | int | float | str) else text


def output_file(text: str) -> Path:
    path = Path(text)
    _check_name(text)
    folder = os.path.dirname(os.path.realpath(text))  # links are followed when it is written
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(f"the folder {folder!r:.200} does not exist")
    if os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text!r} is a folder")
    if not os.access(text if os.path.exists(text) else folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text!r} is not writable")
    return path


def checkpoint_folder(text: str) -> Path:
    """A folder, which is created before the training."""
    path = Path(text)
    _check_name(text)
    if os.path.lexists(text) and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    existing = next(each for each in (path, *path.absolute().parents) if os.path.exists(each))
    if not os.access(existing, os.W_OK):
        raise argparse.ArgumentTypeError(f"{str(existing)!r} is not writable")
    return path


def _check_name(text: str) -> None:
    """Raise an error if there can be no file of this name."""
    try:
        os.stat(text)
    except FileNotFoundError:
        pass
    except OSError as error:  # too long, or below a file
        raise argparse.ArgumentTypeError(f"{text!r:.200}: {error.strerror}") from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r:.200}: {error}") from None


def exported_file(text: str) -> Path:
    """A file to write, whose ending names a format of `playgrad.interchange`."""
    path = output_file(text)
    _expect_format(path)
    return path


def exported_format(text: str) -> str:
    """The name of a format of `playgrad.interchange`."""
    _expect_format("", text)
    return text


def _expect_format(path: str | Path, name: str | None = None) -> None:
    from playgrad.interchange.formats import format_of

    try:
        format_of(path, name)
    except CheckpointError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
