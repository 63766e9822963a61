"""The server's end of a WebSocket (RFC 6455): binary messages over a blocking socket."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import struct

import numpy as np

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_BINARY, _CLOSE = 0x2, 0x8
_LAST = 0x80
"""The bit of a message's last frame."""


class WebSocket:
    """A connection that a browser has opened.

    Raises:
        EOFError: the browser has closed it, also from `receive`.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._file = connection.makefile("rb")
        lines = list(iter(self._file.readline, b"\r\n"))
        (key,) = re.findall(rb"(?im)^sec-websocket-key: *(\S+)", b"".join(lines))
        accept = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
        connection.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )

    def send(self, *parts: bytes) -> None:
        """Send one message that consists of ``parts``."""
        size = sum(map(len, parts))
        if size < 126:
            length = struct.pack(">B", size)
        elif size < 1 << 16:
            length = struct.pack(">BH", 126, size)
        else:
            length = struct.pack(">BQ", 127, size)
        self._connection.sendall(b"".join([bytes([_LAST | _BINARY]), length, *parts]))

    def receive(self) -> bytes:
        """Return the next message."""
        frames = []
        while True:
            first, content = self._frame()
            if first & 0xF == _CLOSE:
                raise EOFError("the browser has closed the connection")
            frames.append(content)
            if first & _LAST:
                return b"".join(frames)

    def _frame(self) -> tuple[int, bytes]:
        first, length = self._read(2)
        size = length & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", self._read(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._read(8))
        mask = np.frombuffer(self._read(4), np.uint8)
        content = np.frombuffer(self._read(size), np.uint8)
        return first, (content ^ np.resize(mask, size)).tobytes()

    def _read(self, size: int) -> bytes:
        content = self._file.read(size)
        if len(content) < size:
            raise EOFError("the browser has closed the connection")
        return content
