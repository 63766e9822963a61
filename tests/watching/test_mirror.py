"""The copy of a log follows it through lost connections, and says how the connection is."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import playgrad
from playgrad.watching import mirror as mirror_module
from playgrad.watching.address import WatchAddress
from playgrad.watching.event_log import EventLog, Position
from playgrad.watching.event_server import EventServer
from playgrad.watching.mirror import Mirror
from tests.watching.readers import TOKEN, WATCHED, progress, serving

PATIENCE = 300.0


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(mirror_module, "LONGEST_PAUSE_SECONDS", 0.05)


class Copy:
    """What a reader of a mirror's log has."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._position: Position | None = None
        self.events: list[dict[str, Any]] = []
        self.states: list[str] = []
        self.reason = ""

    def until(self, is_there: Callable[[], bool]) -> None:
        """Read until ``is_there`` returns True."""
        while not is_there():
            portion = self._log.read(self._position, PATIENCE)
            assert portion.entries or portion.is_first, f"nothing but {self.states}, {self.events}"
            self._position = portion.position
            if portion.is_first:
                self.events.clear()
            for entry in portion.entries:
                self._take(json.loads(entry.text))

    def _take(self, event: dict[str, Any]) -> None:
        if event["kind"] != "link":
            self.events.append(event)
        elif not self.states or self.states[-1] != event["state"]:
            self.states.append(event["state"])
            self.reason = event["reason"]

    def until_state(self, state: str) -> None:
        self.until(lambda: state in self.states[-1:])


@contextmanager
def copying(port: int, token: str = TOKEN) -> Iterator[Copy]:
    mirror = Mirror(WatchAddress("127.0.0.1", port, token))
    mirror.start()
    try:
        yield Copy(mirror.log)
    finally:
        mirror.close()


def cut(server: EventServer) -> None:
    """Cut all connections of readers."""
    for connection in list(server._connections):
        with suppress(OSError):  # its thread is about to end
            connection.shutdown(socket.SHUT_RDWR)


def test_a_copy_has_every_event_once_though_connections_are_lost() -> None:
    log = EventLog()
    log.add(WATCHED)
    with serving(log) as server, copying(server.port) as copy:
        for step in range(1, 61):
            log.add(progress(step))
            if step % 20 == 0:
                copy.until(lambda last=step: progress(last) in copy.events)  # type: ignore[misc]
                cut(server)
                copy.until_state("lost")
                copy.until_state("live")
        assert copy.events == [WATCHED, *map(progress, range(1, 61))]
        server.close()
        copy.until_state("ended")
    assert copy.states == ["connecting", "live", *["lost", "live"] * 3, "ended"]


def test_the_next_training_at_the_address_takes_the_place_of_the_last() -> None:
    first, second = EventLog(), EventLog()
    first.add(WATCHED)
    second.add({**WATCHED, "program": "another"})
    with serving(first) as server:
        port = server.port
        with copying(port) as copy:
            copy.until(lambda: WATCHED in copy.events)
            server.close()
            copy.until_state("ended")
            with serving(second, port):
                copy.until(lambda: [each["program"] for each in copy.events] == ["another"])
                copy.until_state("live")


def test_a_copy_waits_for_a_training_that_has_not_begun() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    with copying(port) as copy:
        copy.until_state("lost")
        assert copy.reason == "nothing listens there"
        with serving(EventLog(), port):
            copy.until_state("live")


def test_a_training_without_tls_is_told() -> None:
    with serving(EventLog()) as server:
        mirror = Mirror(WatchAddress("127.0.0.1", server.port, TOKEN, is_encrypted=True))
        mirror.start()
        copy = Copy(mirror.log)
        copy.until_state("lost")
        mirror.close()
    assert copy.reason == "what answers there does not speak TLS"


def test_a_wrong_token_is_told() -> None:
    with serving(EventLog()) as server, copying(server.port, "another-token-of-length") as copy:
        copy.until_state("refused")
        assert copy.reason == "the token is missing or wrong"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "is not a training (HTTP 200)"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "(HTTP 302)"),
        (b"HTTP/1.1 503 Full\r\n\r\n", "too many readers"),
        (HEAD + b"data: {}\n\n", "another form (there are no events of the kind None)"),
        (HEAD + b'data: {"kind": "link"}\n\n', "no events of the kind 'link'"),
        (HEAD + b"data: " + b"[" * 500 + b"\n\n", "inside each other"),
        (HEAD + b"data: " + b"x" * (5 << 20) + b"\n\n", "events that are too long"),
    ],
)  # fmt: skip
def test_what_is_no_training_is_refused(answer: bytes, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):  # the copy hangs up as soon as it knows
                connection.recv(1 << 16)
                connection.sendall(answer)
                connection.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        with copying(listening.getsockname()[1]) as copy:
            copy.until_state("refused")
            assert reason in copy.reason
        thread.join()


def test_another_version_is_named() -> None:
    log = EventLog()
    log.add({**WATCHED, "colour": "green"})
    with serving(log) as server, copying(server.port) as copy:
        copy.until_state("refused")
        assert f"the same version of playgrad, which is {playgrad.__version__} here" in copy.reason
