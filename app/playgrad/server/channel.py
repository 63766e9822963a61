"""Connections of the server: waitress's, with deadlines and without request bodies.

Waitress sends files from its main loop, so readers that are slow cost no thread and no memory. It
lacks limits on how slow they may be, and it waits for bodies that no route here wants.
"""

from __future__ import annotations

import time
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask
from waitress.utilities import Error, RequestEntityTooLarge

from playgrad.server.headers import SECURITY_HEADERS

HEADER_SECONDS = 20
"""A request must be complete this long after its first byte."""
IDLE_SECONDS = 75
"""Seconds for which a connection without requests stays open."""
SLOW_SECONDS = 60
"""Readers are judged this often, by the bytes that they took since the last time."""
SLOWEST_RATE = 1_000
"""Bytes per second. A class shares the network: sixty on 10 Mbit/s get 20,000 each."""
_MOST_PIPELINED = 4
_PORTION = 1 << 18
"""Bytes that are read from a file at once."""


class ContentRefused(Error):  # noqa: N818 (a response, not an exception)
    """A request with a body."""

    code = RequestEntityTooLarge.code
    reason = RequestEntityTooLarge.reason


class Parser(HTTPRequestParser):
    """Reads a request, and refuses one with a body as soon as its headers have arrived."""

    error: Any
    path = ""
    """Also of a request that has none: waitress logs it if the client is gone by then."""

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if self.headers_finished and self.body_rcv is not None and self.error is None:
            self.error = ContentRefused(
                "this server takes no content: send requests without a body"
            )
            self.completed = True
        if self.error is not None:
            self.expect_continue = False
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # a number of thousands of digits, a malformed IPv6 address
            raise ParsingError(str(error)[:100]) from None


class Refusal(ErrorTask):
    """The response to a malformed request."""

    def execute(self) -> None:
        self.response_headers.extend(SECURITY_HEADERS.items())
        self.response_headers.append(("Cache-Control", "no-store"))
        super().execute()


class Channel(HTTPChannel):
    """A connection. `is_overdue` tells whether its client takes too long."""

    parser_class = Parser
    error_task_class = Refusal
    sendbuf_len: int

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sendbuf_len = min(self.sendbuf_len, _PORTION)
        self._request_began: float | None = None
        self._sent = 0
        self._judged = (time.time(), 0)

    def received(self, data: bytes) -> bool:
        accepted: bool = super().received(data)
        if self.request is None:
            self._request_began = None
        elif self._request_began is None:
            self._request_began = time.time()
        with self.requests_lock:
            # Each response may hold an open file. The task closes the connection after the last.
            if len(self.requests) > _MOST_PIPELINED:
                self.requests[_MOST_PIPELINED - 1].headers["CONNECTION"] = "close"
        return accepted

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent: int = super().send(data, do_close)
        self._sent += sent
        return sent

    def is_overdue(self, now: float) -> bool:
        """Return whether a request or a response of this connection takes too long."""
        if self._request_began is not None and now > self._request_began + HEADER_SECONDS:
            return True
        if not self.total_outbufs_len:
            self._judged = (now, self._sent)
            return not self.requests and now > self.last_activity + IDLE_SECONDS
        since, sent = self._judged
        if now < since + SLOW_SECONDS:
            return False
        self._judged = (now, self._sent)
        return self._sent - sent < SLOWEST_RATE * (now - since)


class PatientServer(TcpWSGIServer):
    """Waitress with these connections."""

    channel_class = Channel

    def maintenance(self, now: float) -> None:
        """Close connections that are overdue: at once, since a stalled client accepts no byte."""
        for channel in list(self.active_channels.values()):
            if channel.is_overdue(now):
                channel.handle_close()
