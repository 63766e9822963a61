"""The HTTP server in a training process, from which its events are read.

A thread serves each reader, and blocks where the reader is slow; the training only adds to the log.
"""

from __future__ import annotations

import contextlib
import hmac
import http
import io
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

from playgrad.watching.event_log import EventLog
from playgrad.watching.event_stream import CONTENT_TYPE, event_stream

PATH = "/events"
MOST_READERS = 8
MOST_CONNECTIONS = 32
"""Readers and requests that are not complete yet. Further connections are closed at once."""
REQUEST_SECONDS = 5.0
"""A request must be complete this long after its connection was opened."""
SEND_SECONDS = 30.0
"""A reader that takes no byte for so long is cut off. It can connect again without loss."""
LAST_SECONDS = 2.0
"""How long the end of the training waits for readers to get the last events."""
_POLL_SECONDS = 0.1
"""How often the server looks for connections that are overdue, and whether it is to end."""
_MOST_HEADER_BYTES = 16 << 10
_SLICE_BYTES = 1 << 14
_BUFFER_BYTES = 1 << 16
"""Of the system, for each reader."""


class _Handler(BaseHTTPRequestHandler):
    server: EventServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        self.rfile = _Head(self.rfile)

    def parse_request(self) -> bool:
        self.close_connection = True
        is_valid = super().parse_request()
        self.close_connection = True  # each answer ends its connection
        self.server.has_arrived(self.connection)
        self.connection.settimeout(SEND_SECONDS)
        return is_valid

    def do_GET(self) -> None:
        if self.path != PATH:
            return self.send_error(http.HTTPStatus.NOT_FOUND)
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            return self.send_error(http.HTTPStatus.UNAUTHORIZED)
        if not self.server.readers.acquire(blocking=False):
            return self.send_error(http.HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            self._stream()
        finally:
            self.server.readers.release()

    def _stream(self) -> None:
        self.send_response(http.HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        for part in event_stream(self.server.log, self.headers.get("Last-Event-ID")):
            for first in range(0, len(part), _SLICE_BYTES):  # each has SEND_SECONDS
                self.wfile.write(part[first : first + _SLICE_BYTES])

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer in plain text."""
        status = http.HTTPStatus(code)
        text = f"{status.value} {status.phrase}: {_REASONS.get(status, status.description)}\n"
        self.send_response(status)
        if status == http.HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode("ascii"))

    def version_string(self) -> str:
        return "playgrad"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing: the terminal is the training's."""


_REASONS = {
    http.HTTPStatus.NOT_FOUND: "this is a training of playgrad. Watch it with `playgrad watch`",
    http.HTTPStatus.UNAUTHORIZED: "the token is missing or wrong",
    http.HTTPStatus.SERVICE_UNAVAILABLE: f"{MOST_READERS} readers watch this training already",
    http.HTTPStatus.NOT_IMPLEMENTED: "this server only answers GET",
}


class _Head(io.BufferedIOBase):
    """The beginning of a request, of limited size."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left = _MOST_HEADER_BYTES

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return a line; a line beyond the limit is cut, which makes the request malformed."""
        most = self._left if size is None or size < 0 else min(size, self._left)
        line: bytes = self._file.readline(most)
        self._left -= len(line)
        return line

    def close(self) -> None:
        self._file.close()
        super().close()


class EventServer(ThreadingTCPServer):
    """Serves a log to those who have the token.

    Args:
        token: ASCII text that clients must know.
        host, port: the address to listen on; port 0 takes a free one.

    Raises:
        OSError: it cannot listen there.
    """

    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, log: EventLog, token: str, host: str = "127.0.0.1", port: int = 0) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)
        self.log = log
        self.token = token
        self.readers = threading.BoundedSemaphore(MOST_READERS)
        self._opened: dict[Any, float] = {}  # connections without a whole request
        self._connections: dict[Any, threading.Thread] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            if len(self._connections) >= MOST_CONNECTIONS:
                self.shutdown_request(request)
                return
            self._opened[request] = time.monotonic()
            thread = threading.Thread(
                target=self.process_request_thread, args=(request, client_address), daemon=True
            )
            self._connections[request] = thread
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.pop(request, None)
                self._opened.pop(request, None)

    def has_arrived(self, request: Any) -> None:
        """Note that the request of a connection is complete."""
        with self._lock:
            self._opened.pop(request, None)

    def service_actions(self) -> None:
        """Cut off connections whose request takes too long; called by the server's loop."""
        latest = time.monotonic() - REQUEST_SECONDS
        with self._lock:
            overdue = [each for each, opened in self._opened.items() if opened < latest]
            for request in overdue:
                del self._opened[request]
        for request in overdue:
            _cut(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore that a reader has gone, or sends what is no request."""

    def close(self) -> None:
        """Send readers the last events, for a moment, and stop serving."""
        self.log.close()
        self.shutdown()
        self.server_close()
        with self._lock:
            left = dict(self._connections)
        until = time.monotonic() + LAST_SECONDS
        for thread in left.values():
            thread.join(max(0.0, until - time.monotonic()))
        for request in left:
            _cut(request)


def _cut(request: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        request.shutdown(socket.SHUT_RDWR)
