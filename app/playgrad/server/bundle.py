"""The library as a zip archive for the browser: ``playgrad/`` with its kernels and its player."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playgrad import paths

_PACKAGE = Path(__file__).resolve().parent.parent
# Used on the desktop only.
_LEFT_OUT = frozenset({"assets", "cli", "docs", "server", "static"})
# The oldest date that a zip can hold. A fixed date, so that equal files give equal archives.
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """A zip archive, and the SHA-256 of its bytes in hex."""

    content: bytes
    sha256: str

    @property
    def etag(self) -> str:
        return self.sha256[:32]


def _members() -> Iterator[tuple[str, Path]]:
    """Yield (name in the archive, file) in no particular order."""
    for path in _PACKAGE.rglob("*.py"):
        relative = path.relative_to(_PACKAGE)
        if relative.parts[0] not in _LEFT_OUT:
            yield f"playgrad/{relative.as_posix()}", path
    kernels = paths.kernels()
    for path in kernels.rglob("*.wgsl"):
        yield f"playgrad/kernels/{path.relative_to(kernels).as_posix()}", path
    for path in paths.player().glob("player.*"):
        yield f"playgrad/player/{path.name}", path


def _build(members: list[tuple[str, Path]]) -> Bundle:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in members:
            archive.writestr(
                zipfile.ZipInfo(name, _DATE), path.read_bytes(), zipfile.ZIP_DEFLATED, 6
            )
    content = buffer.getvalue()
    return Bundle(content, hashlib.sha256(content).hexdigest())


class BundleCache:
    """Caches the archive, and rebuilds it when a file was added, removed or changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._signature: list[tuple[str, int, int]] | None = None
        self._bundle: Bundle | None = None

    def get(self) -> Bundle:
        """Return the archive of the library's current files."""
        with self._lock:
            members = sorted(_members())
            statuses = [(name, path.stat()) for name, path in members]
            signature = [(name, status.st_mtime_ns, status.st_size) for name, status in statuses]
            if self._bundle is None or signature != self._signature:
                self._bundle = _build(members)
                self._signature = signature
            return self._bundle
