"""The Flask application and its routes."""

from __future__ import annotations

import json
from collections.abc import Callable

from flask import Flask, Response
from werkzeug.exceptions import HTTPException, NotFound

from playgrad import paths
from playgrad.assets import (
    DATA_SETS,
    MNIST,
    PACKAGE_FILES,
    PACKAGES,
    PYODIDE,
    PYODIDE_URL,
    PYODIDE_VERSION,
    Asset,
)
from playgrad.data.source import FILES
from playgrad.server.bundle import BundleCache
from playgrad.server.docs import DocsBuild, send_docs
from playgrad.server.embedding import PATH, FramePolicy
from playgrad.server.examples import examples_text
from playgrad.server.fetching import fetch_first
from playgrad.server.files import IMMUTABLE, REVALIDATE, send
from playgrad.server.guard import Guard
from playgrad.server.headers import add_security_headers
from playgrad.server.hosts import Hosts
from playgrad.server.image import ImageCache
from playgrad.server.names import names_content
from playgrad.server.page import ComposedPage, compose
from playgrad.server.page_bundle import folder_of
from playgrad.server.pixels import IMAGES, send_images
from playgrad.server.texts import Text, send_text
from playgrad.server.version import VERSION_HEADER, Version, describe_version
from playgrad.server.watch import add_watch_routes
from playgrad.watching.event_log import EventLog

_PYODIDE_FOLDER = PYODIDE_URL.split("/")[2]


def create_app(
    images: ImageCache | None = None,
    hosts: Hosts | None = None,
    embedding: FramePolicy | None = None,
    docs_build: DocsBuild | None = None,
    packages: bool = True,
    watched: EventLog | None = None,
) -> Flask:
    """Create the application. It serves GET and HEAD only, and its only state is caches.

    The one that shows a training has ``/watch`` in place of the other pages.

    Args:
        images: images of Python's memory.
        hosts: the names that requests may call the server; this machine's by default.
        embedding: the sites that may show the page in a frame; all by default.
        docs_build: the build of the documentation, if it runs beside the server.
        packages: whether programs can import `PACKAGES`.
        watched: the events of a training elsewhere, which the page then shows.
    """
    app = Flask("playgrad.server", static_folder=None)
    app.wsgi_app = Guard(app.wsgi_app, hosts or Hosts())  # type: ignore[method-assign]
    app.url_map.merge_slashes = False
    app.after_request(add_security_headers)
    app.register_error_handler(HTTPException, _plain_error)
    images = images or ImageCache(BundleCache())
    embedding = embedding or FramePolicy()
    if watched is not None:
        add_watch_routes(app, watched)
    _add_page_routes(app, embedding, lambda: describe_version(images, embedding, packages))
    _add_docs_routes(app, docs_build)
    _add_asset_routes(app, images)
    _add_library_routes(app, packages)
    return app


def _plain_error(error: HTTPException) -> Response:
    # The error's headers matter: Allow, Content-Range.
    response = Response(headers=error.get_headers(), status=error.code)
    response.set_data(f"{error.code} {error.name}: {error.description}\n")
    response.mimetype = "text/plain"
    response.headers["Cache-Control"] = "no-store"
    return response


def _add_page_routes(app: Flask, embedding: FramePolicy, describe: Callable[[], Version]) -> None:
    def send_page(composed: ComposedPage) -> Response:
        version = describe().name
        # A page that only revalidates must get the headers that fit.
        etag_of = composed.policy + version
        response = send_text(composed.text, "text/html", REVALIDATE, etag_of)
        response.headers["Content-Security-Policy"] = composed.policy
        response.headers[VERSION_HEADER] = version
        return response

    @app.get("/")
    def page() -> Response:
        return send_page(compose())

    @app.get(PATH)
    def embedded_page() -> Response:
        if not embedding.is_allowed:
            raise NotFound("this server does not let other sites embed the page")
        response = send_page(compose(embedding))
        response.headers.update(embedding.headers)
        return response

    @app.get("/version.json")
    def version() -> Response:
        text = json.dumps(describe().as_json())
        return send_text(Text(text.encode()), "application/json", REVALIDATE)

    @app.get("/service-worker.js")
    def service_worker() -> Response:
        # Here, because a service worker's folder limits what it sees.
        return send(paths.static(), "js/service-worker.js", REVALIDATE)

    @app.get("/static/<path:name>")
    def static_file(name: str) -> Response:
        return send(folder_of(name), name, REVALIDATE)

    @app.get("/examples.json")
    def examples() -> Response:
        return send_text(examples_text(), "application/json", REVALIDATE)

    @app.get("/healthz")
    def health() -> Response:
        response = Response('{"status": "ok"}', mimetype="application/json")
        response.headers["Cache-Control"] = "no-store"
        return response


