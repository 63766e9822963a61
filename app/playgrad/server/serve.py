"""Runs the application in waitress, a production WSGI server."""

from __future__ import annotations

import errno
import socket

from waitress import create_server

from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

# A browser keeps six connections; a page loads while another downloads a data set.
_THREADS = 12


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises SystemExit, with what to do, if the address cannot be had."""
    if not 0 <= port <= 65535:
        raise SystemExit(f"playgrad: cannot listen on port {port}: ports go from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SystemExit(
                f"playgrad: port {port} on {host} is taken: stop what runs there, "
                f"or choose another port (PORT={port + 1} make run)"
            ) from None
        raise SystemExit(f"playgrad: cannot listen on {host}, port {port}: {error}") from None


def _address(host: str, port: int) -> str:
    """The address to open: a browser treats ``localhost`` as secure, and ``0.0.0.0`` not."""
    shown = {"0.0.0.0": "localhost", "::": "localhost", "": "localhost"}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def serve(host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serves until interrupted. Port 0 takes any free one; the address is printed either way."""
    listening = _listen(host, port)
    # No `Server` header: it would only say what to attack.
    images = ImageCache(BundleCache())
    images.get()  # made meanwhile, if the library is another than the last time
    server = create_server(create_app(images), sockets=[listening], threads=_THREADS, ident=None)
    address = _address(host, listening.getsockname()[1])
    try:
        print(f"playgrad is at {address} (Ctrl+C stops it)", flush=True)
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
