"""The browser host: Plans run by the page's device workers, and the page itself.

The only file of the library that imports JavaScript. `playgrad_host` is the module that
`static/engine/python-host.js` registers in Pyodide; a call of it is synchronous, because this
Python runs in a worker that sleeps until the device worker has answered. What several devices are
to do at the same time is begun without waiting, and then any answer is waited for.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import playgrad_host  # type: ignore[import-not-found]
from pyodide.ffi import JsException

from playgrad.devices import pending
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
from playgrad.errors import DeviceError, OutOfMemoryError, error_of

# Device workers


def _outcome(text: str, payload: Any) -> Outcome:
    answer = json.loads(text)
    if "error" in answer:
        raise error_of(answer["error"])
    return answer["value"], b"" if payload is None else payload.to_bytes()


def _limit() -> float:
    """Milliseconds to wait for a worker that gives no sign of life."""
    return pending.TIMEOUT_SECONDS * 1000


class _Link:
    """The way to the worker of one device, which is started with it. Answers come in order."""

    def __init__(self, device: str) -> None:
        self.number: int = playgrad_host.open_link(device)
        self._owed: deque[_Owed] = deque()

    @property
    def alive(self) -> bool:
        return bool(playgrad_host.link_alive(self.number))

    def call(self, call: str, device: int, argument: dict[str, Any], *data: Any) -> Outcome:
        """One round trip.

        Raises:
            DeviceTimeoutError: the worker gave no sign of life for `pending.TIMEOUT_SECONDS`.
            DeviceLostError: it has ended.
        """
        if self._owed:
            self.wait(self._owed[-1])
        text, payload = playgrad_host.call_device(
            self.number, _limit(), call, device, json.dumps(argument), *data
        )
        return _outcome(text, payload)

    def begin(self, call: str, device: int, argument: dict[str, Any], *data: Any) -> _Owed:
        """A call that is not waited for; what ``call`` raises, its result does."""
        ticket = playgrad_host.post_device(self.number, call, device, json.dumps(argument), *data)
        owed = _Owed(self, ticket)
        self._owed.append(owed)
        return owed

    def look(self) -> None:
        """Take the answers that are there."""
        while self._owed:
            first = self._owed[0]
            first.answer = playgrad_host.poll_device(self.number, _limit(), first.ticket)
            if first.answer is None:
                return
            self._owed.popleft()

    def wait(self, owed: _Owed) -> None:
        """Take all answers up to that to ``owed``."""
        while owed.answer is None:
            first = self._owed[0]
            first.answer = playgrad_host.wait_device(self.number, _limit(), first.ticket)
            self._owed.popleft()

    def give_up(self) -> None:
        """End the worker: it does not answer."""
        playgrad_host.give_up(self.number)


class _Owed:
    """An answer that a device worker owes."""

    def __init__(self, link: _Link, ticket: int) -> None:
        self.ticket = ticket
        self.answer: Any = None
        self._link = link

    def done(self) -> bool:
        if self.answer is None:
            self._link.look()
        return self.answer is not None

    def wait(self) -> None:
        self._link.wait(self)

    def result(self) -> Outcome:
        self.wait()
        return _outcome(*self.answer)


_links: dict[str, _Link] = {}


def _link(device: str) -> _Link:
    """The way to the worker of ``device``; to a new one if the last has ended.

    Raises:
        DeviceError: too many workers were lost in this run.
    """
    if device not in _links or not _links[device].alive:
        try:
            _links[device] = _Link(device)
        except JsException as error:
            reason = f"{device} has no worker: {error.message}."
            raise DeviceError(reason, hint="Run again.") from None
    return _links[device]


def most_devices() -> int:
    """How many devices of a kind a page can have."""
    return int(playgrad_host.most_devices())


def start(device: str) -> None:
    """Have the worker of ``device`` started, if it is not there, while other things are done."""
    _link(device)


def wait_for_answer(seconds: float) -> None:
    """Sleep until any device worker has answered since the last call.

    Raises:
        KeyboardInterrupt: a stop is asked for, which ends the sleep.
    """
    playgrad_host.wait_for_answer(seconds * 1000)
    _obey_interrupt()


# Processors


class _Processor:
    """The way to a processor's interpreter; implements `playgrad.devices.remote_cpu.Link`."""

    def __init__(self, link: _Link) -> None:
        self._link = link

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        return self._link.call("serve", 0, request, *data)

    def begin(self, request: dict[str, Any], *data: bytes) -> Result[Outcome]:
        return self._link.begin("serve", 0, request, *data)

    def give_up(self) -> None:
        self._link.give_up()


def connect_processor(device: str) -> _Processor:
    """The way to the interpreter of ``device``, in its worker."""
    return _Processor(_link(device))


# GPUs


def _adapter_info(record: dict[str, Any]) -> AdapterInfo:
    return AdapterInfo(
        name=record["name"],
        vendor=record["vendor"],
        architecture=record["architecture"],
        backend=record["backend"],
        is_software=record["is_software"],
        has_quads=record["has_quads"],
        limits=Limits.from_mapping(record["limits"]),
        features=tuple(record["features"]),
    )


def list_adapters() -> list[AdapterInfo]:
    """The adapter that the browser offers, if it does. It gives any number of devices."""
    records, _ = _link("gpu:0").call("list", 0, {})
    return [_adapter_info(record) for record in records]


def open(index: int = 0) -> BrowserHost:
    """Open a device on an adapter of its own, in a worker of its own: that of ``gpu:<index>``.

    Raises:
        DeviceError: the browser offers no adapter.
    """
    link = _link(f"gpu:{index}")
    value, _ = link.call("open", 0, {})
    return BrowserHost(link, value["device"], _adapter_info(value["info"]))


class Snapshot:
    """A copy of bytes out of Python's memory; implements `playgrad.devices.kept.Snapshot`."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.content = playgrad_host.snapshot(data)

    def same(self, data: bytes | memoryview) -> bool:
        return bool(playgrad_host.same_bytes(self.content, data))


class BrowserHost:
    """One device opened in a device worker; implements `playgrad.devices.base.Host`.

    A stop that the page asks for ends `execute` between two replays, on the device worker's own
    account, and raises `KeyboardInterrupt` here once the device is done.
    """

    def __init__(self, link: _Link, device: int, info: AdapterInfo) -> None:
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
        _obey_interrupt()
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


# The page


def recall_tunings() -> str:
    """What `remember_tunings` was given last, in this visit or an earlier one."""
    return str(playgrad_host.recall_tunings())


def remember_tunings(text: str) -> None:
    """Have the browser keep ``text``, if its user lets it."""
    playgrad_host.remember_tunings(text)


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
    request = _request(playgrad_host.wait_mailbox(seconds * 1000))
    if request is None:
        _obey_interrupt()
    return request


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
    _obey_interrupt()


def _obey_interrupt() -> None:
    """Raise KeyboardInterrupt if one is asked for: after a long sleep Python is to look at once.

    By itself it looks only every so many instructions. (``pyodide.checkInterrupt`` would print the
    error on its way through JavaScript.)
    """
    if playgrad_host.take_interrupt():
        raise KeyboardInterrupt


def fetch_data(path: str) -> memoryview:
    """A file of the server that served the page, for instance ``/data/mnist/train-labels``.

    Raises:
        OSError: the server did not give it.
    """
    try:
        return memoryview(playgrad_host.fetch_data(path).to_memoryview())
    except JsException as error:
        raise OSError(f"the page's server did not give {path}: {error.message}") from None
