"""An asset: pinned files that belong together, and the sources that publish them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from playgrad import paths
from playgrad.assets.contents import DIGESTS
from playgrad.assets.progress import DownloadProgress


@dataclass(frozen=True)
class File:
    """A pinned file.

    Attributes:
        size: bytes.
        sha256: in hexadecimal.
        gzip_level: compression level of the ``.gz`` copy that the server sends to browsers; None
            for files that are compressed already.
        original: the published file, if it is a zip archive: this one has the same members,
            uncompressed, because the transfer compresses them better together.
    """

    name: str
    size: int
    sha256: str
    gzip_level: int | None = None
    original: File | None = None

    @property
    def published(self) -> File:
        """The file as its sources have it."""
        return self.original or self

    def matches(self, content: bytes) -> bool:
        """Return whether ``content`` has the pinned SHA-256."""
        return hashlib.sha256(content).hexdigest() == self.sha256

    def is_in(self, folder: Path) -> bool:
        """Return whether ``folder`` has the file, undamaged."""
        return self.is_at(folder / self.name)

    def is_at(self, path: Path) -> bool:
        """Return whether ``path`` has the pinned size and SHA-256."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        return DIGESTS.sha256(path) == self.sha256


@dataclass(frozen=True)
class ArchivePart(File):
    """A zip archive of some members of an archive among the asset's files.

    Attributes:
        archive: the name of that file. It stays on this machine: its parts are sent in its place.
        has: whether a member is in this part, by its name.
    """

    archive: str = field(kw_only=True)
    has: Callable[[str], bool] = field(kw_only=True)


class Source(Protocol):
    """Somewhere to get files from. ``str(source)`` names it for the user."""

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        """Yield the files it has with their contents, unchecked; raise any exception on failure."""


@dataclass(frozen=True)
class Asset:
    """Files that belong together.

    Attributes:
        title: its name for the user.
        path: its folder, relative to `paths.var`.
        files: what to fetch.
        sources: where to fetch it, in order of preference.
        generated: other files of the folder, by name.
        parts: parts of archives among the files, made after those were fetched.
    """

    title: str
    path: str
    files: tuple[File, ...]
    sources: tuple[Source, ...]
    generated: Mapping[str, bytes] = field(default_factory=dict)
    parts: tuple[ArchivePart, ...] = ()

    def folder(self) -> Path:
        """The folder that holds the files once they are fetched."""
        return paths.var() / self.path

    @property
    def sent(self) -> tuple[File, ...]:
        """The files for browsers: those without parts, and parts."""
        divided = {part.archive for part in self.parts}
        return *(file for file in self.files if file.name not in divided), *self.parts

    @property
    def pinned(self) -> dict[str, File]:
        """The files for browsers by name, fetched, made and generated."""
        generated = {
            name: File(name, len(content), hashlib.sha256(content).hexdigest())
            for name, content in self.generated.items()
        }
        return {file.name: file for file in self.sent} | generated

    @property
    def fingerprint(self) -> str:
        """A hash of the contents of what is sent, for URLs that browsers may cache for good."""
        total = hashlib.sha256()
        for file in self.sent:
            total.update(f"{file.name} {file.sha256}\n".encode())
        for name, content in self.generated.items():
            total.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
        return total.hexdigest()[:16]
