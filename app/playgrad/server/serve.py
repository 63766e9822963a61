"""The application in waitress, a production WSGI server."""

from __future__ import annotations

import errno
import logging
import socket

from waitress import create_server

from playgrad.assets import MNIST, PYODIDE, DownloadError, fetch
from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

# A browser opens six connections; a page can load while another downloads a data set.
_THREADS = 12
_log = logging.getLogger(__name__)


def _listen(host: str, port: int) -> socket.socket:
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
                f"or choose another port (`playgrad serve --port {port + 1}`)"
            ) from None
        raise SystemExit(f"playgrad: cannot listen on {host}, port {port}: {error}") from None


def _address(host: str, port: int) -> str:
    """Return the URL to open: browsers treat ``localhost`` as secure, but not ``0.0.0.0``."""
    shown = {"0.0.0.0": "localhost", "::": "localhost", "": "localhost"}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def serve(host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve until interrupted, after fetching Pyodide and MNIST if they are missing.

    Port 0 chooses a free port. The URL is printed either way.

    Raises:
        DownloadError: Pyodide is missing and cannot be fetched.
        SystemExit: the address cannot be used.
    """
    with _listen(host, port) as listening:
        _fetch_assets()
        images = ImageCache(BundleCache())
        images.get()  # begin to make one now if the library has changed
        app = create_app(images)
        # No `Server` header: it would help only attackers.
        server = create_server(app, sockets=[listening], threads=_THREADS, ident=None)
        address = _address(host, listening.getsockname()[1])
        try:
            print(f"playgrad is at {address} (Ctrl+C stops it)", flush=True)
            server.run()
        except KeyboardInterrupt:
            pass
        finally:
            server.close()


def _fetch_assets() -> None:
    fetch(PYODIDE)
    try:
        fetch(MNIST)
    except DownloadError as error:
        # The page works with other data.
        _log.warning("the page has no MNIST: %s", error)
