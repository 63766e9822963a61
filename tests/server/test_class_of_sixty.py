"""Sixty browsers load the page at once, beside clients that do not read what they asked for."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from playgrad import paths
from playgrad.assets import PYODIDE_URL
from playgrad.server import channel, create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from playgrad.server.serve import make_server
from tests.server.crowd import Load, load_page, memory, stall
from tests.server.processes import ServerProcess, running_server
from tests.sweeps import slow

_SLOW = 40
_PATIENCE_MS = 400_000
_BIG = "/data/mnist/train-images"
_LONGEST_WAIT = 60
"""Seconds from a request to its first byte, for the last of all browsers: 2 s on idle cores, 16 s
on cores that twelve other processes share. A server that slow readers can block takes for ever."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServerProcess]:
    ImageCache(BundleCache()).make()
    with running_server(tmp_path / "log.txt") as server:
        yield server


def page_files() -> list[str]:
    """The files that a browser requests for the page, which comes first; not MNIST's images."""
    static = paths.static()
    suffixes = {".js", ".css", ".svg"}
    modules = [path for path in sorted(static.rglob("*")) if path.suffix in suffixes]
    pyodide = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json")
    return [
        "/",
        *(f"/static/{path.relative_to(static).as_posix()}" for path in modules),
        "/examples.json",
        *(f"{PYODIDE_URL}{name}" for name in pyodide),
        "/image/python.bin",
        "/data/mnist/train-labels",
        "/data/mnist/test-labels",
    ]


async def crowd(served: ServerProcess, browsers: int, files: list[str]) -> tuple[Load, list[int]]:
    """Load the page in all browsers beside slow readers; sample the server's memory meanwhile."""
    load, samples = Load(), [memory(served.pid)]

    async def sample() -> None:
        while True:
            await asyncio.sleep(0.2)
            samples.append(memory(served.pid))

    stalled = await asyncio.gather(*(stall(served.address, _BIG) for _ in range(_SLOW)))
    sampling = asyncio.create_task(sample())
    opened = await asyncio.gather(
        *(load_page(served.address, files, load) for _ in range(browsers))
    )
    sampling.cancel()
    for connection in (each for browser in opened for each in browser):
        connection.close()
    for writer in stalled:
        writer.close()
    return load, samples


def run_crowd(served: ServerProcess, browsers: int, files: list[str]) -> tuple[Load, list[int]]:
    """Run `crowd` in a thread: in this one, playwright may have an event loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(crowd(served, browsers, files))).result()


def check(load: Load, samples: list[int], browsers: int, files: list[str]) -> None:
    assert load.failures == []
    assert load.refused == []
    assert len(load.first_bytes) == browsers * len(files)
    assert len(load.loaded) == browsers
    assert max(load.first_bytes) < _LONGEST_WAIT
    # 40 copies of 47 MB would be 1.9 GB.
    assert max(samples) - samples[0] < 150_000_000


@pytest.mark.survival("A class of sixty")
@pytest.mark.parametrize("browsers", [10, *slow(60)])
def test_browsers_load_beside_slow_readers(
    served: ServerProcess, browsers: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("tried", browsers)
    files = page_files()
    load, samples = run_crowd(served, browsers, files)
    record_property("longest wait", max(load.first_bytes))
    check(load, samples, browsers, files)
    assert served.log() == ""


@pytest.mark.slow
@pytest.mark.survival("A class of sixty")
def test_twice_as_many_browsers_load_with_all_data(
    served: ServerProcess, record_property: Callable[[str, object], None]
) -> None:
    record_property("tried", 120)
    files = [*page_files(), _BIG, "/data/mnist/test-images", "/bundle/playgrad.zip"]
    load, samples = run_crowd(served, 120, files)
    check(load, samples, 120, files)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.survival("A class of sixty")
def test_real_browsers_become_ready_beside_the_crowd(
    served: ServerProcess, chromium: Browser
) -> None:
    """Three real pages become ready while sixty others load and forty do not read."""
    others = threading.Thread(target=run_crowd, args=(served, 60, page_files()))
    others.start()
    contexts = [chromium.new_context() for _ in range(3)]
    try:
        pages = [context.new_page() for context in contexts]
        for page in pages:
            page.goto(served.address, timeout=_PATIENCE_MS, wait_until="commit")
        for page in pages:
            status = page.get_by_test_id("status").filter(has_text="ready")
            status.wait_for(timeout=_PATIENCE_MS)
    finally:
        others.join()
        for context in contexts:
            context.close()


Address = tuple[str, int]


@pytest.fixture(scope="module")
def impatient() -> Iterator[Address]:
    """The address of a server whose deadlines pass after a second or two."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in (("HEADER_SECONDS", 2), ("IDLE_SECONDS", 2), ("SLOW_SECONDS", 1)):
            patch.setattr(channel, name, seconds)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            server = make_server(create_app(), listening)
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            yield listening.getsockname()
            server.asyncore.close_all(server._map)
            thread.join(30)
            server.task_dispatcher.shutdown()


