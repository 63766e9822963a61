"""The kinds of calls that a graph was built for, which later samples may add to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.ops.joined.call_kinds import CallKinds

Uses = list[tuple[CallKinds, int]]
"""The kinds of each `Fold` that is used, and how many there were."""


class _Noted(threading.local):
    def __init__(self) -> None:
        self.uses: Uses = []


_noted = _Noted()


@contextmanager
def noted_uses() -> Iterator[Uses]:
    """Note the kinds of the Folds that are called in the block."""
    before = _noted.uses
    _noted.uses = []
    try:
        yield _noted.uses
    finally:
        before.extend(_noted.uses)
        _noted.uses = before


def note_use(kinds: CallKinds) -> None:
    """Note that a graph is built for the present ``kinds``."""
    _noted.uses.append((kinds, len(kinds)))


def still_valid(uses: Uses) -> bool:
    """Return whether no kinds have been added since."""
    return all(len(kinds) == count for kinds, count in uses)
