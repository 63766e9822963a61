"""The documentation is built beside the server, which says so meanwhile."""

from __future__ import annotations

import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from werkzeug.test import TestResponse

from playgrad import paths
from playgrad.server import create_app
from playgrad.server.docs import DocsBuild
from playgrad.server.serve import make_server
from tests.server.conftest import BufferedClient
from tests.server.test_docs_pages import Page
from tools.docs.__main__ import build

WAITING = "import sys; print('reading <docs>', flush=True); sys.stdin.read()"
FAILING = "import sys; print(*range(100), '<cause>', sep='\\n'); sys.exit(1)"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the documentation, which does not exist."""
    folder = tmp_path / "docs"
    monkeypatch.setattr(paths, "docs", lambda: folder)
    return folder


def write_site(site: Path) -> None:
    site.mkdir()
    (site / "index.html").write_text("<title>playgrad docs</title>")


@pytest.fixture
def builds(site: Path) -> Iterator[list[DocsBuild]]:
    """A list; the builds in it are ended after the test."""
    started: list[DocsBuild] = []
    yield started
    for each in started:
        each.close()
        assert not each.is_running


def start(builds: list[DocsBuild], program: str) -> DocsBuild:
    builds.append(DocsBuild([sys.executable, "-c", program]))
    return builds[-1]


def get(build: DocsBuild | None, address: str) -> TestResponse:
    app = create_app(docs_build=build)
    app.test_client_class = BufferedClient
    return app.test_client().get(address)


def test_page_says_that_it_is_being_built_and_reloads(builds: list[DocsBuild], site: Path) -> None:
    build = start(builds, WAITING)
    for address in ("/docs/", "/docs/page.html"):
        response = get(build, address)
        assert response.status_code == 503
        assert "<h1>The documentation is being built</h1>" in response.text
        assert '<meta http-equiv="refresh" content="2">' in response.text
        assert response.headers["Cache-Control"] == "no-store"
    response = get(build, "/docs/api.json")
    assert (response.status_code, response.mimetype) == (503, "text/plain")
    assert "the documentation is being built" in response.text
    write_site(site)
    response = get(build, "/docs/")
    assert (response.status_code, response.text) == (200, "<title>playgrad docs</title>")


def test_page_says_why_the_build_failed_and_what_to_do(
    builds: list[DocsBuild], site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build = start(builds, FAILING)
    build._reader.join()
    response = get(build, "/docs/")
    assert response.status_code == 503
    assert "<h1>The documentation could not be built</h1>" in response.text
    assert "Run <code>make docs</code> in the checkout" in response.text
    shown = response.text.partition("<pre>")[2].partition("</pre>")[0].splitlines()
    assert shown == [*map(str, range(71, 100)), "&lt;cause&gt;"]
    assert "refresh" not in response.text
    assert "could not be built" in get(build, "/docs/api.json").text
    assert "the documentation was not built; `make docs` shows why:\n71\n" in caplog.text
    write_site(site)
    assert get(build, "/docs/").status_code == 200


def test_site_is_served_while_a_newer_one_is_built(builds: list[DocsBuild], site: Path) -> None:
    write_site(site)
    assert get(start(builds, WAITING), "/docs/").text == "<title>playgrad docs</title>"


def test_pages_about_the_build_need_nothing_that_the_policy_forbids(
    builds: list[DocsBuild],
) -> None:
    for program in (WAITING, FAILING):
        build = start(builds, program)
        if program == FAILING:
            build._reader.join()
        page = Page(get(build, "/docs/").text)
        assert page.inline == []
        for link in page.links:
            assert get(build, link).status_code == 200, link


def test_build_that_ends_with_the_server_is_no_failure(
    builds: list[DocsBuild], caplog: pytest.LogCaptureFixture
) -> None:
    build = start(builds, f"{WAITING}; sys.exit(143)")
    build.close()
    assert not build.is_running
    assert list(build.output) == ["reading <docs>"]
    assert caplog.text == ""


@pytest.mark.browser
def test_page_turns_into_the_documentation(
    chromium: Browser, builds: list[DocsBuild], site: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = make_server(create_app(docs_build=start(builds, WAITING)), listening)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        page = chromium.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/docs/")
        assert page.get_by_role("heading").inner_text() == "The documentation is being built"
        assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "736px"
        write_site(site)
        expect(page).to_have_title("playgrad docs", timeout=300_000)
        page.close()
        server.asyncore.close_all(server._map)
        thread.join(30)
        server.task_dispatcher.shutdown()
    assert not [text for text in said if "Content Security Policy" in text]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The source of a site with one page."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "conf.py").write_text("html_theme = 'basic'\n")
    (folder / "index.rst").write_text("First title\n===========\n")
    return folder


def test_new_site_replaces_the_old_one(source: Path, tmp_path: Path) -> None:
    site = tmp_path / "var" / "docs"
    assert build(source, site, []) == 0
    assert "First title" in (site / "index.html").read_text()
    (source / "index.rst").write_text("Second title\n============\n")
    assert build(source, site, []) == 0
    assert "Second title" in (site / "index.html").read_text()
    assert {path.name for path in site.parent.iterdir()} == {"docs", "docs-cache"}


def test_build_that_fails_leaves_the_old_site(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "var" / "docs"
    assert build(source, site, []) == 0
    (source / "index.rst").write_text("Second title\n============\n\n.. nonsense::\n")
    assert build(source, site, ["--fail-on-warning"]) == 1
    assert 'Unknown directive type "nonsense"' in capsys.readouterr().err
    assert "First title" in (site / "index.html").read_text()


def test_build_after_an_interruption_begins_anew(source: Path, tmp_path: Path) -> None:
    site = tmp_path / "var" / "docs"
    assert build(source, site, []) == 0
    (tmp_path / "var" / "docs-cache" / "site" / "index.html").write_text("<titl")  # cut off
    (tmp_path / "var" / "docs-cache" / "whole").unlink()
    shutil.rmtree(site)
    assert build(source, site, []) == 0
    assert "First title" in (site / "index.html").read_text()
