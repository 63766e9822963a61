"""Real clients of the server of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any, NamedTuple

from playgrad.watching.event_log import EventLog
from playgrad.watching.event_server import PATH, EventServer

TOKEN = "a-token-of-sufficient-length"


class Received(NamedTuple):
    """A server-sent event."""

    name: str
    id: str
    event: dict[str, Any]


@contextmanager
def serving(log: EventLog, port: int = 0) -> Iterator[EventServer]:
    server = EventServer(log, TOKEN, port=port)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def reading(
    port: int, last: str = "", token: str = TOKEN, path: str = PATH, timeout: float = 60
) -> Iterator[HTTPResponse]:
    """Connect as a reader; the response of the block may be of any status."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        connection.request("GET", path, headers=headers | ({"Last-Event-ID": last} if last else {}))
        with connection.getresponse() as response:
            yield response
    finally:
        connection.close()


def frames(response: HTTPResponse) -> Iterator[Received]:
    """Yield the events of a stream until it ends."""
    fields: dict[str, str] = {}
    while line := response.readline():
        text = line.decode().rstrip("\n")
        if not text and "data" in fields:
            event = json.loads(fields["data"])
            yield Received(fields.get("event", "message"), fields.get("id", ""), event)
        if not text:
            fields = {}
        else:
            name, _, value = text.partition(": ")
            fields[name] = value


def progress(step: int, loss: float = 0.5) -> dict[str, Any]:
    """Return the event of a training of one step at a time."""
    return {
        "kind": "progress", "epoch": 1, "step": step, "total_steps": 0,
        "points": [[step, loss, None]], "steps_per_second": 10.0, "seconds": step / 10,
        "eta_seconds": None,
    }  # fmt: skip


FIT = {
    "kind": "fit_begin", "epochs": 1, "steps_per_epoch": 0, "total_steps": 0, "batch_size": 1,
    "metrics": [], "device": "cpu:0", "device_reason": "", "precision": "float32", "adapter": None,
    "parameters": 1, "done": 0,
}  # fmt: skip
END = {
    "kind": "fit_end", "reason": "completed", "steps": 1, "seconds": 1.0, "test_accuracy": None,
    "dispatches_per_step": 0, "parallel": {},
}  # fmt: skip
WATCHED = {
    "kind": "watched", "program": "net", "source": "x = 1\n", "began": 1, "host": "far",
    "version": "0",
}  # fmt: skip


def epoch_end(epoch: int, step: int) -> dict[str, Any]:
    return {
        "kind": "epoch_end", "epoch": epoch, "step": step, "loss": 0.5, "accuracy": None,
        "test_loss": 0.25, "test_accuracy": None, "seconds": 1.0,
    }  # fmt: skip
