"""Brotli copies of large files, made in the background: quickly first, then as small as possible.

Until there is one, browsers get the gzip copy.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sys
import threading
from collections.abc import Iterable

from playgrad import paths
from playgrad.assets import DATA_SETS, PYODIDE, Asset, File
from playgrad.assets.codings import BROTLI, brotli_compressed, compressed, portions_of
from playgrad.assets.contents import DIGESTS
from playgrad.io.whole_files import write_whole
from playgrad.server.pixels import has_packed, pack_images
from playgrad.server.texts import Text

_BEGIN_SECONDS = 20.0
"""After so long the best copies are begun: whoever started the server is using the page."""
_IDLE = 19
_log = logging.getLogger(__name__)


def pack_in_background(library: Text | None = None) -> threading.Thread:
    """Begin to make the copies that are missing or damaged, in a thread that stops at any time.

    Args:
        library: the library's archive, of which there is to be a smaller copy too.
    """
    thread = threading.Thread(target=_pack_all, args=(library,), name="packing", daemon=True)
    thread.start()
    return thread


def _pack_all(library: Text | None) -> None:
    try:
        with open(paths.var() / "packing.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # by the servers of a checkout, one after the other
            pack((PYODIDE, *DATA_SETS.values()), ".br")
            pack_images(DATA_SETS.values())
            if _yield_processor():
                threading.Event().wait(_BEGIN_SECONDS)
                if library is not None:
                    library.pack_best()
                pack((PYODIDE, *DATA_SETS.values()), ".max.br")
    except OSError as error:
        _log.warning("files are sent with gzip, which takes longer: %s", error)


def _yield_processor() -> bool:
    """Have this thread run when nothing else does; return whether the system can do that."""
    if sys.platform != "linux":
        return False
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _IDLE)
    return True


def pack(assets: Iterable[Asset], ending: str) -> None:
    """Make the copies with this ending of the files that assets have, unless they are there.

    Raises:
        OSError: one cannot be written.
    """
    for asset in assets:
        for file in asset.sent:
            if ending == ".max.br" and has_packed(asset.folder() / file.name):
                continue  # minutes, for clients that are no pages
            if file.gzip_level is not None and not _is_packed(asset, file, ending):
                _pack(asset, file, ending)


def _is_packed(asset: Asset, file: File, ending: str) -> bool:
    copy = compressed(asset.folder() / file.name, ending)
    return copy.is_file() and DIGESTS.sha256_unpacked(copy) == file.sha256


def _pack(asset: Asset, file: File, ending: str) -> None:
    path = asset.folder() / file.name
    if file.is_at(path):
        packed = brotli_compressed(portions_of(path), BROTLI[ending])
        write_whole(compressed(path, ending), packed)
