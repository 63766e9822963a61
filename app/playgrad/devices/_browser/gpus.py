"""GPUs of the page: each has a worker that runs its Plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import playgrad_host  # type: ignore[import-not-found]

from playgrad.devices._browser.page import obey_interrupt
from playgrad.devices._browser.workers import WorkerConnection, connection_to, outcome_of
from playgrad.devices.base import (
    BufferKey,
    ExecuteResult,
    Execution,
    Host,
    Plan,
    Read,
    check_buffer_size,
    check_plan,
)
from playgrad.devices.data_cache import KeptData
from playgrad.devices.pending import Result, Then
from playgrad.devices.target import AdapterInfo, Limits


def _adapter_info(record: dict[str, Any]) -> AdapterInfo:
    """The adapter that `describe` in static/engine/adapter.js reports."""
    limits = Limits.from_mapping(record["limits"])
    return AdapterInfo(**{**record, "limits": limits, "features": tuple(record["features"])})


def list_adapters() -> list[AdapterInfo]:
    """Return the adapter that the browser offers, if any. It supports any number of devices."""
    records, _ = connection_to("gpu:0").call("list", 0, {})
    return [_adapter_info(record) for record in records]


def forget_adapters() -> None:
    """Do nothing: the device worker asks the browser each time."""


def open(index: int = 0) -> BrowserHost:
    """Open ``gpu:<index>``, a device on its own adapter in its own worker.

    Raises:
        DeviceError: the browser offers no adapter.
    """
    name = f"gpu:{index}"
    connection = connection_to(name)
    value, _ = connection.call("open", 0, {})
    host = BrowserHost(connection, value["device"], _adapter_info(value["info"]))
    for buffer, number, size in value["kept"]:
        content = playgrad_host.kept_data(name, buffer, number)
        if content is None:
            host.destroy_buffer(buffer)
        else:
            host.kept[buffer] = KeptData(size, BrowserSnapshot(content))
    return host


class BrowserSnapshot:
    """A copy outside Python's memory; implements `playgrad.devices.data_cache.Snapshot`.

    Args:
        content: a Uint8Array in shared memory.
    """

    def __init__(self, content: Any) -> None:
        self.content = content

    @classmethod
    def of(cls, data: bytes | memoryview) -> BrowserSnapshot:
        """Copy ``data``."""
        return cls(playgrad_host.snapshot(data))

    def same(self, data: bytes | memoryview) -> bool:
        return bool(playgrad_host.same_bytes(self.content, data))


class BrowserHost(Host):
    """A `Host` on a device in a device worker.

    When the page requests a stop, the device worker itself ends the replays of `execute`, which
    then raises `KeyboardInterrupt` here.
    """

    def __init__(self, connection: WorkerConnection, device: int, info: AdapterInfo) -> None:
        self.info = info
        self.stop_requested: Callable[[], bool] | None = None
        self.kept: dict[int, KeptData] = {}
        self._connection = connection
        self._device = device

    def _ask(self, call: str, **argument: Any) -> Any:
        return self._connection.call(call, self._device, argument)[0]

    def create_buffer(self, size: int) -> int:
        check_buffer_size(size, self.info)
        return int(self._ask("create_buffer", size=size))

    def destroy_buffer(self, buffer: int) -> None:
        self._ask("destroy_buffer", buffer=buffer)

    def expect(self, plan: Plan) -> None:
        # Errors in kernels are reported when the Plan is loaded.
        self._ask("expect", kernels=plan["kernels"])

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        check_plan(plan, self.info.limits)
        return int(self._ask("load", plan=plan, external=dict(external or {})))

    def unload(self, program: int) -> None:
        self._ask("unload", program=program)

    def begin(self, execution: Execution) -> Result[ExecuteResult]:
        program, segment, steps, writes, reads = execution
        # The runner cannot call Python between replays: it reads the page's stop word.
        if self.stop_requested is not None and self.stop_requested():
            steps = min(steps, 1)
        targets = tuple((key, offset) for key, offset, _ in writes)
        text = _execute_text(program, segment, steps, targets, tuple(reads))
        contents = [content for _, _, content in writes]
        answer = self._connection.post("execute", self._device, text, *contents)
        return Then(answer, lambda answer: _execute_result(answer, reads))

    def execute(self, execution: Execution) -> ExecuteResult:
        result = super().execute(execution)
        obey_interrupt()
        return result

    def stats(self) -> dict[str, int]:
        return dict(self._ask("stats"))

    def give_up(self) -> None:
        self._connection.give_up()

    def destroy(self) -> None:
        self._ask("close")


@lru_cache(maxsize=64)
def _execute_text(
    program: int | None,
    segment: int,
    steps: int,
    writes: tuple[tuple[BufferKey, int], ...],
    reads: tuple[Read, ...],
) -> str:
    """Return the arguments of a call of ``execute`` as JSON; a loop makes the same one again and
    again."""
    return json.dumps(
        {"program": program, "segment": segment, "steps": steps, "writes": writes, "reads": reads}
    )


def _execute_result(answer: tuple[str, bytes], reads: Sequence[Read]) -> ExecuteResult:
    text, payload = answer
    if text.startswith("{"):
        outcome_of(answer)  # raises the error
    steps, seconds, began, submitted, ended = map(float, text.split())
    return ExecuteResult(int(steps), _split(payload, reads), seconds, (began, submitted, ended))


def _split(payload: bytes, reads: Sequence[Read]) -> list[bytes]:
    """Return the bytes of each read, which are concatenated in ``payload``."""
    if len(reads) == 1:
        return [payload]
    parts = []
    start = 0
    for _, _, size in reads:
        parts.append(payload[start : start + size])
        start += size
    return parts
