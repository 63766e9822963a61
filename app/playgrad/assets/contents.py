"""SHA-256 of files' contents, computed once for each version of a file."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playgrad.assets.codings import DamagedCopyError, unpacked

_MOST_FILES = 4096
_Version = tuple[object, ...]


@dataclass
class _Digest:
    lock: threading.Lock = field(default_factory=threading.Lock)
    value: str | None = None


class Digests:
    """Caches digests until a file's inode, times or size change.

    Threads that ask for the same digest wait for the one that computes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digests: dict[_Version, _Digest] = {}

    def sha256(self, path: Path) -> str:
        """Return the SHA-256 of a file, in hexadecimal. Raises OSError if it cannot be read."""
        return self._once((str(path), *_version(path)), lambda: _sha256(path))

    def sha256_unpacked(self, path: Path) -> str:
        """Return the SHA-256 of the unpacked contents of a compressed copy; "" if it is damaged."""
        return self._once((str(path), *_version(path), "unpacked"), lambda: _sha256_unpacked(path))

    def _once(self, version: _Version, compute: Callable[[], str]) -> str:
        with self._lock:
            digest = self._digests.setdefault(version, _Digest())
            if len(self._digests) > _MOST_FILES:
                del self._digests[next(iter(self._digests))]
        with digest.lock:
            if digest.value is None:
                digest.value = compute()
            return digest.value


def _version(path: Path) -> tuple[int, ...]:
    """Return numbers that change whenever a file is replaced or written to."""
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sha256_unpacked(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        for portion in unpacked(path):
            digest.update(portion)
    except DamagedCopyError:
        return ""
    return digest.hexdigest()


DIGESTS = Digests()
"""The digests of this process."""
