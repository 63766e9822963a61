"""A class of browsers as plain sockets: each has six connections and loads the whole page."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 6
"""That a browser opens to one host."""
_CHUNK = 1 << 18


@dataclass
class Load:
    """The measured load of a page by many browsers.

    Attributes:
        first_bytes: seconds from each request, including the time to connect, to its first byte.
        refused: paths and status of each response that is not 200.
        received: bytes of all responses.
        loaded: seconds until each browser had all files.
        failures: requests that got no complete response, with the reason.
    """

    first_bytes: list[float] = field(default_factory=list)
    refused: list[tuple[str, int]] = field(default_factory=list)
    received: int = 0
    loaded: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Connection:
    """An HTTP/1.1 connection that stays open between requests."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, load: Load, lines: Sequence[str] = ()) -> None:
        """Request ``path``, read the response to its end and enter it into ``load``."""
        began = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port, limit=1 << 20)
        reader, writer = self._streams
        headers = [f"Host: {self.host}:{self.port}", "Accept-Encoding: gzip", *lines]
        writer.write("\r\n".join([f"GET {path} HTTP/1.1", *headers, "", ""]).encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        load.first_bytes.append(time.perf_counter() - began)
        if (status := int(head.split()[1])) != 200:
            load.refused.append((path, status))
        length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
        assert length, f"{path}: no Content-Length in {head!r}"
        left = int(length[1])
        while left:
            part = await reader.read(min(left, _CHUNK))
            if not part:
                raise ConnectionError(f"{path}: {left} bytes are missing")
            left -= len(part)
            load.received += len(part)
        if re.search(r"(?i)^connection: *close", head, re.MULTILINE):
            self.close()

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def load_page(address: str, paths: Sequence[str], load: Load) -> list[Connection]:
    """Load the page as one browser: the first path, then all others over six connections.

    Returns:
        The connections, which a browser keeps open.
    """
    began = time.perf_counter()
    connections = [Connection(address) for _ in range(CONNECTIONS)]
    waiting = list(reversed(paths))

    async def work(connection: Connection) -> None:
        while waiting:
            path = waiting.pop()
            try:
                await connection.get(path, load)
            except (OSError, asyncio.IncompleteReadError) as error:
                connection.close()
                load.failures.append(f"{path}: {error!r}")

    await connections[0].get(waiting.pop(), load)
    await asyncio.gather(*map(work, connections))
    load.loaded.append(time.perf_counter() - began)
    return connections


async def stall(address: str, path: str) -> asyncio.StreamWriter:
    """Request ``path`` and do not read the response."""
    parts = urlsplit(address)
    _, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 10)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    return writer


def memory(process: int) -> int:
    """The resident memory of a process and its children, in bytes."""
    children = [
        file.read_text().split() for file in Path(f"/proc/{process}/task").glob("*/children")
    ]
    total = 0
    for each in (str(process), *itertools.chain(*children)):
        try:
            status = Path(f"/proc/{each}/status").read_text()
        except OSError:  # a child that has ended
            continue
        rss = re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)
        total += 1024 * int(rss[1]) if rss else 0
    return total
