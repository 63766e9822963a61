"""Processors of the page: interpreters in their own workers."""

from __future__ import annotations

from typing import Any

from playgrad.devices._browser.workers import WorkerConnection, connection_to
from playgrad.devices.pending import Outcome, Result


class _ProcessorConnection:
    """The connection to a processor; implements `playgrad.devices.remote_cpu.Connection`."""

    def __init__(self, connection: WorkerConnection) -> None:
        self._connection = connection

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        return self._connection.call("serve", 0, request, *data)

    def begin(self, request: dict[str, Any], *data: bytes) -> Result[Outcome]:
        return self._connection.begin("serve", 0, request, *data)

    def give_up(self) -> None:
        self._connection.give_up()


def connect_processor(device: str) -> _ProcessorConnection:
    """Return a connection to the interpreter of ``device``."""
    return _ProcessorConnection(connection_to(device))
