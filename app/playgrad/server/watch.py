"""The page that shows a training elsewhere, and the stream of its events.

The page gets the events from this server, not from the training's: so it needs no other origin,
and never has the token.
"""

from __future__ import annotations

import threading

from flask import Flask, Response, redirect, request
from werkzeug.exceptions import ServiceUnavailable
from werkzeug.wrappers import Response as Answer

from playgrad.server.files import REVALIDATE
from playgrad.server.page import compose
from playgrad.server.texts import send_text
from playgrad.watching.event_log import EventLog
from playgrad.watching.event_stream import CONTENT_TYPE, event_stream

WATCH = "/watch"
MOST_STREAMS = 5
"""Tabs. Each takes a thread of the server, and one of six connections of a browser to it."""
_OTHER_PAGES = ("/", "/embed")


def add_watch_routes(app: Flask, log: EventLog) -> None:
    """Add the page, its events, and the way there from other pages, which are of no use here."""
    streams = threading.BoundedSemaphore(MOST_STREAMS)

    @app.before_request
    def lead_there() -> Answer | None:
        return redirect(WATCH) if request.path in _OTHER_PAGES else None

    @app.get(WATCH)
    def watch_page() -> Response:
        composed = compose(watches=True)
        response = send_text(composed.text, "text/html", REVALIDATE, composed.policy)
        response.headers["Content-Security-Policy"] = composed.policy
        return response

    @app.get(f"{WATCH}/events")
    def watch_events() -> Response:
        if request.method == "HEAD":
            return Response(mimetype=CONTENT_TYPE)
        if not streams.acquire(blocking=False):
            raise ServiceUnavailable(f"{MOST_STREAMS} tabs watch this training already")
        stream = event_stream(log, request.headers.get("Last-Event-ID"))
        response = Response(stream, mimetype=CONTENT_TYPE, headers={"Cache-Control": "no-store"})
        response.call_on_close(streams.release)
        return response
