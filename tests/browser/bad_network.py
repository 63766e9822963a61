"""A proxy before the real server, which loses, delays, cuts and damages answers on purpose.

The browser's own network code sees the faults: `Page.route` would bypass it, and the HTTP cache.
"""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

FAULTS = ("missing", "broken", "reset", "silent", "stalled", "cut", "shortened", "flipped")
"""In turn: status 404; status 500; the connection is reset; no answer, ever; half of an answer, and
then nothing; half of it, and then the end of the connection; half of it, as if that were all; all
of it with one bit wrong."""

# The answer's headers that concern one connection only.
_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}
)


class BadNetwork:
    """A server that forwards every request to ``origin``, except for the faults it is told to make.

    Attributes:
        address: the URL to open instead of the origin's, without a trailing slash.
        asked: the path of every request so far.
        bytes_per_second: the speed of the line, which all answers share; 0 for no limit.
        sent: how many bytes of each path were sent.
        origin: host and port of the server behind.
    """

    def __init__(self, origin: str) -> None:
        self.asked: list[str] = []
        self.bytes_per_second = 0
        self.sent: Counter[str] = Counter()
        self.origin = urlsplit(origin).netloc
        self._faults: list[tuple[Callable[[str], bool], str]] = []
        self._mended = threading.Event()
        self._line = threading.Lock()
        self._line_is_free_at = 0.0
        network = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                network._serve(self)

            do_HEAD = do_GET  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.mend()
        self._server.shutdown()
        self._server.server_close()

    def break_(self, fault: str, which: str | Callable[[str], bool]) -> None:
        """Make ``fault`` in every answer to ``which``, the end of a path or a function of paths."""
        assert fault in FAULTS
        chosen = which if callable(which) else lambda path, end=which: path.endswith(end)
        self._faults.append((chosen, fault))

    @contextmanager
    def broken(self, fault: str, which: str | Callable[[str], bool]) -> Iterator[None]:
        """The same for the body of a ``with``."""
        self.break_(fault, which)
        try:
            yield
        finally:
            self.mend()

    def mend(self) -> None:
        """Make no more faults. Answers that stalled are lost: their connections end."""
        self._faults.clear()
        before, self._mended = self._mended, threading.Event()
        before.set()

    def _serve(self, handler: _Handler) -> None:
        path = urlsplit(handler.path).path
        self.asked.append(path)
        mended = self._mended
        fault = next((fault for chosen, fault in self._faults if chosen(path)), "")
        if fault in ("missing", "broken"):
            handler.send_error(404 if fault == "missing" else 500)
            return
        if fault == "reset":
            handler.reset()
            return
        if fault == "silent":
            mended.wait()
            handler.close_connection = True
            return
        status, headers, body = self._forward(handler)
        handler.send_response_only(status)
        for name, value in headers:
            handler.send_header(name, value)
        sent = damaged(body) if fault == "flipped" else body
        sent = sent[: len(sent) // 2] if fault in ("stalled", "cut", "shortened") else sent
        length = len(sent) if fault == "shortened" else len(body)
        if status not in (204, 304):
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        if handler.command != "HEAD":
            self._send(handler, path, sent)
        if fault == "stalled":
            mended.wait()
        if fault in ("stalled", "cut"):
            handler.close_connection = True

    def _forward(self, handler: _Handler) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.origin, timeout=300)
        try:
            wanted = {
                name: value
                for name, value in handler.headers.items()
                if name.lower() not in _HOP | {"host"}
            }
            connection.request(
                handler.command, handler.path, headers=wanted | {"Host": self.origin}
            )
            answer = connection.getresponse()
            headers = [pair for pair in answer.getheaders() if pair[0].lower() not in _HOP]
            return answer.status, headers, answer.read()
        finally:
            connection.close()

    def _send(self, handler: _Handler, path: str, content: bytes) -> None:
        portion = max(1, self.bytes_per_second // 50) if self.bytes_per_second else 1 << 20
        for start in range(0, len(content), portion):
            part = content[start : start + portion]
            self._wait_for_line(len(part))
            handler.wfile.write(part)
            with self._line:
                self.sent[path] += len(part)

    def _wait_for_line(self, size: int) -> None:
        """Wait until the line has brought ``size`` more bytes."""
        if not self.bytes_per_second:
            return
        with self._line:
            begin = max(time.monotonic(), self._line_is_free_at)
            self._line_is_free_at = end = begin + size / self.bytes_per_second
        time.sleep(max(0.0, end - time.monotonic()))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: pytest shows what matters."""

    def handle(self) -> None:
        with suppress(OSError):  # the browser may go away
            super().handle()

    def reset(self) -> None:
        """End the connection with a reset instead of an answer."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


def damaged(content: bytes) -> bytes:
    """``content`` with one bit flipped in the middle."""
    if not content:
        return content
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