def _add_library_routes(app: Flask, packages: bool) -> None:
    @app.get("/names.json")
    def names() -> Response:
        return send_text(names_content(packages), "application/json", REVALIDATE)

    @app.get("/packages/<name>")
    def package(name: str) -> Response:
        file = PACKAGE_FILES.get(name)
        if file is None or not packages:
            there = ", ".join(PACKAGE_FILES) if packages else "none"
            raise NotFound(f"the Python packages of this server: {there}")
        fetch_first(PACKAGES)
        return _send_asset(PACKAGES, file.name, REVALIDATE)


def _add_docs_routes(app: Flask, build: DocsBuild | None) -> None:
    @app.get("/docs/")
    @app.get("/docs/<path:name>")
    def docs_file(name: str = "index.html") -> Response:
        return send_docs(name, build)


def _add_asset_routes(app: Flask, images: ImageCache) -> None:
    @app.get("/bundle/playgrad.zip")
    def bundle() -> Response:
        return send_text(images.bundles.get(), "application/zip", REVALIDATE)

    @app.get("/image/python.bin")
    def image() -> Response:
        path = images.get()
        if path is None:
            raise NotFound("the image of Python's memory is not ready, or cannot be made")
        return send(path.parent, path.name, REVALIDATE)

    @app.get("/image/made.bin")
    def made_image() -> Response:
        """What a browser has made itself, its service worker has: this server has nothing."""
        return Response(status=204)

    @app.get("/pyodide/<folder>/<name>")
    def pyodide_file(folder: str, name: str) -> Response:
        if folder not in (_PYODIDE_FOLDER, PYODIDE_VERSION):
            raise NotFound(f"this server has Pyodide {_PYODIDE_FOLDER}, not {folder[:100]}")
        # Only the full name of the folder contains a hash of the content.
        cache_control = IMMUTABLE if folder == _PYODIDE_FOLDER else REVALIDATE
        return _send_asset(PYODIDE, name, cache_control)

    @app.get("/data/<data_set>/<part>")
    def data_file(data_set: str, part: str) -> Response:
        path = FILES.get(f"{data_set}/{part}")
        if path is None:
            raise NotFound(f"the data files of this server are {', '.join(FILES)}")
        folder, name = path.split("/")
        asset = DATA_SETS[folder]
        if asset is not MNIST:
            fetch_first(asset)
        response = send_images(asset, asset.pinned[name])
        response = response or _send_asset(asset, name, REVALIDATE)
        if IMAGES in name:  # others are the same for every client, and are fetched once
            response.vary.add("Accept")
        return response


def _send_asset(asset: Asset, name: str, cache_control: str) -> Response:
    """Respond with a file of ``asset``, whose content is checked.

    Raises:
        NotFound: there is no such file, or the asset has not been fetched.
        ServiceUnavailable: the file is damaged.
    """
    file = asset.pinned.get(name)
    if file is None:
        raise NotFound(f"{asset.title} has no file {name[:100]!r}")
    if not (asset.folder() / name).is_file():
        raise NotFound(
            f"{asset.title} has not been fetched: restart `playgrad serve`, which fetches it"
        )
    return send(asset.folder(), name, cache_control, file)
