"""The documentation as it is served: the built site, its links, its policy, and the API data."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from flask.testing import FlaskClient

from playgrad import paths
from playgrad.server.api import MODULES, describe_api


class Page(HTMLParser):
    """Links and ids of a page, and whatever the Content-Security-Policy would refuse."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.ids |= {value for name, value in attrs if name == "id" and value}
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        if tag in ("style", "form") or (tag == "script" and "src" not in attributes):
            self.inline.append(tag)
        self.inline += [name for name in attributes if name == "style" or name.startswith("on")]


def crawl(client: FlaskClient) -> tuple[dict[str, Page], list[tuple[str, str]]]:
    """Every page of the site by address, and every link as (page, target with its fragment)."""
    pages: dict[str, Page] = {}
    links: list[tuple[str, str]] = []
    waiting = ["/docs/"]
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        response = client.get(address)
        assert response.status_code == 200, f"{address}: {response.text}"
        pages[address] = page = Page(response.text)
        for link in page.links:
            target = urljoin(address, link)
            if "://" in target or target.startswith("mailto:"):
                continue
            links.append((address, target))
            path = urldefrag(target).url.partition("?")[0]
            if path.startswith("/docs/") and path.endswith(".html"):
                waiting.append(path)
    return pages, links


def test_every_link_leads_somewhere(client: FlaskClient) -> None:
    pages, links = crawl(client)
    assert len(pages) > 20
    statuses: dict[str, int] = {}
    for page, target in links:
        path, fragment = urldefrag(target)
        path = path.partition("?")[0]
        if path not in statuses:
            statuses[path] = client.get(unquote(path)).status_code
        assert statuses[path] == 200, f"{page} links to {target}"
        if fragment and path in pages:
            assert unquote(fragment) in pages[path].ids, f"{page} links to {target}"


def test_every_page_complies_with_the_security_policy(client: FlaskClient) -> None:
    for address, page in crawl(client)[0].items():
        assert page.inline == [], address
    policy = client.get("/docs/").headers["Content-Security-Policy"]
    assert policy == client.get("/healthz").headers["Content-Security-Policy"]


def test_the_guides_are_there(client: FlaskClient) -> None:
    pages = crawl(client)[0]
    guides = Path(__file__).resolve().parents[2] / "docs"
    for guide in guides.rglob("*.md"):
        name = guide.relative_to(guides).with_suffix(".html").as_posix()
        assert f"/docs/{name}" in pages


def test_the_page_links_to_the_docs(client: FlaskClient) -> None:
    link = paths.static() / "js" / "components" / "docs-link.js"
    assert 'en: "/docs/"' in link.read_text(encoding="utf-8")


def test_docs_address_without_a_slash_is_redirected(client: FlaskClient) -> None:
    response = client.get("/docs")
    assert response.status_code == 308
    assert response.headers["Location"].endswith("/docs/")


@pytest.mark.parametrize("name", ["", "index.html", "api.json"])
def test_missing_build_says_how_to_make_one(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(paths, "docs", lambda: tmp_path)
    response = client.get(f"/docs/{name}")
    assert response.status_code == 404
    assert "has not been built here: run `make docs`" in response.text


def test_every_public_name_is_described() -> None:
    entries = {entry["name"]: entry for entry in describe_api()}
    for module in MODULES:
        for name in module.__all__:
            entry = entries[f"{module.__name__}.{name}"]
            assert entry["doc"].strip(), f"{module.__name__}.{name} has no docstring"
            if entry["kind"] in ("class", "function"):
                assert entry["signature"].startswith("("), name
    assert {"data", "expr", "games", "io", "nn", "optim", "parallel"} == {
        name.partition(".")[2] for name, entry in entries.items() if entry["kind"] == "module"
    }


def test_descriptions_name_parameters_defaults_and_texts() -> None:
    entries = {entry["name"]: entry for entry in describe_api()}
    dense = entries["playgrad.nn.Dense"]
    assert dense["kind"] == "class" and dense["bases"] == ["Layer"]
    assert dense["signature"].startswith("(units: int, activation: Any = None")
    units = dense["parameters"][0]
    assert (units["name"], units["annotation"], units["default"]) == ("units", "int", None)
    assert units["doc"] and dense["parameters"][3]["doc"] == dense["parameters"][4]["doc"]
    assert entries["playgrad.Model.fit"]["kind"] == "method"
    assert "self" not in [each["name"] for each in entries["playgrad.Model.fit"]["parameters"]]
    assert entries["playgrad.nn.Model"]["alias_of"] == "playgrad.Model"
    assert entries["playgrad.Model.weights"]["kind"] == "property"


def test_api_data_is_served_with_addresses(client: FlaskClient) -> None:
    response = client.get("/docs/api.json")
    assert response.headers["Content-Type"] == "application/json"
    names = {entry["name"]: entry for entry in json.loads(response.text)["names"]}
    pages = crawl(client)[0]
    for name, entry in names.items():
        if entry["kind"] != "module":
            path, fragment = urldefrag(entry["page"])
            assert fragment in pages[f"/docs/{path}"].ids, name
