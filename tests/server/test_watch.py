"""The page that shows a training elsewhere, and the stream of its events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from playgrad.server import create_app
from playgrad.server.watch import MOST_STREAMS, WATCH
from playgrad.watching.event_log import EventLog
from tests.watching.readers import WATCHED


@pytest.fixture
def log() -> EventLog:
    log = EventLog()
    log.add(WATCHED)
    return log


@pytest.fixture
def client(log: EventLog) -> FlaskClient:
    return create_app(watched=log).test_client()


def test_the_page_is_the_ordinary_one_with_another_main_script(client: FlaskClient) -> None:
    response = client.get(WATCH)
    scripts = re.findall(r'<script type="module" src="([^"]+)"', response.text)
    assert scripts[-1] == "static/js/watch-main.js" and "static/js/main.js" not in scripts
    assert "manifest" not in response.text
    for address in [*scripts, "static/css/watch.css"]:
        with client.get(f"/{address}") as file:
            assert file.status_code == 200
    policy = response.headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["/", "/embed"])
def test_other_pages_lead_there(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.location) == (302, WATCH)
    assert response.headers["Content-Security-Policy"]


def test_a_server_of_the_playground_shows_no_training() -> None:
    client = create_app().test_client()
    assert client.get(WATCH).status_code == client.get(f"{WATCH}/events").status_code == 404


def test_the_stream_has_the_events_and_security_headers(client: FlaskClient, log: EventLog) -> None:
    log.close()
    with client.get(f"{WATCH}/events") as response:
        assert response.mimetype == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in response.headers
        data = re.findall(r"^id: (\S+)\ndata: (.*)$", response.text, re.MULTILINE)
    assert [json.loads(text) for _, text in data] == [WATCHED]
    with client.get(f"{WATCH}/events", headers={"Last-Event-ID": data[0][0]}) as again:
        assert "watched" not in again.text and "event: end" in again.text
    assert client.head(f"{WATCH}/events").data == b""
    assert client.post(f"{WATCH}/events").status_code == 405


def test_another_name_of_this_machine_is_refused(client: FlaskClient) -> None:
    response = client.get(f"{WATCH}/events", headers={"Host": "rebound.example"})
    assert response.status_code == 421


def test_there_are_so_many_tabs_and_no_more(client: FlaskClient) -> None:
    tabs = [client.get(f"{WATCH}/events") for _ in range(MOST_STREAMS)]
    assert next(_parts(tabs[0].response)).startswith(b"retry")
    with client.get(f"{WATCH}/events") as response:
        assert response.status_code == 503
    for tab in tabs:
        tab.close()
    with client.get(f"{WATCH}/events") as response:
        assert response.status_code == 200


def _parts(response: object) -> Iterator[bytes]:
    return iter(response)  # type: ignore[call-overload, no-any-return]
