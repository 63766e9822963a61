"""Connections to the page's device workers, with calls that wait for an answer or do not."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

import playgrad_host  # type: ignore[import-not-found]
from pyodide.ffi import JsException

from playgrad.devices import pending
from playgrad.devices._browser.page import obey_interrupt
from playgrad.devices.pending import Outcome, Result, Then
from playgrad.errors import DeviceError, error_from_json


class WorkerConnection:
    """The connection to the worker of one device, which is started with it. Answers come in
    order."""

    def __init__(self, device: str) -> None:
        self.number: int = playgrad_host.open_link(device)
        self._unanswered: deque[PendingAnswer] = deque()

    @property
    def alive(self) -> bool:
        return bool(playgrad_host.link_alive(self.number))

    def call(self, call: str, device: int, argument: dict[str, Any], *data: Any) -> Outcome:
        """Call the worker and wait for its answer.

        Raises:
            DeviceTimeoutError: the worker gave no sign of life for `pending.TIMEOUT_SECONDS`.
            DeviceLostError: the worker has ended.
        """
        if self._unanswered:
            self.wait(self._unanswered[-1])
        text, payload = playgrad_host.call_device(
            self.number, _timeout(), call, device, json.dumps(argument), *data
        )
        return outcome_of((text, _bytes_of(payload)))

    def begin(
        self, call: str, device: int, argument: dict[str, Any], *data: Any
    ) -> Result[Outcome]:
        """Call the worker without waiting. The answer's `result` raises what `call` would."""
        return Then(self.post(call, device, json.dumps(argument), *data), outcome_of)

    def post(self, call: str, device: int, text: str, *data: Any) -> PendingAnswer:
        """As `begin`, with the arguments as JSON."""
        ticket = playgrad_host.post_device(self.number, call, device, text, *data)
        answer = PendingAnswer(self, ticket)
        self._unanswered.append(answer)
        return answer

    def poll(self) -> None:
        """Take the answers that have arrived."""
        while self._unanswered:
            first = self._unanswered[0]
            first.frame = playgrad_host.poll_device(self.number, _timeout(), first.ticket)
            if first.frame is None:
                return
            self._unanswered.popleft()

    def wait(self, answer: PendingAnswer) -> None:
        """Take all answers up to ``answer``, waiting for them."""
        while answer.frame is None:
            first = self._unanswered[0]
            first.frame = playgrad_host.wait_device(self.number, _timeout(), first.ticket)
            self._unanswered.popleft()

    def give_up(self) -> None:
        """End the worker, which does not answer."""
        playgrad_host.give_up(self.number)


class PendingAnswer:
    """The answer to a call that a device worker has not answered yet."""

    def __init__(self, connection: WorkerConnection, ticket: int) -> None:
        self.ticket = ticket
        self.frame: Any = None
        self._connection = connection

    def done(self) -> bool:
        if self.frame is None:
            self._connection.poll()
        return self.frame is not None

    def wait(self) -> None:
        self._connection.wait(self)

    def result(self) -> tuple[str, bytes]:
        """Wait for the answer, and return its text and its bytes."""
        if self.frame is None:
            self.wait()
        text, payload = self.frame
        return text, _bytes_of(payload)


def outcome_of(answer: tuple[str, bytes]) -> Outcome:
    """Return the value of an answer in JSON and its bytes, or raise its error."""
    text, payload = answer
    record = json.loads(text)
    if "error" in record:
        raise error_from_json(record["error"])
    return record["value"], payload


def _bytes_of(payload: Any) -> bytes:
    content: bytes = b"" if payload is None else payload.to_bytes()
    return content


def _timeout() -> float:
    """Return the milliseconds to wait for a worker that gives no sign of life."""
    return pending.TIMEOUT_SECONDS * 1000


_connections: dict[str, WorkerConnection] = {}


def connection_to(device: str) -> WorkerConnection:
    """Return the connection to the worker of ``device``; start a new one if the last has ended.

    Raises:
        DeviceError: too many workers were lost in this run.
    """
    if device not in _connections or not _connections[device].alive:
        try:
            _connections[device] = WorkerConnection(device)
        except JsException as error:
            reason = f"{device} has no worker: {error.message}."
            raise DeviceError(reason, hint="Run again.") from None
    return _connections[device]


def most_devices() -> int:
    """Return the maximum number of devices of a kind in a page."""
    return int(playgrad_host.most_devices())


def start(device: str) -> None:
    """Start the worker of ``device`` in the background, unless it is running."""
    connection_to(device)


def wait_for_answer(seconds: float) -> None:
    """Sleep until any device worker has answered since the last call, for at most ``seconds``.

    Raises:
        KeyboardInterrupt: a stop was requested, which ends the sleep.
    """
    playgrad_host.wait_for_answer(seconds * 1000)
    obey_interrupt()
