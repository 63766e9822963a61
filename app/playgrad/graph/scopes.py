"""Scopes: the names, devices, phases and tasks of the nodes created inside a block."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playgrad.errors import GraphError

_NAME = re.compile(r"[^\s:/]+(/[^\s:/]+)*")


class ScopeValues(threading.local):
    """The values that the scopes of one thread give to new nodes."""

    def __init__(self) -> None:
        self.path = ""
        self.device: str | None = None
        self.phase = "forward"
        self.task: str | None = None
        self.controls: tuple[Any, ...] = ()
        """Nodes that new nodes run after."""

    @contextmanager
    def changed(self, **values: Any) -> Iterator[None]:
        """Replace ``values`` within the block."""
        before = {key: getattr(self, key) for key in values}
        self.__dict__.update(values)
        try:
            yield
        finally:
            self.__dict__.update(before)


class Scoped:
    """Base of a graph: unique names, and the scopes that apply to new nodes."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._scopes = ScopeValues()

    def unique_name(self, name: str) -> str:
        """Reserve ``name``, or ``name_1``, ``name_2``, ... if it is taken."""
        if name not in self._taken:
            self._taken[name] = 0
            return name
        while True:
            self._taken[name] += 1
            candidate = f"{name}_{self._taken[name]}"
            if candidate not in self._taken:
                self._taken[candidate] = 0
                return candidate

    @property
    def current_scope(self) -> str:
        """The prefix of the names of new nodes: ``""`` or ``"outer/inner/"``."""
        return self._scopes.path

    @property
    def current_device(self) -> str | None:
        """The device that new nodes are placed on; None outside of device scopes."""
        return self._scopes.device

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of nodes created in the block; yields the unique prefix with its slash.

        An empty name, or None, leaves all name scopes.
        """
        path = self.unique_name(self._scopes.path + checked_name(name)) + "/" if name else ""
        with self._scopes.changed(path=path):
            yield path

    @contextmanager
    def reenter_scope(self, path: str) -> Iterator[str]:
        """Return to a name scope by the prefix that ``name_scope`` yielded."""
        with self._scopes.changed(path=path):
            yield path

    @contextmanager
    def device(self, name: str | None) -> Iterator[None]:
        """Place nodes created in the block on device ``name`` (``"cpu:0"``, ``"gpu:0"``)."""
        with self._scopes.changed(device=name):
            yield

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Mark nodes created in the block as forward, gradient, update, input or variable."""
        with self._scopes.changed(phase=name):
            yield

    @contextmanager
    def task(self, name: str | None) -> Iterator[None]:
        """Make nodes created in the block one task of their device.

        A device runs its tasks one after the other, ordered by their first nodes. The results of a
        task are sent to other devices as soon as it ends.
        """
        with self._scopes.changed(task=name):
            yield


def checked_name(name: str) -> str:
    """Return ``name`` if it is valid.

    Raises:
        GraphError: it contains whitespace, a colon, or an empty part between slashes.
    """
    if not _NAME.fullmatch(name):
        raise GraphError(
            f"{name!r} cannot name an operation or a scope: a name has no whitespace, no colon, "
            "and no empty part before or after a slash."
        )
    return name
