"""The ways to the page's device workers: calls that are waited for, or only begun."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

import playgrad_host  # type: ignore[import-not-found]
from pyodide.ffi import JsException

from playgrad.devices import pending
from playgrad.devices._browser.stops import obey_interrupt
from playgrad.devices.remote_cpu import Outcome
from playgrad.errors import DeviceError, error_of


def _outcome(text: str, payload: Any) -> Outcome:
    answer = json.loads(text)
    if "error" in answer:
        raise error_of(answer["error"])
    return answer["value"], b"" if payload is None else payload.to_bytes()


def _limit() -> float:
    """Milliseconds to wait for a worker that gives no sign of life."""
    return pending.TIMEOUT_SECONDS * 1000


class WorkerConnection:
    """The way to the worker of one device, which is started with it. Answers come in order."""

    def __init__(self, device: str) -> None:
        self.number: int = playgrad_host.open_link(device)
        self._owed: deque[Owed] = deque()

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

    def begin(self, call: str, device: int, argument: dict[str, Any], *data: Any) -> Owed:
        """A call that is not waited for; what ``call`` raises, its result does."""
        ticket = playgrad_host.post_device(self.number, call, device, json.dumps(argument), *data)
        owed = Owed(self, ticket)
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

    def wait(self, owed: Owed) -> None:
        """Take all answers up to that to ``owed``."""
        while owed.answer is None:
            first = self._owed[0]
            first.answer = playgrad_host.wait_device(self.number, _limit(), first.ticket)
            self._owed.popleft()

    def give_up(self) -> None:
        """End the worker: it does not answer."""
        playgrad_host.give_up(self.number)


class Owed:
    """An answer that a device worker owes."""

    def __init__(self, link: WorkerConnection, ticket: int) -> None:
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


_links: dict[str, WorkerConnection] = {}


def link_to(device: str) -> WorkerConnection:
    """The way to the worker of ``device``; to a new one if the last has ended.

    Raises:
        DeviceError: too many workers were lost in this run.
    """
    if device not in _links or not _links[device].alive:
        try:
            _links[device] = WorkerConnection(device)
        except JsException as error:
            reason = f"{device} has no worker: {error.message}."
            raise DeviceError(reason, hint="Run again.") from None
    return _links[device]


def most_devices() -> int:
    """How many devices of a kind a page can have."""
    return int(playgrad_host.most_devices())


def start(device: str) -> None:
    """Have the worker of ``device`` started, if it is not there, while other things are done."""
    link_to(device)


def wait_for_answer(seconds: float) -> None:
    """Sleep until any device worker has answered since the last call.

    Raises:
        KeyboardInterrupt: a stop is asked for, which ends the sleep.
    """
    playgrad_host.wait_for_answer(seconds * 1000)
    obey_interrupt()
