"""The real server over real sockets."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from playgrad.server import serve


def test_server_listens_and_answers(server: str) -> None:
    with urllib.request.urlopen(f"{server}/healthz", timeout=300) as response:
        assert json.load(response) == {"status": "ok"}
        assert "Server" not in response.headers


def test_server_listens_on_loopback_by_default() -> None:
    assert serve.__defaults__ == ("127.0.0.1", 8000, (), (), ())


def test_big_files_are_sent_to_several_clients_at_once(server: str) -> None:
    def download(_: int) -> int:
        with urllib.request.urlopen(f"{server}/data/mnist/test-images", timeout=300) as response:
            return len(response.read())

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(download, range(8))) == {16 + 10_000 * 28 * 28}


def test_disconnected_clients_do_not_disturb_others(server: str) -> None:
    address = urlsplit(server)
    for _ in range(20):
        with socket.create_connection((address.hostname, address.port), timeout=300) as connection:
            connection.sendall(b"GET /data/mnist/train-images HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.recv(100)
    with urllib.request.urlopen(f"{server}/healthz", timeout=300) as response:
        assert response.status == 200


def test_occupied_port_is_reported(server: str) -> None:
    port = urlsplit(server).port
    with pytest.raises(SystemExit) as raised:
        serve("127.0.0.1", int(port or 0))
    assert f"port {port} on 127.0.0.1 is in use" in str(raised.value)


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 8000), ("127.0.0.1", 99999)])
def test_impossible_address_is_reported(host: str, port: int) -> None:
    with pytest.raises(SystemExit, match="playgrad: cannot listen on"):
        serve(host, port)


def test_interrupt_ends_the_server_quietly() -> None:
    # A background job of a shell ignores SIGINT, and its child processes inherit that.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from playgrad.server import serve; serve('127.0.0.1', 0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith("playgrad is at http://127.0.0.1:")
        process.send_signal(2)
        assert process.wait(timeout=300) == 0
        assert process.stderr.read() == ""
