"""Files written whole or not at all: whatever interrupts the writer, the old file is intact.

The content goes to a temporary file in the same folder, is flushed to the disk, and takes the
file's name in one step (``rename`` of POSIX).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from pathlib import Path

_ENDING = ".partial"
_ABANDONED_SECONDS = 3600
"""Temporary files are older than this only if their writer was killed."""
_LONGEST_NAME = 200
"""Bytes of the file's name in that of its temporary file: file systems allow 255 together."""


def write_whole(path: str | Path, content: bytes | memoryview) -> None:
    """Replace the content of the file ``path``, or create it.

    A file that exists keeps its permissions and, if the system allows it, its owner. If ``path`` is
    a symbolic link, the file that it points to is replaced. A device or a pipe, such as
    ``/dev/stdout``, is written to as it is. Other hard links to the file keep the old content.

    Raises:
        OSError: the file or its folder cannot be written to, or the disk is full. The file is as it
            was.
    """
    target = Path(os.path.realpath(path))
    old = _status(target)
    if _is_stream(path) or (old is not None and not stat.S_ISREG(old.st_mode)):
        Path(path).write_bytes(content)
        return
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    _remove_abandoned(target)
    partial = target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}{_ENDING}")
    try:
        with open(partial, "xb") as file:
            if old is not None:
                _keep_owner(partial, old)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # the first error is the one to report
            partial.unlink()
        if isinstance(error, OSError):  # name the file, not the temporary one
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    sync_folder(target.parent)


def _is_stream(path: str | Path) -> bool:
    """Return whether ``path`` is an entry like ``/dev/stdout``, perhaps a link to a file."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    return folder == "/dev" or folder.startswith("/proc/")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _prefix(target: Path) -> str:
    """Return the beginning of the names of temporary files for ``target``."""
    return f".{os.fsdecode(os.fsencode(target.name)[:_LONGEST_NAME])}."


def _keep_owner(partial: Path, old: os.stat_result) -> None:
    """Give ``partial`` the owner and the permissions of the old file."""
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):  # only the superuser may give files away
            os.chown(partial, old.st_uid, old.st_gid)
    partial.chmod(stat.S_IMODE(old.st_mode))


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of writers that were killed."""
    now = time.time()
    prefix = _prefix(target)
    with contextlib.suppress(OSError):  # a folder that must not be listed may still be written to
        for name in os.listdir(target.parent):
            if name.startswith(prefix) and name.endswith(_ENDING):
                old = target.with_name(name)
                if now - old.stat().st_mtime > _ABANDONED_SECONDS:
                    old.unlink()


def sync_folder(folder: Path) -> None:
    """Have the disk remember the file's new name. The file is whole with or without it."""
    with contextlib.suppress(OSError):  # not every system can open or flush folders
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
