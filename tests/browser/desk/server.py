"""The real server, with a page in which the desktop's Python computes in the place of Pyodide.

``python -m tests.browser.desk.server`` prints its address, like ``playgrad serve``. Of the page
one module is exchanged, the one that starts Pyodide.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from flask import Flask, Response

from playgrad.server.app import create_app
from playgrad.server.headers import CONTENT_SECURITY_POLICY
from playgrad.server.serve import make_server
from playgrad.server.texts import Text, send_text

_FOLDER = Path(__file__).parent


def _exchange(app: Flask, address: str) -> None:
    """Serve the desk's modules, one of which may connect to ``address``, a WebSocket's."""

    def module(name: str) -> Response:
        text = (_FOLDER / name).read_text(encoding="utf-8").replace("ws://desk", address)
        return send_text(Text(text.encode()), "text/javascript", "no-cache")

    @app.get("/static/engine/python-boot.js")
    def boot() -> Response:
        return module("boot.js")

    @app.get("/static/engine/desk-link.js")
    def link() -> Response:
        response = module("link.js")
        policy = CONTENT_SECURITY_POLICY.replace("connect-src", f"connect-src {address}")
        response.headers["Content-Security-Policy"] = policy
        return response


def main() -> None:
    program = [sys.executable, "-m", "tests.browser.desk.interpreters"]
    pipe = subprocess.PIPE
    # The interpreters end with this process, when their standard input does.
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True) as interpreters:
        assert interpreters.stdout
        port = int(interpreters.stdout.readline())
        with socket.create_server(("127.0.0.1", 0)) as listening:
            app = create_app()
            _exchange(app, f"ws://127.0.0.1:{port}")
            server = make_server(app, listening)
            print(f"desk is at http://127.0.0.1:{listening.getsockname()[1]}/ ", flush=True)
            server.run()


if __name__ == "__main__":
    main()
