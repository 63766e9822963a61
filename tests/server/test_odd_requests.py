"""Requests against a real server that no browser sends: answered or dropped, and never logged."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from waitress.adjustments import Adjustments

from playgrad.server.channel import Parser
from tests.server.crowd import memory
from tests.server.odd_requests import odd_request
from tests.server.processes import ServerProcess, running_server
from tests.sweeps import SEED, budget

_STATUSES = {100, 200, 206, 304, 308, 400, 404, 405, 412, 413, 416, 421, 431, 501}
_SILENCE_SECONDS = 0.2
_CLIENTS = 24


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with running_server(log, "named.example") as server:
        yield server


def request(line: str, *headers: str, host: str = "localhost") -> bytes:
    return "\r\n".join([line, f"Host: {host}", "Connection: close", *headers, "", ""]).encode()


@pytest.mark.survival("Requests against the server")
def test_odd_requests_are_survived(
    served: ServerProcess, record_property: Callable[[str, object], None]
) -> None:
    """Answers, log, memory and open files, after requests each from a seed."""
    seeds = range(SEED, SEED + budget(1_000, night=60_000))
    record_property("tried", len(seeds))

    def send(seed: int) -> tuple[int, int | None]:
        answer = served.ask(odd_request(seed), _SILENCE_SECONDS, most=1 << 16)
        match = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
        assert match or not answer, (seed, answer[:100])
        return seed, int(match[1]) if match else None

    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(send, seeds[:200]))  # fills the caches
        assert served.status(request("GET /names.json HTTP/1.1")) == 200  # imports the library
        before = memory(served.pid), served.open_files()
        answers = list(pool.map(send, seeds[200:]))
    odd = [(seed, status) for seed, status in answers if status and status not in _STATUSES]
    assert odd == []
    assert len({status for _, status in answers}) > 8, "the requests are not diverse"
    assert served.status(request("GET /healthz HTTP/1.1")) == 200
    print(served.log())  # whole, unlike in the assertion
    assert served.log() == ""
    deadline = time.monotonic() + 300  # connections that were left are closed by and by
    while served.open_files() > before[1] + 5 and time.monotonic() < deadline:
        time.sleep(0.5)
    assert served.open_files() <= before[1] + 5
    # The library's archive and the texts are kept compressed, once they have been asked for; the
    # process that compresses them ends by and by.
    most = before[0] + 60_000_000
    while memory(served.pid) >= most and time.monotonic() < deadline:
        time.sleep(0.5)
    assert memory(served.pid) < most


BODIES = {
    "POST with a length": ("POST /healthz HTTP/1.1", "Content-Length: 1000000000"),
    "GET with a length": ("GET / HTTP/1.1", "Content-Length: 5"),
    "waits to be asked": ("PUT / HTTP/1.1", "Content-Length: 9", "Expect: 100-continue"),
    "chunked": ("POST / HTTP/1.1", "Transfer-Encoding: chunked"),
    "both lengths": ("GET / HTTP/1.1", "Content-Length: 4", "Transfer-Encoding: chunked"),
    "two lengths": ("GET / HTTP/1.1", "Content-Length: 4", "Content-Length: 5"),
    "two equal lengths": ("GET / HTTP/1.1", "Content-Length: 4", "Content-Length: 4"),
    "negative": ("GET / HTTP/1.1", "Content-Length: -1"),
    "signed": ("GET / HTTP/1.1", "Content-Length: +4"),
    "endless digits": ("GET / HTTP/1.1", f"Content-Length: {'9' * 5000}"),
    "chunked last but one": ("GET / HTTP/1.1", "Transfer-Encoding: chunked, identity"),
    "a disguised coding": ("GET / HTTP/1.1", "Transfer-Encoding: \x0bchunked"),
}


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize("body", BODIES)
def test_content_is_refused_before_it_is_read(served: ServerProcess, body: str) -> None:
    """And what follows is not taken for a request of its own."""
    smuggled = b"GET /examples.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = served.ask(request(*BODIES[body]) + smuggled)
    assert int(answer.split()[1]) in {400, 413, 501}
    assert len(re.findall(rb"HTTP/1\.[01] \d", answer)) == 1 and b"100 Continue" not in answer
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert b"connection: close" in head and b"x-content-type-options: nosniff" in head


@pytest.mark.survival("Requests against the server")
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("POST / HTTP/1.1", 405),
        ("DELETE /static/js/main.js HTTP/1.1", 405),
        ("TRACE / HTTP/1.1", 405),
        ("BREW /coffee HTTP/1.1", 501),
        ("get / HTTP/1.1", 400),
        ("GET /static/" + "a" * 256 + " HTTP/1.1", 404),
        ("GET /static/" + "a" * 8000 + " HTTP/1.1", 404),
        ("GET /static/" + "a/" * 3000 + " HTTP/1.1", 404),
        ("GET /pyodide/x/" + "a" * 5000 + " HTTP/1.1", 404),
        ("GET /docs/" + "%00" * 20 + " HTTP/1.1", 404),
        ("GET /static/%ed%a0%80.js HTTP/1.1", 404),
        ("GET /static/%ff%fe HTTP/1.1", 404),
        ("GET /data/mnist/%F0%9F%98%80 HTTP/1.1", 404),
        ("GET /" + "a" * 20_000 + " HTTP/1.1", 431),
    ],
)
def test_odd_request_lines_are_refused(served: ServerProcess, line: str, status: int) -> None:
    answer = served.ask(request(line))
    assert int(answer.split()[1]) == status
    assert len(answer) < 2000
    assert served.log() == ""


@pytest.mark.survival("Requests against the server")
def test_pipelined_downloads_hold_no_thread(served: ServerProcess) -> None:
    """Each of these clients asks for big files, many at once, and reads nothing."""
    line = b"GET /data/mnist/train-images HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connections = [served.connect() for _ in range(30)]
    try:
        for connection in connections:
            connection.sendall(line * 50)
        for _ in range(20):
            assert served.status(request("GET /healthz HTTP/1.1")) == 200
        assert served.open_files() < 30 * 6 + 50
    finally:
        for connection in connections:
            connection.close()


def test_a_request_that_is_refused_has_a_name_for_the_log() -> None:
    """waitress reads it if the client is gone by then, which is a race."""
    parser = Parser(Adjustments())
    parser.received(b"GET\r\n\r\n")
    assert parser.error is not None
    assert parser.path == ""
