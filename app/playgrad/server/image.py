"""Images of Python's memory with NumPy and the library imported: pages restore one to start fast.

``static/engine/make-image.mjs`` makes them in Node. They are cached in `paths.var`, and made by one
process at a time: several servers of a checkout need the same image.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import logging
import struct
import subprocess
import threading
import time
import zipfile
from io import BytesIO
from pathlib import Path
from typing import IO

from playgrad import paths
from playgrad.assets import PYODIDE
from playgrad.assets.codings import CODINGS, brotli_compressed, compressed
from playgrad.assets.contents import DIGESTS
from playgrad.assets.node import node_environment
from playgrad.assets.pins import NUMPY_FOR_PROGRAMS
from playgrad.io.whole_files import write_whole
from playgrad.server.bundle import BundleCache
from playgrad.server.texts import Text

_SITE = "/lib/python3.14/site-packages"
_TIMEOUT_SECONDS = 120
_MOST_IMAGES = 8
# Of Brotli: an image is made anew whenever the library has changed.
_QUALITY = 5
_RETRY_SECONDS = 60
_log = logging.getLogger(__name__)


class ImageError(Exception):
    """An image cannot be made; the message says why."""


class ImageCache:
    """Caches the image of the library's current files."""

    def __init__(self, bundles: BundleCache) -> None:
        self.bundles = bundles
        self._lock = threading.Lock()
        self._working: threading.Thread | None = None
        self._failed: tuple[Path | None, float] = (None, 0.0)
        self._logged: str | None = None

    def get(self) -> Path | None:
        """Return the image, or None while a thread makes it in the background.

        After a failure there is another attempt for other files of the library, or a minute later.
        """
        path = _path(self.bundles.get())
        if _is_whole(path):
            return path
        with self._lock:
            is_working = self._working is not None and self._working.is_alive()
            failed, again = self._failed
            if not is_working and (path != failed or time.monotonic() > again):
                self._working = threading.Thread(target=self._try, args=(path,), daemon=True)
                self._working.start()
        return None

    def make(self) -> Path:
        """Return the image, making it if necessary.

        Raises:
            ImageError: Node or Pyodide is missing, or the library cannot be imported.
        """
        bundle = self.bundles.get()
        path = _path(bundle)
        if not _is_whole(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path.with_name(".lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not _is_whole(path):  # another process may have made it meanwhile
                    _write(path, _make(bundle, lock))
        return path

    def _try(self, path: Path) -> None:
        try:
            self.make()
        except (ImageError, OSError) as error:
            self._failed = path, time.monotonic() + _RETRY_SECONDS
            if str(error) != self._logged:
                self._logged = str(error)
                _log.warning(
                    "pages start more slowly, without an image of Python's memory: %s", error
                )


def _path(bundle: Text) -> Path:
    # Python in an image remembers where in the archives the modules are.
    digest = hashlib.sha256(f"{bundle.sha256} {PYODIDE.fingerprint}".encode())
    for name in ("make-image.mjs", "image-making.js", "image.js"):
        digest.update(_script().with_name(name).read_bytes())
    return paths.var() / "images" / f"{digest.hexdigest()[:32]}.bin"


def _digest_file(path: Path) -> Path:
    """The file with the SHA-256 of an image."""
    return path.with_suffix(".sha256")


def _is_whole(path: Path) -> bool:
    """Return whether an image, and the compressed copies that it has, are as they were made."""
    digest = _digest_file(path)
    if not path.is_file() or not digest.is_file():
        return False
    expected = digest.read_text()
    for copy in _copies(path):
        if copy.is_file() and DIGESTS.sha256_unpacked(copy) != expected:
            return False
    return DIGESTS.sha256(path) == expected


def _copies(path: Path) -> list[Path]:
    """The compressed copies that an image may have."""
    return [compressed(path, ending) for ending in CODINGS]


def _script() -> Path:
    return paths.static() / "engine" / "make-image.mjs"


def _wheel() -> Path:
    return PYODIDE.folder() / NUMPY_FOR_PROGRAMS.name


def _members(bundle: Text) -> list[tuple[str, bytes]]:
    """Return path and content of every file of the image, in a fixed order."""
    members = []
    for archive in (zipfile.ZipFile(_wheel()), zipfile.ZipFile(BytesIO(bundle.plain))):
        with archive:
            members += [
                (f"{_SITE}/{name}", archive.read(name))
                for name in sorted(archive.namelist())
                if not name.endswith("/")
            ]
    return members


def _make(bundle: Text, lock: IO[str]) -> bytes:
    """Return a new image. The lock is held until Node ends, which may be after this process."""
    try:
        members = _members(bundle)
    except FileNotFoundError:
        raise ImageError("Pyodide has not been fetched") from None
    table = json.dumps([(path, len(content)) for path, content in members]).encode()
    files = struct.pack("<I", len(table)) + table + b"".join(content for _, content in members)
    try:
        done = subprocess.run(
            ["node", _script(), PYODIDE.folder()],
            input=files, capture_output=True, check=True, timeout=_TIMEOUT_SECONDS,
            pass_fds=[lock.fileno()],
            env=node_environment(),
        )  # fmt: skip
    except FileNotFoundError:
        raise ImageError("node is not on PATH: install Node.js 20 or newer") from None
    except subprocess.CalledProcessError as error:
        raise ImageError(error.stderr.decode(errors="replace").strip()) from None
    except subprocess.TimeoutExpired:
        raise ImageError(f"node took longer than {_TIMEOUT_SECONDS} s") from None
    return done.stdout


def _write(path: Path, image: bytes) -> None:
    """Write an image, its compressed copies and its digest, each whole or not at all; delete the
    oldest images."""
    write_whole(compressed(path, ".br"), brotli_compressed([image], _QUALITY))
    write_whole(compressed(path), gzip.compress(image, 6, mtime=0))
    write_whole(_digest_file(path), hashlib.sha256(image).hexdigest().encode())
    write_whole(path, image)
    by_age = sorted(path.parent.glob("*.bin"), key=lambda each: each.stat().st_mtime)
    for old in by_age[:-_MOST_IMAGES]:
        for file in (old, *_copies(old), _digest_file(old)):
            file.unlink(missing_ok=True)
