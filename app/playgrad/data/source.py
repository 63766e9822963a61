"""Where data sets come from. The core does no I/O of its own: a host says how bytes are had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from playgrad import paths
from playgrad.errors import DataError

Source = Callable[[str], bytes | memoryview]
"""From the name of a file (``mnist/train-images``) to its bytes, plain or gzip-compressed."""

# The names that addresses use, and those of the original distribution.
FILES = {
    "mnist/train-images": "mnist/train-images-idx3-ubyte",
    "mnist/train-labels": "mnist/train-labels-idx1-ubyte",
    "mnist/test-images": "mnist/t10k-images-idx3-ubyte",
    "mnist/test-labels": "mnist/t10k-labels-idx1-ubyte",
}


def read_from_files(name: str) -> bytes:
    """The file of the data folder that holds ``name``, plain or ending in ``.gz``.

    Raises:
        DataError: it is not there.
    """
    path = paths.var() / PurePosixPath(FILES.get(name, name))
    for candidate in (path, path.with_name(f"{path.name}.gz")):
        if candidate.is_file():
            return candidate.read_bytes()
    raise DataError(
        f"the data set file {path.name} is not in {path.parent}.", hint="Run `make setup`."
    )


_source: Source = read_from_files


def set_source(source: Source) -> Source:
    """Let data sets come from ``source`` and return what they came from before."""
    global _source
    before, _source = _source, source
    return before


def read(name: str) -> bytes | memoryview:
    """The bytes of the data set file ``name``."""
    return _source(name)
