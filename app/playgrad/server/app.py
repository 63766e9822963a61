"""The Flask application and its routes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, NotFound

from playgrad import paths
from playgrad.assets import PYODIDE, PYODIDE_VERSION
from playgrad.data.source import FILES
from playgrad.server.bundle import BundleCache
from playgrad.server.examples import list_examples
from playgrad.server.files import IMMUTABLE, ONE_DAY, REVALIDATE, send
from playgrad.server.headers import add_security_headers
from playgrad.server.image import ImageCache
from playgrad.server.page import compose

# The bundler puts a hash of the content into the names of shared chunks.
_HASHED = re.compile(r"vendor/chunk-[0-9A-Z]{8}\.js")


def _json(value: object) -> Response:
    """Respond with ``value`` as JSON, with an ETag of its content."""
    response = Response(json.dumps(value), mimetype="application/json")
    response.headers["Cache-Control"] = REVALIDATE
    response.add_etag()
    response.make_conditional(request)
    return response


def create_app(images: ImageCache | None = None) -> Flask:
    """Create the application. It serves GET and HEAD only, and its only state is caches."""
    app = Flask("playgrad.server", static_folder=None)
    app.url_map.merge_slashes = False
    app.after_request(add_security_headers)
    app.register_error_handler(HTTPException, _plain_error)
    _add_page_routes(app)
    _add_docs_routes(app)
    _add_asset_routes(app, images or ImageCache(BundleCache()))
    return app


def _plain_error(error: HTTPException) -> Response:
    # The error's headers matter: Allow, Content-Range.
    response = Response(headers=error.get_headers(), status=error.code)
    response.set_data(f"{error.code} {error.name}: {error.description}\n")
    response.mimetype = "text/plain"
    response.headers["Cache-Control"] = "no-store"
    return response


def _add_page_routes(app: Flask) -> None:
    @app.get("/")
    def page() -> Response:
        composed = compose()
        response = Response(composed.content, mimetype="text/html")
        response.headers["Cache-Control"] = REVALIDATE
        response.headers["Content-Security-Policy"] = composed.policy
        response.set_etag(composed.etag)
        response.make_conditional(request)
        return response

    @app.get("/static/<path:name>")
    def static_file(name: str) -> Response:
        return send(paths.static(), name, IMMUTABLE if _HASHED.fullmatch(name) else REVALIDATE)

    @app.get("/examples.json")
    def examples() -> Response:
        return _json(list_examples(paths.static() / "examples"))

    @app.get("/healthz")
    def health() -> Response:
        response = Response('{"status": "ok"}', mimetype="application/json")
        response.headers["Cache-Control"] = "no-store"
        return response


def _add_docs_routes(app: Flask) -> None:
    @app.get("/docs/")
    @app.get("/docs/<path:name>")
    def docs_file(name: str = "index.html") -> Response:
        if not (paths.docs() / "index.html").is_file():
            raise NotFound("the documentation has not been built here: run `make docs`")
        return send(paths.docs(), name, REVALIDATE)


def _add_asset_routes(app: Flask, images: ImageCache) -> None:
    @app.get("/bundle/playgrad.zip")
    def bundle() -> Response:
        archive = images.bundles.get()
        response = Response(archive.content, mimetype="application/zip")
        response.headers["Cache-Control"] = REVALIDATE
        response.set_etag(archive.etag)
        response.make_conditional(request)
        return response

    @app.get("/image/python.bin")
    def image() -> Response:
        path = images.get()
        if path is None:
            raise NotFound("the image of Python's memory is not ready, or cannot be made")
        return send(path.parent, path.name, REVALIDATE)

    @app.get("/pyodide/<name>")
    def current_pyodide_file(name: str) -> Response:
        return send(_pyodide(), name, REVALIDATE)

    @app.get("/pyodide/<version>/<path:name>")
    def pyodide_file(version: str, name: str) -> Response:
        if version != PYODIDE_VERSION:
            raise NotFound(f"this server has Pyodide {PYODIDE_VERSION}, not {version}")
        return send(_pyodide(), name, IMMUTABLE)

    @app.get("/data/mnist/<part>")
    def mnist_file(part: str) -> Response:
        name = f"mnist/{part}"
        if name not in FILES:
            parts = ", ".join(known.removeprefix("mnist/") for known in FILES)
            raise NotFound(f"MNIST has the parts {parts}")
        return send(paths.var(), FILES[name], ONE_DAY)


def _pyodide() -> Path:
    """The folder of the Pyodide runtime."""
    folder = PYODIDE.folder()
    if not folder.is_dir():
        raise NotFound("Pyodide has not been fetched: restart `playgrad serve`, which fetches it")
    return folder
