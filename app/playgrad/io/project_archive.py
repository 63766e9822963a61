"""Files of projects, ``.playgrad``: ZIP archives, validated before use.

``docs/checkpoints.md`` describes the format. This module knows its files, but not what is in them.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.io.npz import DAMAGE, check_packing, check_places, is_path
from playgrad.io.tensor_entry import count_text
from playgrad.json_text import parse_json

ENDING = ".playgrad"
ABOUT = "project.json"
FORMAT = "playgrad project"
VERSION = 1
_MOST_FILES = 1000
_DIRECTORY_ENTRY = b"PK\x01\x02"
_MOST_TIMES = 20
"""Maximum unpacked size of a file, as a multiple of the size of the archive…"""
_ALWAYS_UNPACKED = 1 << 26
"""… and this many bytes: small files of zeros are harmless."""


def pack(about: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Return an archive with ``about`` as its ``project.json``, and with ``files``."""
    buffer = io.BytesIO()
    text = json.dumps({"format": FORMAT, "version": VERSION, **about}, indent=2)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {ABOUT: text.encode(), **files}.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()


def is_project(content: bytes) -> bool:
    """Return whether the bytes of a file begin an archive that names a ``project.json``."""
    return content[:2] == b"PK" and ABOUT.encode() in content


class ProjectArchive:
    """An archive whose directory and ``project.json`` are valid, and whose files are not read yet.

    Args:
        content: the bytes of the file.

    Attributes:
        about: the content of ``project.json``.
        names: the names of the files.

    Raises:
        CheckpointError: the file is truncated or damaged, is no project, or of a later version.
    """

    def __init__(self, content: bytes) -> None:
        self._most = _MOST_TIMES * len(content) + _ALWAYS_UNPACKED
        if content[:2] != b"PK":
            raise CheckpointError(
                "the file is not a playgrad project, which is a ZIP archive.",
                hint=f"Choose a file that ends in {ENDING}.",
            )
        if content.count(_DIRECTORY_ENTRY) > _MOST_FILES:  # each takes memory when it is opened
            raise CheckpointError(f"the project has more than {_MOST_FILES:,} files.")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            check_places(self._archive)
        except DAMAGE as error:
            raise _damaged(error) from None
        members = [member for member in self._archive.infolist() if not member.is_dir()]
        self.names = [member.filename for member in members]
        self._members = dict(zip(self.names, members, strict=True))
        for name in self.names:
            if is_path(name):
                raise CheckpointError(f"'{name[:80]}' in the project leads out of it.")
        if len(self._members) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise CheckpointError(f"the project is damaged: '{twice[:80]}' is in it twice.")
        self.about = self._read_about()

    def _read_about(self) -> dict[str, Any]:
        no_project = CheckpointError(
            f"the ZIP archive is not a playgrad project: it lacks a valid '{ABOUT}'.",
            hint=f"Choose a file that ends in {ENDING}.",
        )
        if ABOUT not in self._members:
            raise no_project
        about = self.json(ABOUT)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise no_project
        version = about.get("version")
        if isinstance(version, int) and version > VERSION:
            raise CheckpointError(
                f"the project is of version {version}, but this playgrad reads version {VERSION}.",
                hint="Update playgrad.",
            )
        if version != VERSION:
            raise CheckpointError(f"the project is damaged: its version is {version!r:.40}.")
        return about

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            CheckpointError: there is no such file, it is damaged, or it unpacks to far too much.
        """
        member = self._members.get(name)
        if member is None:
            raise CheckpointError(f"the project is incomplete: it lacks '{name}'.")
        check_packing(member)
        if member.file_size > self._most:
            raise CheckpointError(
                f"'{name}' would unpack to {count_text(member.file_size)} bytes, many times the "
                "size of the project."
            )
        try:
            with self._archive.open(member) as file:
                content = file.read(member.file_size)
                file.read(1)  # the checksum is compared at the end
        except DAMAGE as error:
            raise _damaged(error) from None
        if len(content) != member.file_size:
            raise CheckpointError(f"the project is damaged: '{name}' ends early.")
        return content

    def json(self, name: str) -> Any:
        """Return the data of a JSON file.

        Raises:
            CheckpointError: as for `read`, or it is not JSON.
        """
        try:
            return parse_json(self.read(name))
        except (ValueError, RecursionError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(
                f"the project is damaged: '{name}' is not JSON ({str(error)[:120]})."
            ) from None

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            CheckpointError: as for `read`, or it is not UTF-8.
        """
        try:
            return self.read(name).decode()
        except UnicodeDecodeError:
            raise CheckpointError(f"the project is damaged: '{name}' is not UTF-8.") from None


def _damaged(error: Exception) -> CheckpointError:
    if isinstance(error, CheckpointError):
        return error
    return CheckpointError(f"the project is damaged, or not a ZIP archive: {str(error)[:200]}.")
