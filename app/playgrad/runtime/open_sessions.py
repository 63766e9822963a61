"""The sessions that are open in this process, and the memory that they use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakSet

from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor


class OpenSession(Protocol):
    """The part of a `Session` that is needed here."""

    def assigned_variables(self, graph: Graph) -> list[Tensor]: ...

    def assign(self, values: Mapping[Any, Any]) -> None: ...

    def close(self) -> None: ...

    def add_memory(self, sizes: dict[str, int]) -> None: ...


open_sessions: WeakSet[OpenSession] = WeakSet()
abandoned_sessions: list[OpenSession] = []
"""Sessions that no program refers to any more, and that were not closed.

They cannot be closed where Python finds that out, which is anywhere, also in the middle of a call
to their device.
"""


def close_abandoned() -> None:
    """Free the memory of sessions that no program refers to any more."""
    while abandoned_sessions:
        abandoned_sessions.pop().close()


def close_sessions() -> None:
    """Close every session that is still open."""
    for session in list(open_sessions):
        session.close()


def memory_in_use() -> dict[str, int]:
    """Return the bytes that all sessions use on each device, by its name.

    On a GPU these are buffers, on a processor variables.
    """
    sizes: dict[str, int] = {}
    for session in list(open_sessions):
        session.add_memory(sizes)
    return sizes
