"""The GPUs of the page: each has a worker that runs its Plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import playgrad_host  # type: ignore[import-not-found]

from playgrad.devices._browser.links import WorkerConnection, link_to
from playgrad.devices._browser.stops import obey_interrupt
from playgrad.devices.base import (
    AdapterInfo,
    ExecuteResult,
    Limits,
    Plan,
    Read,
    Write,
    check_plan,
)
from playgrad.devices.pending import Result, Then
from playgrad.devices.remote_cpu import Outcome
from playgrad.errors import OutOfMemoryError


def _adapter_info(record: dict[str, Any]) -> AdapterInfo:
    """The adapter that `describe` in static/engine/adapter.js reports."""
    limits = Limits.from_mapping(record["limits"])
    return AdapterInfo(**{**record, "limits": limits, "features": tuple(record["features"])})


def list_adapters() -> list[AdapterInfo]:
    """The adapter that the browser offers, if it does. It gives any number of devices."""
    records, _ = link_to("gpu:0").call("list", 0, {})
    return [_adapter_info(record) for record in records]


def open(index: int = 0) -> BrowserHost:
    """Open a device on an adapter of its own, in a worker of its own: that of ``gpu:<index>``.

    Raises:
        DeviceError: the browser offers no adapter.
    """
    link = link_to(f"gpu:{index}")
    value, _ = link.call("open", 0, {})
    return BrowserHost(link, value["device"], _adapter_info(value["info"]))


class BrowserSnapshot:
    """A copy of bytes out of Python's memory; implements `playgrad.devices.data_cache.Snapshot`."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.content = playgrad_host.snapshot(data)

    def same(self, data: bytes | memoryview) -> bool:
        return bool(playgrad_host.same_bytes(self.content, data))


class BrowserHost:
    """One device opened in a device worker; implements `playgrad.devices.base.Host`.

    A stop that the page asks for ends `execute` between two replays, on the device worker's own
    account, and raises `KeyboardInterrupt` here once the device is done.
    """

    def __init__(self, link: WorkerConnection, device: int, info: AdapterInfo) -> None:
        self.info = info
        self.stop_requested: Callable[[], bool] | None = None
        self._link = link
        self._device = device

    def _ask(self, call: str, **argument: Any) -> Any:
        return self._link.call(call, self._device, argument)[0]

    def create_buffer(self, size: int) -> int:
        if size > self.info.limits.max_buffer_size:
            raise OutOfMemoryError(
                f"a buffer of {size:,} bytes was asked for, but {self.info.name} allows "
                f"{self.info.limits.max_buffer_size:,} in one buffer"
            )
        return int(self._ask("create_buffer", size=size))

    def destroy_buffer(self, buffer: int) -> None:
        self._ask("destroy_buffer", buffer=buffer)

    def expect(self, plan: Plan) -> None:
        # Only a hint: what is wrong with a kernel is told when it is loaded.
        self._ask("expect", kernels=plan["kernels"])

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        check_plan(plan, self.info.limits)
        return int(self._ask("load", plan=plan, external=dict(external or {})))

    def unload(self, program: int) -> None:
        self._ask("unload", program=program)

    def execute(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> ExecuteResult:
        argument, data = self._execution(program, segment, steps, writes, reads)
        outcome = self._link.call("execute", self._device, argument, *data)
        obey_interrupt()
        return _execute_result(outcome, reads)

    def begin(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> Result[ExecuteResult]:
        argument, data = self._execution(program, segment, steps, writes, reads)
        owed = self._link.begin("execute", self._device, argument, *data)
        return Then(owed, lambda outcome: _execute_result(outcome, reads))

    def _execution(
        self,
        program: int | None,
        segment: int,
        steps: int,
        writes: Sequence[Write],
        reads: Sequence[Read],
    ) -> tuple[dict[str, Any], list[Any]]:
        # The runner cannot call Python between replays: it looks at the page's stop word.
        if self.stop_requested is not None and self.stop_requested():
            steps = min(steps, 1)
        argument = {
            "program": program,
            "segment": segment,
            "steps": steps,
            "writes": [(key, offset) for key, offset, _ in writes],
            "reads": reads,
        }
        return argument, [content for _, _, content in writes]

    def stats(self) -> dict[str, int]:
        return dict(self._ask("stats"))

    def give_up(self) -> None:
        self._link.give_up()

    def destroy(self) -> None:
        self._ask("close")


def _execute_result(outcome: Outcome, reads: Sequence[Read]) -> ExecuteResult:
    value, payload = outcome
    return ExecuteResult(value["steps_done"], _split(payload, reads), value["seconds"])


def _split(payload: bytes, reads: Sequence[Read]) -> list[bytes]:
    if len(reads) == 1:
        return [payload]
    parts = []
    start = 0
    for _, _, size in reads:
        parts.append(payload[start : start + size])
        start += size
    return parts
