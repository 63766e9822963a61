"""Scopes: the names, devices, phases and tasks of the nodes created inside a block."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from playgrad.errors import GraphError
from playgrad.graph.eager import is_at_once

_HALF = r"\ud800-\udfff"  # halves of pairs of UTF-16, which files cannot hold
_MARK = rf"[^\s:/{_HALF}]"
_PART = rf"{_MARK}+(?: +{_MARK}+)*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")


class Scope(NamedTuple):
    """The values that new nodes get. ``controls`` are the nodes that they run after."""

    path: str = ""
    device: str | None = None
    phase: str = "forward"
    task: str | None = None
    controls: tuple[Any, ...] = ()


class _ThreadScope(threading.local):
    """The scope that each thread is in."""

    scope = Scope()


class Scoped:
    """Base of a graph: unique names, and the scopes that apply to new nodes."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._thread = _ThreadScope()

    def unique_name(self, name: str) -> str:
        """Reserve ``name``, or ``name_1``, ``name_2``, ... if it is taken.

        Operations that are computed outside of the graph share names.
        """
        return name if is_at_once() else self.reserved_name(name)

    def reserved_name(self, name: str) -> str:
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

    @contextmanager
    def _changed(self, **values: Any) -> Iterator[None]:
        """Replace ``values`` of the scope within the block."""
        before = self._thread.scope
        self._thread.scope = before._replace(**values)
        try:
            yield
        finally:
            self._thread.scope = before

    @property
    def current_scope(self) -> str:
        """The prefix of the names of new nodes: ``""`` or ``"outer/inner/"``."""
        return self._thread.scope.path

    @property
    def current_device(self) -> str | None:
        """The device that new nodes are placed on; None outside of device scopes."""
        return self._thread.scope.device

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of nodes created in the block; yields the unique prefix with its slash.

        An empty name, or None, leaves all name scopes.
        """
        path = self.unique_name(self._thread.scope.path + checked_name(name)) + "/" if name else ""
        with self._changed(path=path):
            yield path

    @contextmanager
    def reenter_scope(self, path: str) -> Iterator[str]:
        """Return to a name scope by the prefix that ``name_scope`` yielded."""
        with self._changed(path=path):
            yield path

    @contextmanager
    def device(self, name: str | None) -> Iterator[None]:
        """Place nodes created in the block on device ``name`` (``"cpu:0"``, ``"gpu:0"``)."""
        with self._changed(device=name):
            yield

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Mark nodes created in the block as forward, gradient, update, input or variable."""
        with self._changed(phase=name):
            yield

    @contextmanager
    def task(self, name: str | None) -> Iterator[None]:
        """Make nodes created in the block one task of their device.

        A device runs its tasks one after the other, ordered by their first nodes. The results of a
        task are sent to other devices as soon as it ends.
        """
        with self._changed(task=name):
            yield


def checked_name(name: str) -> str:
    """Return ``name`` if it is valid.

    Raises:
        GraphError: it contains a colon, a tab or a line break, an empty part or blanks before or
            after a slash, or is not valid Unicode.
    """
    if not _NAME.fullmatch(name):
        raise GraphError(
            f"{name!r} cannot name an operation or a scope: names must not contain colons, tabs or "
            "line breaks, nor empty parts or blanks before or after a slash."
        )
    return name


def is_unicode(name: str) -> bool:
    """Return whether ``name`` has no half of a pair of UTF-16, which files cannot hold."""
    return re.search(f"[{_HALF}]", name) is None


def is_part(name: object) -> bool:
    """Return whether ``name`` can be one part of a name, between slashes."""
    return isinstance(name, str) and re.fullmatch(_PART, name) is not None
