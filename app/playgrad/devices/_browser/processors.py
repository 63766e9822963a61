"""Processors of the page: interpreters in workers of their own."""

from __future__ import annotations

from typing import Any

from playgrad.devices._browser.links import WorkerConnection, link_to
from playgrad.devices.pending import Result
from playgrad.devices.remote_cpu import Outcome


class _Processor:
    """The way to a processor's interpreter; implements `playgrad.devices.remote_cpu.Link`."""

    def __init__(self, link: WorkerConnection) -> None:
        self._link = link

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        return self._link.call("serve", 0, request, *data)

    def begin(self, request: dict[str, Any], *data: bytes) -> Result[Outcome]:
        return self._link.begin("serve", 0, request, *data)

    def give_up(self) -> None:
        self._link.give_up()


def connect_processor(device: str) -> _Processor:
    """The way to the interpreter of ``device``, in its worker."""
    return _Processor(link_to(device))
