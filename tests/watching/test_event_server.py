"""Real clients read the events of a training: those who have the token, and nobody else."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from playgrad.watching import event_server
from playgrad.watching.event_log import MOST_BYTES, EventLog
from playgrad.watching.event_server import MOST_CONNECTIONS, MOST_READERS, EventServer
from tests.watching.readers import TOKEN, WATCHED, frames, progress, reading, serving

STEPS = 400


@pytest.fixture
def log() -> EventLog:
    return EventLog()


@pytest.fixture
def server(log: EventLog) -> Iterator[EventServer]:
    with serving(log) as server:
        yield server


def test_a_reader_gets_the_events_and_the_end(log: EventLog, server: EventServer) -> None:
    log.add(WATCHED)
    with reading(server.port) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        stream = frames(response)
        assert next(stream).name == "first"
        assert next(stream).event == WATCHED
        log.add(progress(1))
        assert next(stream).event == progress(1)
        ending = threading.Thread(target=server.close)
        ending.start()
        assert [each.name for each in stream] == ["end"]
        ending.join()


def test_a_reader_that_connects_again_has_neither_gaps_nor_doubles(
    log: EventLog, server: EventServer
) -> None:
    def train() -> None:
        for step in range(1, STEPS + 1):
            log.add(progress(step))
        log.close()

    training = threading.Thread(target=train)
    draw = random.Random(0)
    steps: list[int] = []
    last, firsts, is_over = "", 0, False
    training.start()
    while not is_over:
        left = draw.randrange(1, 60)
        with reading(server.port, last) as response:
            for each in frames(response):
                firsts += each.name == "first"
                is_over = each.name == "end"
                if each.name == "message":
                    steps.append(each.event["step"])
                    last, left = each.id, left - 1
                if not left:
                    break
    training.join()
    assert steps == list(range(1, STEPS + 1))
    assert firsts == 1


def test_a_slow_reader_slows_nothing_and_takes_no_memory(
    log: EventLog, server: EventServer
) -> None:
    text = "x" * 100_000
    with reading(server.port) as response:
        for number in range(400):  # 40 MB, far more than sockets hold
            log.add({"kind": "stdout", "text": f"{number} {text}"})
        assert sum(len(entry.text) for entry in log._entries) < MOST_BYTES
        log.close()
        numbers: list[int] = []
        for each in frames(response):
            if each.name == "first":
                numbers.clear()
            elif each.name == "message":
                numbers.append(int(each.event["text"].split()[0]))
    assert numbers[-1] == 399 and numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    "token", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "\u00e9" * 9]
)
def test_a_wrong_token_is_refused(server: EventServer, token: str) -> None:
    with reading(server.port, token=token) as response:
        assert response.status == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert response.read() == b"401 Unauthorized: the token is missing or wrong\n"


@pytest.mark.parametrize(
    "path", ["/", "/events/", "/events?x", "/../../etc/passwd", "/%2e%2e/x", "*"]
)
def test_there_is_one_path(server: EventServer, path: str) -> None:
    with reading(server.port, path=path) as response:
        assert response.status == 404
        assert b"playgrad watch" in response.read()


def ask(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        answer = b""
        try:
            while part := connection.recv(1 << 16):
                answer += part
        except ConnectionResetError:
            pass  # it has sent more than is read
        return answer


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"POST /events HTTP/1.1\r\n\r\n", b"501"),
        (b"HEAD /events HTTP/1.1\r\n\r\n", b"501"),
        (b"no request at all\r\n\r\n", b"400"),
        (b"GET /events HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"GET /events HTTP/9.1\r\n\r\n", b"505"),
    ],
)
def test_other_requests_are_refused(
    server: EventServer, request_text: bytes, status: bytes
) -> None:
    assert status in ask(server.port, request_text).partition(b"\n")[0]


def test_headers_beyond_the_limit_are_not_read(server: EventServer) -> None:
    long = b"X: " + b"y" * 65_000
    text = (
        b"GET /events HTTP/1.1\r\n" + long + f"\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    )
    assert b"text/event-stream" not in ask(server.port, text)


def test_there_are_so_many_readers_and_no_more(log: EventLog, server: EventServer) -> None:
    log.add(WATCHED)
    readers = [reading(server.port) for _ in range(MOST_READERS)]
    for reader in readers:
        assert next(frames(reader.__enter__())).name == "first"
    with reading(server.port) as response:
        assert response.status == 503
    log.close()
    for reader in readers:
        reader.__exit__(None, None, None)
    while status_of(server) != 200:  # the server has yet to notice that they are gone
        time.sleep(0.01)


def status_of(server: EventServer) -> int:
    with reading(server.port) as response:
        assert response.status in (200, 503)
        return int(response.status)


def test_silent_connections_keep_nobody_out(
    log: EventLog, server: EventServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.add(WATCHED)
    address = ("127.0.0.1", server.port)
    silent = [socket.create_connection(address, timeout=60) for _ in range(MOST_CONNECTIONS + 8)]
    assert silent[-1].recv(1) == b""  # one too many
    monkeypatch.setattr(event_server, "REQUEST_SECONDS", 0.0)
    assert silent[0].recv(1) == b""
    monkeypatch.undo()
    for each in silent:
        assert each.recv(1) == b""
        each.close()
    with reading(server.port) as response:
        assert next(frames(response)).name == "first"
