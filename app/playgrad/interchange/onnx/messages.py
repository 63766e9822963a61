"""The message classes of ONNX: from the onnx package, or from an archive without it.

The archive has them with protobuf in pure Python; ``tools/setup/onnx_messages.py`` makes it. It is
among the files of the page, from where the page fetches it when a program needs it.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from playgrad import paths
from playgrad.errors import PlaygradError

NAME = "onnx-messages.zip"
"""The archive, in the folder ``static/vendor``."""

Archive = Callable[[], Path]
"""A function that returns the path of the archive. It raises an OSError if there is none."""


class _UnavailableError(Exception):
    """The message classes cannot be loaded; the arguments are a sentence and a hint."""


def messages(error: type[PlaygradError]) -> Any:
    """Return the module with the message classes of ONNX.

    Raises:
        PlaygradError: they cannot be loaded; it has the type ``error``.
    """
    try:
        return _messages()
    except _UnavailableError as reason:
        message, hint = reason.args
        raise error(message, hint=hint) from None


def set_archive(archive: Archive) -> Archive:
    """Take the archive from another place from now on, and return the previous function."""
    global _archive
    before, _archive = _archive, archive
    _messages.cache_clear()
    return before


def in_this_installation() -> Path:
    """Return the path of the archive that came with playgrad."""
    path = paths.static() / "vendor" / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{NAME} is missing in this installation of playgrad")
    return path


_archive: Archive = in_this_installation


@functools.cache
def _messages() -> ModuleType:
    try:
        # First: the same messages cannot be registered a second time from another version.
        return importlib.import_module("onnx.onnx_ml_pb2")
    except ImportError:
        pass
    try:
        path = str(_archive())
    except OSError as problem:
        raise _UnavailableError(
            f"playgrad's part for ONNX files cannot be loaded: {problem}.",
            "Try again once that is mended, or install the package onnx.",
        ) from None
    if path not in sys.path:
        sys.path.append(path)  # at the end: a protobuf that is installed is faster
    try:
        return importlib.import_module("onnx_ml_pb2")
    except Exception as problem:  # protobuf has errors of its own about versions
        raise _UnavailableError(
            f"ONNX files cannot be read or written with the installed protobuf: {problem}",
            'Update it: pip install "protobuf>=6.31.1"',
        ) from None