@pytest.fixture(scope="module")
def clients(impatient: Address) -> Iterator[Callable[..., Any]]:
    """A function that returns the result of a client in `CLIENTS`, all of which run side by side:
    they wait most of the time."""
    with ThreadPoolExecutor(len(CLIENTS)) as pool:
        running = {each: pool.submit(client, impatient) for each, client in CLIENTS.items()}
        yield lambda each: running[each].result()


def seconds_until_closed(connection: socket.socket, trickle: bytes = b"") -> float:
    """Send a byte of ``trickle`` now and then, read nothing, and wait for the end."""
    began = time.monotonic()
    connection.settimeout(0.2)
    left = list(trickle)
    while time.monotonic() - began < 60:
        try:
            if left:
                connection.send(bytes([left.pop(0)]))
                time.sleep(0.2)
            elif not connection.recv(1, socket.MSG_PEEK):
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    return time.monotonic() - began


def trickle_headers(address: Address) -> float:
    with socket.create_connection(address, timeout=300) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        return seconds_until_closed(connection, b"a" * 1000)


def idle(address: Address, first: bytes) -> tuple[bytes, float]:
    with socket.create_connection(address, timeout=300) as connection:
        connection.sendall(first)
        answer = b""
        while first and not answer.endswith(b"}"):
            answer += connection.recv(4096)
        return answer, seconds_until_closed(connection)


def read_slowly(address: Address, bytes_at_once: int) -> int:
    """Read ``bytes_at_once`` now and then for a while, then all that comes; return how much."""
    with socket.create_connection(address, timeout=300) as connection:
        connection.sendall(f"GET {_BIG} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        received = len(connection.recv(100))
        end = time.monotonic() + 6
        while time.monotonic() < end:
            received += len(connection.recv(bytes_at_once)) if bytes_at_once else 0
            time.sleep(0.1)
        connection.settimeout(30)
        try:
            while part := connection.recv(1 << 20):
                received += len(part)
        except ConnectionError:
            pass
    return received


def read_steadily(address: Address) -> int:
    """Read 100 kB in each tenth of a second, which is slow on this machine, but not too slow."""
    received = 0
    with socket.create_connection(address, timeout=300) as connection:
        request = "GET /data/mnist/test-images HTTP/1.1\r\nHost: localhost\r\nConnection: close"
        connection.sendall(f"{request}\r\n\r\n".encode())
        while part := connection.recv(200_000):
            received += len(part)
            time.sleep(0.05)
    return received


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLIENTS: dict[str, Callable[[Address], Any]] = {
    "trickles headers": trickle_headers,
    "is idle at once": lambda address: idle(address, b""),
    "is idle after a request": lambda address: idle(address, HEALTH),
    "stalls": lambda address: read_slowly(address, 0),
    "trickles": lambda address: read_slowly(address, 10),
    "reads steadily": read_steadily,
}


@pytest.mark.survival("A class of sixty")
def test_headers_that_trickle_in_are_dropped(clients: Callable[..., Any]) -> None:
    assert clients("trickles headers") < 50


@pytest.mark.survival("A class of sixty")
@pytest.mark.parametrize("when", ["at once", "after a request"])
def test_idle_connections_are_dropped(clients: Callable[..., Any], when: str) -> None:
    answer, seconds = clients(f"is idle {when}")
    assert answer.startswith(b"HTTP/1.1 200") or when == "at once"
    assert seconds < 50


@pytest.mark.survival("A class of sixty")
@pytest.mark.parametrize("client", ["stalls", "trickles"])
def test_readers_that_stall_or_trickle_are_dropped(
    clients: Callable[..., Any], client: str
) -> None:
    """The server closes the connection: most of the 47 MB never arrives."""
    assert clients(client) < 40_000_000


@pytest.mark.survival("A class of sixty")
def test_a_steady_reader_is_not_dropped(clients: Callable[..., Any]) -> None:
    assert clients("reads steadily") > 7_840_016
