"""The library as one zip for the browser: ``playgrad/`` with its kernels, as the files are now."""

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
# What only a desktop or this server uses.
_LEFT_OUT = frozenset({"server", "cli", "cli.py", "__main__.py", "static"})
# The oldest date a zip can hold: the same files always give the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """The zip's bytes and a hash of them."""

    content: bytes
    etag: str


def _members() -> Iterator[tuple[str, Path]]:
    """(name in the zip, file), in no particular order."""
    for path in _PACKAGE.rglob("*.py"):
        relative = path.relative_to(_PACKAGE)
        if relative.parts[0] not in _LEFT_OUT:
            yield f"playgrad/{relative.as_posix()}", path
    kernels = paths.kernels()
    for path in kernels.rglob("*.wgsl"):
        yield f"playgrad/kernels/{path.relative_to(kernels).as_posix()}", path


def _build(members: list[tuple[str, Path]]) -> Bundle:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in members:
            archive.writestr(
                zipfile.ZipInfo(name, _DATE), path.read_bytes(), zipfile.ZIP_DEFLATED, 6
            )
    content = buffer.getvalue()
    return Bundle(content, hashlib.sha256(content).hexdigest()[:32])


class BundleCache:
    """Keeps the zip, and makes it again when a file was added, removed or changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._signature: list[tuple[str, int, int]] | None = None
        self._bundle: Bundle | None = None

    def get(self) -> Bundle:
        with self._lock:
            members = sorted(_members())
            statuses = [(name, path.stat()) for name, path in members]
            signature = [(name, status.st_mtime_ns, status.st_size) for name, status in statuses]
            if self._bundle is None or signature != self._signature:
                self._bundle = _build(members)
                self._signature = signature
            return self._bundle
