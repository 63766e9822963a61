"""Connections with deadlines, which uvicorn has only for idle ones.

A client that sends the head of a request byte by byte, or does not read its answer, would keep its
connection for ever. All errors are JSON.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from playgrad.serving.samples import to_json

_LONGEST_HEAD = 32 << 10
"""Bytes of the line and the headers of a request."""
_MOST_PIPELINED = 32
"""Requests that a client sends before it has the answer to an earlier one."""


class _PipelineFlow(FlowControl):
    """Reads no further while requests wait: uvicorn does, and what waits would grow."""

    def __init__(self, transport: asyncio.Transport, waiting: Collection[Any]) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if not self._waiting:
            super().resume_reading()


class BoundedConnection(HttpToolsProtocol):
    """A connection with limits for the head of a request and for reading the answer.

    Attributes:
        seconds: for each of the two.
        most: connections at the same time.
    """

    seconds = 30.0
    most = 1000

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # asyncio does so only for sockets that were made with a protocol number. Without it, the
        # body of an answer waits for the acknowledgement of its head: 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.flow = _PipelineFlow(transport, self.pipeline)
        self._head_bytes = 0
        self._in_head = True
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        if len(self.connections) > self.most:
            self._refuse(503, "too many connections.", b"retry-after: 1\r\n")
        else:
            self._begin_head()

    def _begin_head(self) -> None:
        self._in_head, self._head_bytes = True, 0
        self._end_deadline()
        self._deadline = self.loop.call_later(self.seconds, self._is_late)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _is_late(self) -> None:
        if self._head_bytes:
            self._refuse(408, f"the head of the request took more than {self.seconds:g} s.")
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head:
            if not self._head_bytes:
                self._begin_head()
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > _LONGEST_HEAD and not self.transport.is_closing():
            self._refuse(431, f"the head of the request has more than {_LONGEST_HEAD:,} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._end_deadline()
        if len(self.pipeline) >= _MOST_PIPELINED:
            self.transport.abort()
        if not self.transport.is_closing():  # else the rest of what came is of no use
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head, self._head_bytes = True, 0

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        self.pipeline.clear()  # nobody reads the answers
        super().connection_lost(exc)
        if self._unread is not None:
            self._unread.cancel()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "this is not a request of HTTP/1.1.")

    def _refuse(self, status: int, message: str, *headers: bytes) -> None:
        """Answer what never becomes a request, and close."""
        content = to_json({"error": message})
        self.transport.write(
            b"".join(
                [
                    STATUS_LINE[status], *headers,
                    b"content-type: application/json\r\nconnection: close\r\n",
                    b"content-length: %d\r\n\r\n" % len(content), content,
                ]
            )
        )  # fmt: skip
        self.transport.close()


def connections(seconds: float, most: int) -> type[BoundedConnection]:
    """Return the class of connections with these limits."""
    attributes: dict[str, Any] = {"seconds": seconds, "most": most}
    return type("LimitedConnection", (BoundedConnection,), attributes)
