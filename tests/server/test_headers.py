"""Every response has the isolation headers, a strict policy and the right content type."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from playgrad import paths

PAGES = ["/", "/healthz", "/examples.json", "/bundle/playgrad.zip", "/data/mnist/test-labels"]
ERRORS = ["/nothing", "/static/nothing.js", "/static/", "/pyodide/0.1.0/pyodide.mjs"]


@pytest.mark.parametrize("address", PAGES + ERRORS)
def test_every_answer_has_security_headers(client: FlaskClient, address: str) -> None:
    response = client.get(address)
    assert response.status_code == (404 if address in ERRORS else 200)
    assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "Server" not in response.headers


def test_policy_is_strict(client: FlaskClient) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    hashes = re.compile(r" 'sha256-[A-Za-z0-9+/]{43}='")
    assert hashes.sub("", directives["script-src"]) == "'self' 'wasm-unsafe-eval'"
    assert directives["connect-src"] == directives["worker-src"] == "'self'"
    assert hashes.sub("", directives["style-src"]) == "'self'"
    assert directives["frame-ancestors"] == directives["base-uri"] == "'none'"
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("a.html", "text/html; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.wgsl", "text/plain; charset=utf-8"),
        ("a.py", "text/x-python; charset=utf-8"),
        ("a.svg", "image/svg+xml; charset=utf-8"),
        ("a.wasm", "application/wasm"),
        ("a.whl", "application/zip"),
        ("a.zip", "application/zip"),
        ("a.json", "application/json"),
        ("a.unheard-of", "application/octet-stream"),
    ],
)
def test_content_types_follow_the_file_name(
    client: FlaskClient, static: Path, name: str, content_type: str
) -> None:
    (static / name).write_text("content")
    assert client.get(f"/static/{name}").headers["Content-Type"] == content_type


def test_health_check_answers_ok(client: FlaskClient) -> None:
    response = client.get("/healthz")
    assert response.json == {"status": "ok"}
    assert response.headers["Cache-Control"] == "no-store"


def test_error_is_plain_text_naming_the_cause(client: FlaskClient) -> None:
    response = client.get("/static/no<b>such.js")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.text == "404 Not Found: no file 'no<b>such.js'\n"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(client: FlaskClient, method: str) -> None:
    response = client.open("/healthz", method=method)
    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]
    assert "Content-Security-Policy" in response.headers


def test_the_early_scripts_and_styles_are_part_of_the_page(client: FlaskClient) -> None:
    """They say what is missing, so they cannot be missing; the policy allows only them."""
    response = client.get("/")
    page, policy = response.text, response.headers["Content-Security-Policy"]
    scripts = re.findall(r"<script(?: nomodule)?>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    names = {path.name for path in (paths.static() / "js" / "start").glob("early-*.js")}
    assert len(scripts) == len(names - {"early-site.js"}) and len(styles) == 1
    assert "/early" not in page
    for text in scripts + styles:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.count("sha256-") == len(scripts + styles)
    etag = response.headers["ETag"]
    assert client.get("/", headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.parametrize(
    "address",
    ["/static/js/main.js", "/examples.json", "/names.json", "/data/mnist/test-images", *PAGES[3:]],
)
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_answers_carry_digest_and_length_of_their_content(
    client: FlaskClient, address: str, encoding: str
) -> None:
    """The digest and the length belong to the content before it is compressed."""
    response = client.get(address, headers={"Accept-Encoding": encoding})
    content = response.data
    if response.headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    assert response.headers["Playgrad-Digest"] == f"sha-256=:{digest}:"
    # A browser that checks by itself shows no byte before the last one has arrived.
    by_browser = None if len(content) > 1 << 19 else f"sha-256=:{digest}:"
    assert response.headers.get("Unencoded-Digest") == by_browser
    assert response.headers["Unencoded-Length"] == str(len(content))
