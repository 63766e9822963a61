"""Only /embed may be shown in a frame, and only by the sites that the operator allows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from playgrad.assets import PYODIDE_URL
from playgrad.server import create_app
from playgrad.server.embedding import PATH, FramePolicy
from playgrad.server.version import VERSION_HEADER
from tests.cli.running import run

# An address of each route, and addresses that are errors.
ADDRESSES = [
    "/", "/version.json", "/service-worker.js", "/static/js/embed-main.js", "/examples.json",
    "/names.json", "/healthz", "/docs/", "/docs/page.html", "/bundle/playgrad.zip",
    "/image/python.bin", "/image/made.bin", f"{PYODIDE_URL}pyodide.mjs", "/data/mnist/test-labels",
    "/packages/none",
]  # fmt: skip
ERRORS = ["/embed/", "/embed.html", "/Embed", "//embed", "/static/../embed", "/nothing"]


def policy(client: FlaskClient, address: str) -> dict[str, str]:
    text = client.get(address).headers["Content-Security-Policy"]
    return dict(part.strip().split(" ", 1) for part in text.split(";"))


def client_of(*allowed: str) -> FlaskClient:
    return create_app(embedding=FramePolicy.of(allowed)).test_client()


@pytest.mark.parametrize("address", ADDRESSES + ERRORS)
def test_every_other_answer_refuses_to_be_framed(client: FlaskClient, address: str) -> None:
    response = client.get(address)
    assert policy(client, address)["frame-ancestors"] == "'none'"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Document-Isolation-Policy" not in response.headers


def test_every_route_is_among_the_addresses(client: FlaskClient) -> None:
    adapter = client.application.url_map.bind("localhost")
    tried = {adapter.match(address)[0] for address in [*ADDRESSES, PATH]}
    assert tried == set(client.application.view_functions)


def test_the_frame_has_the_headers_that_isolate_it(client: FlaskClient) -> None:
    response = client.get(PATH)
    assert response.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response.headers["Document-Isolation-Policy"] == "isolate-and-require-corp"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_the_frame_policy_differs_only_in_its_ancestors(client: FlaskClient) -> None:
    """And in the script that begins Python, which a frame starts with its program."""
    frame, page = policy(client, PATH), policy(client, "/")
    assert frame.pop("frame-ancestors") == "*"
    assert page.pop("frame-ancestors") == "'none'"
    scripts, fewer = (set(each.pop("script-src").split()) for each in (page, frame))
    assert fewer < scripts and len(scripts - fewer) == 1
    assert frame == page


def test_the_frame_is_the_page_with_another_main_script(client: FlaskClient) -> None:
    text = client.get(PATH).text
    scripts = re.findall(r'<script type="module" src="([^"]+)"', text)
    assert scripts[-1] == "static/js/embed-main.js"
    assert "static/js/main.js" not in scripts
    assert "static/css/embed.css" in text and "manifest" not in text
    for address in [*scripts, "static/css/embed.css"]:
        assert client.get(f"/{address}").status_code == 200


def test_the_operator_names_the_sites() -> None:
    client = client_of("https://school.example", "https://*.school.example:8443")
    ancestors = policy(client, PATH)["frame-ancestors"]
    assert ancestors == "https://school.example https://*.school.example:8443"
    assert policy(client, "/")["frame-ancestors"] == "'none'"


def test_the_operator_forbids_embedding() -> None:
    client = client_of("none")
    response = client.get(PATH)
    assert response.status_code == 404
    assert "does not let other sites embed" in response.text
    assert policy(client, PATH)["frame-ancestors"] == "'none'"
    listed = client.get("/version.json").json
    assert listed and PATH not in listed["files"]


def test_the_allowed_sites_are_part_of_the_version() -> None:
    """A browser that keeps the page keeps its headers."""
    clients = [client_of(), client_of("https://a.example"), client_of("https://b.example")]
    versions = [client.get("/version.json").json for client in clients]
    assert len({version["version"] for version in versions if version}) == 3
    for client, version in zip(clients, versions, strict=True):
        assert version and version["files"][PATH]
        assert client.get(PATH).headers[VERSION_HEADER] == version["version"]


@pytest.mark.parametrize(
    "site",
    [
        "", "school.example", "https://", "https://a.example/path", "https://a.example; img-src *",
        "https://a.example https://b.example", "ftp://a.example", "https://a.example\n", "*",
        "data:", "'self'", "https://*", "https://a..%00", "https://a.example:port", "NONE",
    ],
)  # fmt: skip
def test_invalid_origins_are_refused(
    site: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="is not the origin of a site, such as https://"):
        FramePolicy.of([site])
    code, _, errors = run(capsys, "serve", f"--embed-in={site}")
    assert code == 2
    assert "is not the origin of a site" in errors


def test_none_cannot_be_combined_with_sites(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, errors = run(capsys, "serve", "--embed-in", "none", "--embed-in", "https://a.example")
    assert code == 2
    assert "'none' excludes every site" in errors
