"""The source of data sets. The library does no I/O here: a host sets how to load bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from playgrad import paths
from playgrad.errors import DataError

Source = Callable[[str], bytes | memoryview]
"""A function from the name of a file (``mnist/train-images``) to its bytes, plain or gzipped."""

# Names in URLs, and names of the original files.
FILES = {
    "mnist/train-images": "mnist/train-images-idx3-ubyte",
    "mnist/train-labels": "mnist/train-labels-idx1-ubyte",
    "mnist/test-images": "mnist/t10k-images-idx3-ubyte",
    "mnist/test-labels": "mnist/t10k-labels-idx1-ubyte",
}


def read_from_files(name: str) -> bytes:
    """Return the bytes of ``name`` from a file in the data folder, plain or ending in ``.gz``.

    MNIST is fetched on first use (``playgrad.assets``).

    Raises:
        DataError: there is no such file, and it cannot be fetched.
    """
    path = paths.var() / PurePosixPath(FILES.get(name, name))
    candidates = (path, path.with_name(f"{path.name}.gz"))
    if name in FILES and not any(candidate.is_file() for candidate in candidates):
        _fetch_mnist()
    for candidate in candidates:
        if candidate.is_file():
            return candidate.read_bytes()
    raise DataError(f"the data set file {path.name} is not in {path.parent}.")


def _fetch_mnist() -> None:
    # Only here, and never in the browser, where the page sets another source.
    from playgrad.assets import MNIST, DownloadError, fetch

    try:
        fetch(MNIST)
    except DownloadError as error:
        raise DataError(error.message, hint=error.hint) from None


_source: Source = read_from_files


def set_source(source: Source) -> Source:
    """Load data sets from ``source`` from now on, and return the previous source."""
    global _source
    before, _source = _source, source
    return before


def read(name: str) -> bytes | memoryview:
    """Return the bytes of the data set file ``name``."""
    return _source(name)
