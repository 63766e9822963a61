"""The library as a zip archive for the browser: ``playgrad/`` with its kernels and its player."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

from playgrad import paths
from playgrad.server.texts import Text

_PACKAGE = Path(__file__).resolve().parent.parent
# Used on the desktop only.
_LEFT_OUT = frozenset({"assets", "cli", "docs", "server", "serving", "static", "watching"})
# The oldest date that a zip can hold. A fixed date, so that equal files give equal archives.
_DATE = (1980, 1, 1, 0, 0, 0)
# Of Brotli. It takes 0.2 s, for which the page waits after an edit of the library.
_QUALITY = 7


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


def _build(members: list[tuple[str, Path]]) -> Text:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:  # not compressed: the transfer does it better
        for name, path in members:
            archive.writestr(zipfile.ZipInfo(name, _DATE), path.read_bytes())
    return Text(buffer.getvalue(), _QUALITY)


class BundleCache:
    """Caches the archive, and rebuilds it when a file was added, removed or changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._signature: list[tuple[str, int, int]] | None = None
        self._bundle: Text | None = None

    def get(self) -> Text:
        """Return the archive of the library's current files."""
        with self._lock:
            members = sorted(_members())
            statuses = [(name, path.stat()) for name, path in members]
            signature = [(name, status.st_mtime_ns, status.st_size) for name, status in statuses]
            if self._bundle is None or signature != self._signature:
                self._bundle = _build(members)
                self._signature = signature
            return self._bundle
