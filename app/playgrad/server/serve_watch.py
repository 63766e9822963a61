"""The page of a training elsewhere, for as long as somebody looks at it."""

from __future__ import annotations

from playgrad.server.app import create_app
from playgrad.server.hosts import Hosts
from playgrad.server.serve import listen, make_server, page_address
from playgrad.server.watch import MOST_STREAMS, WATCH
from playgrad.watching.address import WatchAddress
from playgrad.watching.mirror import Mirror

_HOST = "127.0.0.1"


def serve_watch(address: WatchAddress, port: int = 8001) -> None:
    """Serve the page that shows the training at ``address``, until interrupted.

    Only this machine can open it, since it asks for no token. Port 0 chooses a free port. The URL
    is printed either way.

    Raises:
        SystemExit: the port cannot be used.
    """
    with listen(_HOST, port, "watch HOST:PORT") as listening:
        mirror = Mirror(address)
        app = create_app(hosts=Hosts.of(_HOST), watched=mirror.log)
        server = make_server(app, listening, MOST_STREAMS)
        url = page_address(_HOST, listening.getsockname()[1]).rstrip("/") + WATCH
        try:
            mirror.start()
            print(f"{address.name} is shown at {url} (Ctrl+C stops that)", flush=True)
            server.run()
        except KeyboardInterrupt:
            pass
        finally:
            mirror.close()
            server.close()
