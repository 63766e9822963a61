"""Copies of variables in host memory, from which a session continues after the loss of a device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad.graph.graph import Graph
from playgrad.graph.source import warn_user
from playgrad.ops.state import contents_of

Array = np.ndarray[Any, Any]
Key = tuple[Graph, str]

COPY_SECONDS = 9.0
"""Seconds of training after which the variables are copied again.

No copy is to be older than 10 s: the rest is for the work that must end first, a chunk of steps.
"""


def is_copied(key: Key) -> bool:
    """Return whether a variable is part of copies: not a data set, and not bookkeeping."""
    graph, name = key
    return contents_of(graph.node(name)) is None


class HostCopies:
    """The values that the variables of a session had at one moment between two runs.

    What the host assigns is part of the copy at once, unless a run has changed variables since:
    then the copy would mix the values of two moments.

    Args:
        read: returns the values of all variables that are to be copied.

    Attributes:
        values: the copied values, which nobody modifies.
        changed: when a run first changed variables after the copy; None if the copy is current.
        undone: the seconds of work that the last return to the copy undid.
    """

    def __init__(self, read: Callable[[], dict[Key, Array]]) -> None:
        self._read = read
        self.values: dict[Key, Array] = {}
        self.changed: float | None = None
        self.undone = 0.0
        self._tried = 0.0
        self._warned = False

    @property
    def is_current(self) -> bool:
        """True if the variables have the copied values."""
        return self.changed is None

    @property
    def age(self) -> float:
        """The seconds of work that would be lost now."""
        return 0.0 if self.changed is None else time.perf_counter() - self.changed

    def begin(self, values: Mapping[Key, Array]) -> None:
        """Start to keep copies, from ``values``."""
        self.values = {key: array for key, array in values.items() if is_copied(key)}
        self.changed = None

    def assigned(self, key: Key, array: Array) -> None:
        """Note that the host assigned ``array``, which nobody modifies any more."""
        if self.changed is None and is_copied(key):
            self.values[key] = array

    def note_change(self) -> None:
        """Note that a run is about to change variables."""
        if self.changed is None:
            self.changed = self._tried = time.perf_counter()

    def is_due(self) -> bool:
        """Return whether it is time for a new copy."""
        return self.changed is not None and time.perf_counter() - self._tried >= COPY_SECONDS

    def take(self) -> None:
        """Copy all variables, unless the copy is current.

        If there is not enough memory, the last copy is kept, and a warning says so.

        Raises:
            DeviceLostError: a device was lost. The last copy is kept.
        """
        if self.changed is None:
            return
        self._tried = time.perf_counter()
        try:
            self.values = self._read()
        except MemoryError:
            if not self._warned:
                self._warned = True
                warn_user(
                    "there is not enough memory to copy the variables from their device. If it is "
                    "lost, training continues from an older copy: save the weights now and then."
                )
            return
        self.changed = None

    def rolled_back(self) -> None:
        """Note that all variables have the copied values again."""
        self.undone = self.age
        self.changed = None
