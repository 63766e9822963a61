"""The store: a folder with a folder for each model, and in it one for each version.

    models/digits/1/model.safetensors, version.json
    models/digits/2/...
    models/digits/serving.json        (see `choice`)

A version is written to a folder whose name is no number, flushed to the disk, and takes its number
in one step (``rename`` of POSIX), so that whatever interrupts the writer, there is a whole version
or none. Its manifest has the digest of the model's file, by which a reader recognizes a version
that was copied by hand only in part.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playgrad.errors import DataError, ReadError
from playgrad.io.weights import read_file
from playgrad.io.whole_files import sync_folder
from playgrad.json_text import parse_json
from playgrad.serving.names import checked_name, is_name, version_of

MANIFEST = "version.json"
_FORMAT = 1
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PARTIAL = ".adding-"
_ABANDONED_SECONDS = 3600
"""A partial folder is older than this only if its writer was killed."""
_LARGEST_MANIFEST = 1 << 20
_LARGEST_FILE = 1 << 40

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Manifest:
    """The description of a version, ``version.json``.

    Attributes:
        file: the name of the model's file, beside the manifest.
        size: its bytes.
        sha256: its digest, in hexadecimal digits.
        signature: the inputs and outputs; see `playgrad.serving.signature`.
        allow_new_signature: whether the signature may differ from that of the version before it.
        added: when the version was added, in seconds since 1970.
    """

    file: str
    size: int
    sha256: str
    signature: Mapping[str, Any]
    allow_new_signature: bool = False
    added: float = 0.0

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Return the manifest in ``path``.

        Raises:
            ReadError: there is none, or it is damaged.
        """
        try:
            with open(path, "rb") as file:
                data = parse_json(file.read(_LARGEST_MANIFEST))
            if data.pop("format") != _FORMAT:
                raise ReadError(f"{path.name} was written by a later release of playgrad.")
            manifest = cls(**data)
            is_whole = (
                isinstance(manifest.file, str)
                and _FILE.fullmatch(manifest.file) is not None
                and manifest.file != MANIFEST
                and type(manifest.size) is int
                and 0 < manifest.size <= _LARGEST_FILE
                and isinstance(manifest.sha256, str)
                and isinstance(manifest.signature, dict)
                and isinstance(manifest.allow_new_signature, bool)
                and isinstance(manifest.added, int | float)
            )
        except OSError as error:
            raise ReadError(
                f"{path.name} cannot be read: {error.strerror}.",
                hint="Versions are made by `playgrad models add`; a copy must be whole.",
            ) from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, ReadError):
                raise
            raise ReadError(f"{path.name} is damaged: {error!r:.200}.") from None
        if not is_whole:
            raise ReadError(f"{path.name} is damaged: a value is of the wrong kind.")
        return manifest

    def to_bytes(self) -> bytes:
        """Return the text of the file."""
        return json.dumps({"format": _FORMAT, **asdict(self)}, indent=1).encode()


class ModelStore:
    """The models in a folder.

    Args:
        folder: it is created with the first version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def models(self) -> list[str]:
        """Return the names of the models, in order."""
        try:
            with os.scandir(self.folder) as entries:
                return sorted(e.name for e in entries if is_name(e.name) and e.is_dir())
        except FileNotFoundError:
            return []

    def versions(self, name: str) -> list[int]:
        """Return the numbers of the versions of a model, in order, whole or not."""
        try:
            with os.scandir(self.model_folder(name)) as entries:
                numbers = [version_of(e.name) for e in entries if e.is_dir(follow_symlinks=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(number for number in numbers if number is not None)

    def model_folder(self, name: str) -> Path:
        """Return the folder of a model.

        Raises:
            DataError: ``name`` cannot be one.
        """
        return self.folder / checked_name(name)

    def version_folder(self, name: str, version: int) -> Path:
        return self.model_folder(name) / str(version)

    def expect(self, name: str) -> list[int]:
        """Return the versions of ``name``.

        Raises:
            DataError: there is no such model.
        """
        versions = self.versions(name)
        if not versions:
            known = ", ".join(self.models()) or "none yet"
            raise DataError(
                f"there is no model '{name}' in {self.folder}.", hint=f"Its models are: {known}."
            )
        return versions

    def stamp(self, name: str, version: int) -> Stamp:
        """Return names, sizes and times of a version's files: it differs if one has changed."""
        try:
            with os.scandir(self.version_folder(name, version)) as entries:
                stats = [(entry.name, entry.stat()) for entry in entries]
        except OSError:
            return ()
        return tuple(sorted((each, stat.st_size, stat.st_mtime_ns) for each, stat in stats))

    def manifest(self, name: str, version: int) -> Manifest:
        """Return the manifest of a version.

        Raises:
            ReadError: there is none, or it is damaged.
        """
        return Manifest.read(self.version_folder(name, version) / MANIFEST)

    def content(self, name: str, version: int) -> tuple[Manifest, bytes]:
        """Return the manifest and the whole content of the model's file.

        Raises:
            ReadError: the version is not whole, or damaged.
        """
        manifest = self.manifest(name, version)
        path = self.version_folder(name, version) / manifest.file
        try:
            size = path.stat().st_size
            if size != manifest.size:
                raise ReadError(
                    f"{manifest.file} has {size:,} bytes, but should have {manifest.size:,}.",
                    hint="It is truncated, or still being copied.",
                )
            content = read_file(path)
        except OSError as error:
            raise ReadError(f"{manifest.file} cannot be read: {error.strerror}.") from None
        if hashlib.sha256(content).hexdigest() != manifest.sha256:
            raise ReadError(
                f"{manifest.file} differs from its digest in {MANIFEST}.",
                hint="It is damaged: add the version again.",
            )
        return manifest, content

    def add(
        self,
        name: str,
        file_name: str,
        content: bytes,
        signature: Mapping[str, Any],
        allow_new_signature: bool = False,
    ) -> int:
        """Write a new version of a model, whole or not at all, and return its number.

        Args:
            file_name: the name of the model's file, whose ending tells its format.
            content: the file's.

        Raises:
            DataError: ``name`` cannot name a model.
            OSError: the folder cannot be written to, or the disk is full.
        """
        folder = self.model_folder(name)
        folder.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(folder)
        digest = hashlib.sha256(content).hexdigest()
        manifest = Manifest(
            file_name, len(content), digest, signature, allow_new_signature, time.time()
        )
        partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder))
        try:
            _write(partial / file_name, content)
            _write(partial / MANIFEST, manifest.to_bytes())
            partial.chmod(0o777 & ~_umask())
            sync_folder(partial)
            return _take_number(partial, max(self.versions(name), default=0) + 1)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _take_number(partial: Path, number: int) -> int:
    """Rename a whole folder to ``number``, or the next one that is free."""
    while True:
        try:
            partial.rename(partial.with_name(str(number)))
        except OSError as error:
            # Another writer was faster: a folder that is not empty cannot be replaced.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES, errno.ENOTDIR):
                raise
            if not partial.with_name(str(number)).exists():
                raise
            number += 1
        else:
            sync_folder(partial.parent)
            return number


def _write(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove_abandoned(folder: Path) -> None:
    """Remove the partial folders of writers that were killed."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{_PARTIAL}*"):
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
