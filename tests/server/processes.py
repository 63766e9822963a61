"""A real server in a process of its own, whose log and use of the system can be read."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_PROGRAM = """
import sys
from playgrad.server import serve
serve(sys.argv[1], 0, sys.argv[2:])
"""


@dataclass(frozen=True)
class ServerProcess:
    """A running server.

    Attributes:
        address: its URL, without a trailing slash.
        pid: its process.
        log_file: what it wrote to standard error.
    """

    address: str
    pid: int
    log_file: Path

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def log(self) -> str:
        return self.log_file.read_text()

    def connect(self, timeout: float = 60) -> socket.socket:
        parts = urlsplit(self.address)
        return socket.create_connection((parts.hostname, parts.port), timeout=timeout)

    def ask(self, request: bytes, timeout: float = 60, most: int = 1 << 30) -> bytes:
        """Send ``request`` as it is, and return what comes back, until the server closes or falls
        silent for ``timeout`` seconds, or ``most`` bytes have arrived."""
        answer = b""
        try:
            with self.connect(timeout) as connection:
                connection.sendall(request)
                while len(answer) < most and (part := connection.recv(1 << 16)):
                    answer += part
        except (TimeoutError, ConnectionError):
            pass  # what arrived before counts
        return answer

    def status(self, request: bytes) -> int:
        """Return the status of the answer to ``request``, which must ask to close."""
        return int(self.ask(request).split()[1])

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


@contextmanager
def running_server(
    log_file: Path,
    *allowed: str,
    host: str = "127.0.0.1",
    environment: Mapping[str, str] | None = None,
) -> Iterator[ServerProcess]:
    """Start a server on a free port, and end it."""
    command = [sys.executable, "-c", _PROGRAM, host, *allowed]
    with (
        log_file.open("w") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True,
            env={**os.environ, **(environment or {})},
        ) as process,
    ):  # fmt: skip
        assert process.stdout
        address = re.search(r"http://\S+(?=/ )", process.stdout.readline())
        assert address, log_file.read_text()
        try:
            yield ServerProcess(address[0], process.pid, log_file)
            assert process.poll() is None, "the server has ended"
        finally:
            process.terminate()
