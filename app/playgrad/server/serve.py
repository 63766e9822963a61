"""The application in waitress, a production WSGI server (docs/decisions/014-*.md says why)."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Iterable, Sequence
from typing import Any

from waitress.adjustments import Adjustments

from playgrad.assets import MNIST, PYODIDE, DownloadError, fetch
from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.channel import PatientServer
from playgrad.server.docs import DocsBuild
from playgrad.server.embedding import FramePolicy
from playgrad.server.hosts import Hosts
from playgrad.server.image import ImageCache
from playgrad.server.packing import pack_in_background

# Threads only find files and hash them: the main loop sends them.
_THREADS = 8
# A class of sixty opens 360 connections, and a proxy may open more.
_CONNECTIONS = 2000
# A connection may hold a socket and the files of four responses, but hardly ever does.
_FILES_PER_CONNECTION = 2
_FILES_BESIDE = 100
_LONGEST_HEADER = 16 << 10
_log = logging.getLogger(__name__)


def listen(host: str, port: int, command: str = "serve") -> socket.socket:
    """Return a listening socket. Raises SystemExit, with advice, if that is impossible."""
    if not 0 <= port <= 65535:
        raise SystemExit(f"playgrad: cannot listen on port {port}: ports range from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SystemExit(
                f"playgrad: port {port} on {host} is in use: stop the program that uses it, "
                f"or choose another port (`playgrad {command} --port {port + 1}`)"
            ) from None
        raise SystemExit(f"playgrad: cannot listen on {host}, port {port}: {error}") from None


def page_address(host: str, port: int) -> str:
    """Return the URL to open: browsers treat ``localhost`` as secure, but not ``0.0.0.0``."""
    shown = {"0.0.0.0": "localhost", "::": "localhost", "": "localhost"}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    allowed: Iterable[str] = (),
    embed_in: Iterable[str] = (),
    docs_command: Sequence[str] = (),
) -> None:
    """Serve until interrupted, after fetching Pyodide and MNIST if they are missing or damaged.

    Port 0 chooses a free port. The URL is printed either way.

    Args:
        allowed: further names by which browsers may call the server, for instance of a proxy.
        embed_in: origins of the sites that may show the page in a frame; all without any.
        docs_command: builds the documentation meanwhile; see `DocsBuild`.

    Raises:
        DownloadError: Pyodide is missing and cannot be fetched.
        SystemExit: the address cannot be used.
    """
    hosts = Hosts.of(host, allowed)
    embedding = FramePolicy.of(embed_in)
    with listen(host, port) as listening:
        _fetch_assets()
        images = ImageCache(BundleCache())
        images.get()  # begin to make one now if the library has changed
        if hosts.reach_others:  # on this machine, bytes cost nothing, but packing them does
            pack_in_background(images.bundles.get())
        build = DocsBuild(docs_command) if docs_command else None
        server = make_server(create_app(images, hosts, embedding, build), listening)
        address = page_address(host, listening.getsockname()[1])
        try:
            print(f"playgrad is at {address} (Ctrl+C stops it)", flush=True)
            server.run()
        except KeyboardInterrupt:
            pass
        finally:
            server.close()
            if build:
                build.close()


def make_server(app: Any, listening: socket.socket, streams: int = 0) -> PatientServer:
    """Return a server of ``app`` on ``listening``; its ``run`` serves.

    Args:
        streams: the most answers without an end at the same time, each of which takes a thread.
    """
    settings = Adjustments(
        sockets=[listening],
        threads=_THREADS + streams,
        ident=None,  # no `Server` header: it would help only attackers
        connection_limit=_connection_limit(),
        backlog=1024,
        asyncore_use_poll=True,  # `select` takes file descriptors below 1024 only
        cleanup_interval=1,
        log_socket_errors=False,
        max_request_header_size=_LONGEST_HEADER,
        # Never wait in a thread until a client has read: all long responses are files.
        outbuf_high_watermark=1 << 60,
    )
    # How many requests wait for a thread interests nobody.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    family, kind, protocol = listening.family, listening.type, listening.proto
    address = (family, kind, protocol, listening.getsockname())
    return PatientServer(
        app, {}, True, listening, adj=settings, sockinfo=address, bind_socket=False
    )


def _connection_limit() -> int:
    """Return how many connections fit the file descriptors that this process may open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _FILES_PER_CONNECTION * _CONNECTIONS + _FILES_BESIDE
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return _CONNECTIONS
    return max(50, min(_CONNECTIONS, (soft - _FILES_BESIDE) // _FILES_PER_CONNECTION))


def _fetch_assets() -> None:
    fetch(PYODIDE)
    try:
        fetch(MNIST)
    except DownloadError as error:
        # The page works with other data.
        _log.warning("the page has no MNIST: %s", error)
