"""The two servers of the benchmark, both on 127.0.0.1 and a free port.

Peers get a plain one that makes their pages cross-origin isolated, as threads of WebAssembly need.
playgrad gets its own application, to which only the files of the workloads are added.
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
    """The pages of the peers, their packages and the workloads."""
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
    """borch's runtime with a smaller probe of read-back times, which is not what is measured."""
    text, changed = re.subn(r"(KICK_PROBE_ITERS) = 1e4;", r"\1 = 10;", text)
    text, more = re.subn(r"(KICK_PROBE_WORKGROUPS) = 1024;", r"\1 = 1;", text)
    assert (changed, more) == (1, 1), "borch's probe is not where it was"
    return text


def playgrad_app() -> Flask:
    """playgrad's application, with the workloads beside its own data sets."""
    app = create_app()

    @app.get("/data/bench/<path:name>")
    def workload(name: str) -> Response:
        return _file(DATA, name)

    return app


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """Serves ``app`` from a thread; gives its address, without a slash at the end."""
    server = create_server(app, host="127.0.0.1", port=0, threads=8, ident=None)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()
        thread.join(timeout=5)
