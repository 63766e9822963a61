"""The two servers of the benchmark, both on 127.0.0.1 and a free port.

The peers' server makes pages cross-origin isolated, which WebAssembly threads require. playgrad's
is its usual application with the workloads' files added.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask, Response, abort, send_file
from waitress import create_server

from bench.paths import DATA, NPM, PYTHON, WEB
from playgrad.server.app import create_app

_ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def _file(folder: Path, name: str) -> Response:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        abort(404)
    return send_file(path)


def peers_app() -> Flask:
    """Return the application with the peers' pages, their packages and the workloads."""
    app = Flask("bench", static_folder=None)

    @app.after_request
    def isolate(response: Response) -> Response:
        response.headers.update(_ISOLATED)
        return response

    @app.get("/web/<path:name>")
    def page(name: str) -> Response:
        return _file(WEB, name)

    @app.get("/modules/<path:name>")
    def module(name: str) -> Response:
        return _file(NPM, name)

    @app.get("/data/<path:name>")
    def workload(name: str) -> Response:
        return _file(DATA, name)

    @app.get("/borch.js")
    def borch() -> Response:
        text = (PYTHON / "borch_webgpu" / "_borch.js").read_text(encoding="utf-8")
        return Response(_small_probe(text), mimetype="text/javascript")

    return app


def _small_probe(text: str) -> str:
    """Return borch's runtime with a shorter probe of read-back times, which is not measured."""
    text, changed = re.subn(r"(KICK_PROBE_ITERS) = 1e4;", r"\1 = 10;", text)
    text, more = re.subn(r"(KICK_PROBE_WORKGROUPS) = 1024;", r"\1 = 1;", text)
    assert (changed, more) == (1, 1), "borch's probe has changed: update the patterns"
    return text


def playgrad_app() -> Flask:
    """Return playgrad's application with the workloads, and the scripts of ``bench/web``."""
    app = create_app()

    @app.get("/bench/<path:name>")
    def script(name: str) -> Response:
        return _file(WEB, name)

    @app.get("/data/bench/<path:name>")
    def workload(name: str) -> Response:
        return _file(DATA, name)

    return app


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serve ``app`` from a thread; yield its address, without a trailing slash."""
    server = create_server(app, host="127.0.0.1", port=0, threads=8, ident=None)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()
        thread.join(timeout=5)
