"""The source of data sets. The library does no I/O here: a host sets how to load bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from playgrad import paths
from playgrad.errors import DataError

Source = Callable[[str], bytes | memoryview]
"""A function from the name of a file (``mnist/train-images``) to its bytes, plain or gzipped."""

# Names in URLs, and names of the original files.
_PARTS = {
    "train-images": "train-images-idx3-ubyte",
    "train-labels": "train-labels-idx1-ubyte",
    "test-images": "t10k-images-idx3-ubyte",
    "test-labels": "t10k-labels-idx1-ubyte",
}
_FOLDERS = {"mnist": "mnist", "fashion_mnist": "fashion-mnist"}
FILES = {
    f"{data_set}/{part}": f"{folder}/{file}"
    for data_set, folder in _FOLDERS.items()
    for part, file in _PARTS.items()
}


def read_from_files(name: str) -> bytes:
    """Return the bytes of ``name`` from a file in the data folder, plain or ending in ``.gz``.

    MNIST and Fashion-MNIST are fetched on first use, and again if a file is damaged
    (``playgrad.assets``). Their contents are checked against their known SHA-256, once for each
    version of a file.

    Raises:
        DataError: there is no such file, or it is damaged, and it cannot be fetched.
    """
    path = paths.var() / PurePosixPath(FILES.get(name, name))
    candidates = (path, path.with_name(f"{path.name}.gz"))
    if name not in FILES:
        usable = next((each for each in candidates if each.is_file()), None)
    else:
        usable = _undamaged(*candidates)
        if usable is None:
            _fetch(path.parent.name, [each for each in candidates if each.is_file()])
            usable = _undamaged(*candidates)
    if usable is None:
        raise DataError(f"the data set file {path.name} is not in {path.parent}.")
    return usable.read_bytes()


# `playgrad.assets` is imported only in these functions, and never in the browser, where the page
# sets another source.
def _undamaged(path: Path, packed: Path) -> Path | None:
    """Return a file of an asset, or its gzip-compressed form, whichever has the right content."""
    from playgrad.assets import DATA_SETS
    from playgrad.assets.contents import DIGESTS

    file = DATA_SETS[path.parent.name].pinned[path.name]
    if file.is_at(path):
        return path
    if packed.is_file() and DIGESTS.sha256_unpacked(packed) == file.sha256:
        return packed
    return None


def _fetch(folder: str, damaged: Sequence[Path]) -> None:
    from playgrad.assets import DATA_SETS, DownloadError, fetch

    asset = DATA_SETS[folder]
    try:
        fetch(asset)
    except DownloadError as error:
        if not damaged:
            raise DataError(error.message, hint=error.hint) from None
        raise DataError(
            f"{damaged[0]} is damaged: its content is not that of {asset.title}. To replace it, "
            f"playgrad tried to fetch it again: {error.message}",
            hint=f"{error.hint} Each run tries again, and so does `playgrad serve`.",
        ) from None


_source: Source = read_from_files


def set_source(source: Source) -> Source:
    """Load data sets from ``source`` from now on, and return the previous source."""
    global _source
    before, _source = _source, source
    return before


def read(name: str) -> bytes | memoryview:
    """Return the bytes of the data set file ``name``."""
    return _source(name)
