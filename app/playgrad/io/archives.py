"""ZIP archives of models, whose members are checked before they are unpacked."""

from __future__ import annotations

import io
import zipfile

from playgrad.errors import CheckpointError
from playgrad.io.npz import DAMAGE, check_packing, check_places
from playgrad.io.tensor_entry import check_count

_DIRECTORY_ENTRY = b"PK\x01\x02"
_SMALL = 1 << 24


class Archive:
    """An archive in memory.

    Args:
        content: the bytes of the file.
        what: what it is, for errors: "the Keras file".

    Attributes:
        names: the names of its members.
        most_unpacked: a limit for members that are stored as they are, or hardly smaller.

    Raises:
        CheckpointError: the file is damaged, or no ZIP archive.
    """

    def __init__(self, content: bytes, what: str) -> None:
        self._what = what
        self.most_unpacked = 2 * len(content) + _SMALL
        try:
            check_count(content.count(_DIRECTORY_ENTRY))
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            check_places(self._archive)
        except DAMAGE as error:
            raise self._damaged(error) from None
        self.names = self._archive.namelist()

    def read(self, name: str, most: int = _SMALL, hint: str | None = None) -> bytes:
        """Return the content of a member.

        Args:
            most: the limit of its size in bytes.
            hint: what to do if it is missing.

        Raises:
            CheckpointError: it is missing, larger, or damaged.
        """
        if self.names.count(name) != 1:
            problem = "has no" if name not in self.names else "has more than one"
            raise CheckpointError(f"{self._what} {problem} '{name[:80]}'.", hint=hint)
        try:
            member = self._archive.getinfo(name)
            check_packing(member)
            if member.file_size > most:
                raise CheckpointError(
                    f"'{name[:80]}' in {self._what} has {member.file_size:,} bytes, more than "
                    f"{most:,}."
                )
            return self._archive.read(member)
        except DAMAGE as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> CheckpointError:
        if isinstance(error, CheckpointError):
            return error
        return CheckpointError(f"{self._what} is damaged: {str(error)[:200]}.")
