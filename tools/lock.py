"""Locks between processes, for work that two terminals must not do in a checkout at once."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, note: str) -> Iterator[None]:
    """Hold the lock of the file ``path``, which ends with the process at the latest.

    Args:
        note: printed if another process has the lock, before waiting for it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(note, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
