"""The browser host: Plans run by the page's device workers, and the page itself.

The only file of the library that imports JavaScript. `playgrad_host` is the module that
`static/engine/python-host.js` registers in Pyodide; a call of it is synchronous, because this
Python runs in a worker that sleeps until the device worker has answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import playgrad_host  # type: ignore[import-not-found]
from pyodide.ffi import JsException

from playgrad import errors
from playgrad.devices.base import (
    AdapterInfo,
    ExecuteResult,
    Limits,
    Plan,
    Read,
    Write,
    check_plan,
)
from playgrad.devices.pending import Done
from playgrad.errors import DeviceError, OutOfMemoryError

# Devices


def _call(
    worker: int, call: str, device: int, argument: dict[str, Any], *data: Any
) -> tuple[Any, bytes]:
    """One round trip to a device worker: the answer's value and its bytes."""
    text, payload = playgrad_host.call_device(worker, call, device, json.dumps(argument), *data)
    answer = json.loads(text)
    if "error" in answer:
        problem = answer["error"]
        raise getattr(errors, problem["type"])(problem["message"], op=problem["op"])
    return answer["value"], b"" if payload is None else payload.to_bytes()


def _adapter_info(record: dict[str, Any]) -> AdapterInfo:
    return AdapterInfo(
        name=record["name"],
        vendor=record["vendor"],
        architecture=record["architecture"],
        backend=record["backend"],
        is_software=record["is_software"],
        limits=Limits.from_mapping(record["limits"]),
        features=tuple(record["features"]),
    )


def list_adapters() -> list[AdapterInfo]:
    """What `open` can open, one for each device worker; empty without WebGPU."""
    return [
        _adapter_info(record)
        for worker in range(playgrad_host.device_workers())
        for record in _call(worker, "list", 0, {})[0]
    ]


def open(index: int = 0) -> BrowserHost:
    """Open a device in device worker `index`, with an adapter of its own.

    Raises:
        DeviceError: there is no such worker, or the browser offers no adapter.
    """
    workers = playgrad_host.device_workers()
    if not 0 <= index < workers:
        raise DeviceError(f"there is no GPU {index}: this page has {workers}", hint="Use cpu.")
    value, _ = _call(index, "open", 0, {})
    return BrowserHost(index, value["device"], _adapter_info(value["info"]))


class BrowserHost:
    """One device opened in a device worker; implements `playgrad.devices.base.Host`.

    A stop that the page asks for ends `execute` between two replays, on the device worker's own
    account, and raises `KeyboardInterrupt` here once the device is done.
    """

    def __init__(self, worker: int, device: int, info: AdapterInfo) -> None:
        self.info = info
        self.stop_requested: Callable[[], bool] | None = None
        self._worker = worker
        self._device = device

    def _ask(self, call: str, **argument: Any) -> Any:
        return _call(self._worker, call, self._device, argument)[0]

    def create_buffer(self, size: int) -> int:
        if size > self.info.limits.max_buffer_size:
            raise OutOfMemoryError(
                f"a buffer of {size:,} bytes was asked for, but {self.info.name} allows "
                f"{self.info.limits.max_buffer_size:,} in one buffer"
            )
        return int(self._ask("create_buffer", size=size))

    def destroy_buffer(self, buffer: int) -> None:
        self._ask("destroy_buffer", buffer=buffer)

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
        data = [content for _, _, content in writes]
        value, payload = _call(self._worker, "execute", self._device, argument, *data)
        return ExecuteResult(value["steps_done"], _split(payload, reads), value["seconds"])

    def begin(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> Done[ExecuteResult]:
        return Done(self.execute(program, segment, steps, writes, reads))

    def stats(self) -> dict[str, int]:
        return dict(self._ask("stats"))

    def destroy(self) -> None:
        self._ask("close")


def _split(payload: bytes, reads: Sequence[Read]) -> list[bytes]:
    if len(reads) == 1:
        return [payload]
    parts = []
    start = 0
    for _, _, size in reads:
        parts.append(payload[start : start + size])
        start += size
    return parts


# The page


def emit(event: dict[str, Any]) -> None:
    """Send an event to the page, at any time; `bytes` in it arrive as Uint8Array.

    Values are plain Python: str, int, float (NaN too), bool, None, bytes, lists, dicts.
    """
    playgrad_host.emit(event)


Request = tuple[dict[str, Any], bytes | None]
"""What the page asks for, and the bytes that came along."""


def poll_mailbox() -> Request | None:
    """The page's next request, if there is one; does not wait."""
    return _request(playgrad_host.poll_mailbox())


def wait_mailbox(seconds: float) -> Request | None:
    """The page's next request, waiting up to `seconds`.

    Raises:
        KeyboardInterrupt: a stop is asked for, which ends the waiting.
    """
    return _request(playgrad_host.wait_mailbox(seconds * 1000))


def _request(pair: Any) -> Request | None:
    if pair is None:
        return None
    text, payload = pair
    return json.loads(text), None if payload is None else payload.to_bytes()


def stop_requested() -> bool:
    """Whether the page asked for a stop that it has not taken back."""
    return bool(playgrad_host.stop_requested())


def sleep(seconds: float) -> None:
    """`time.sleep`, except that a stop ends it: Python's own would sleep on."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    playgrad_host.sleep(seconds * 1000)


def fetch_data(path: str) -> memoryview:
    """A file of the server that served the page, for instance ``/data/mnist/train-labels``.

    Raises:
        OSError: the server did not give it.
    """
    try:
        return memoryview(playgrad_host.fetch_data(path).to_memoryview())
    except JsException as error:
        raise OSError(f"the page's server did not give {path}: {error.message}") from None
