"""The page on a static host that sends no headers, below a path of its own."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from playgrad import paths
from playgrad.cli import main
from tests.browser import webdriver
from tests.browser.playground import Playground
from tests.browser.test_other_browsers import Page
from tests.browser.webdriver import WebDriverError

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

SPIRAL = "[data-testid=gallery-card][data-example=spiral]"
# The name of the version that is kept for visits without the host.
KEPT = """async () => {
  const cache = await caches.open("playgrad-1 /course/");
  const current = await cache.match("/kept/current");
  return (await current?.text()) ?? null;
}"""
MARK = "document.documentElement.dataset.mark"


class Host:
    """A static host: Python's own server. It serves a folder as ``/course/``.

    Attributes:
        asked: the paths of the requests, with the statuses of the answers.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[tuple[str, str]] = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_request(self, code: object = "-", size: object = "-") -> None:
                asked.append((self.path, str(getattr(code, "value", code))))

        serve = functools.partial(Handler, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def write(self) -> None:
        assert main(["site", str(self.folder / "course"), "--lite"]) == 0

    @property
    def version(self) -> str:
        """The name of the version that is there."""
        return str(json.loads((self.folder / "course" / "version.json").read_bytes())["version"])

    @contextmanager
    def another_page(self, text: str) -> Iterator[None]:
        """Have something else in place of the site."""
        site = self.folder / "course"
        site.rename(self.folder / "before")
        site.mkdir()
        (site / "index.html").write_text(text, encoding="utf-8")
        yield
        shutil.rmtree(site)
        (self.folder / "before").rename(site)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("host"))
    host.write()
    yield host
    host.close()


def wait_until_open(session: webdriver.Session) -> None:
    """Wait for the page, which the first one opens: a script in that would end with it."""
    while True:
        try:
            session.command("FindElement", using="css selector", value="[data-testid=status]")
        except WebDriverError as error:
            assert "Unable to locate" in str(error)
            time.sleep(0.1)
        else:
            return


def test_firefox_trains_on_its_first_visit(host: Host, tmp_path: Path) -> None:
    with webdriver.firefox(tmp_path) as session:
        page = Page(session, host.address, tmp_path)
        session.command("Navigate", url=f"{host.address}/course/")
        wait_until_open(session)
        assert page.evaluate("return crossOriginIsolated")
        page.session.command("ElementClick", id=page.element(SPIRAL))
        page.click("run")
        page.expect_status("done")
        assert float(page.text("[data-testid=test-accuracy]").rstrip("%")) > 90


def test_a_visit_trains_a_new_version_replaces_the_old_and_neither_needs_the_host(
    chromium: Browser, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.asked.clear()
    visitor = Playground(chromium, host.address, "/course/", service_workers="allow")
    visitor.page.wait_for_selector("[data-testid=status]")
    assert visitor.page.evaluate("crossOriginIsolated")
    expect(visitor.at("docs-link")).to_have_count(0)
    visitor.page.locator(SPIRAL).click()
    visitor.at("run").click()
    visitor.expect_status("done")
    assert visitor.number("test-accuracy") > 90
    asked = [path for path, _ in host.asked]
    contents = [path for path in asked if path.startswith("/course/files/")]
    assert len(contents) == len(set(contents)), "fetched twice"
    assert set(asked) - set(contents) == {
        "/course/", "/course/version.json", "/course/service-worker.js"
    }  # fmt: skip
    assert {status for _, status in host.asked} <= {"200", "304"}

    # A new version replaces the old one; an open page continues with its own.
    static = tmp_path / "static"
    shutil.copytree(paths.static(), static)
    with open(static / "js" / "start" / "early-theme.js", "a", encoding="utf-8") as script:
        script.write('document.documentElement.dataset.mark = "new";')
    with monkeypatch.context() as patch:
        patch.setattr(paths, "static", lambda: static)
        host.write()
    assert visitor.page.evaluate("fetch('names.json').then(({ ok }) => ok)")
    visitor.page.reload()
    assert visitor.page.evaluate(MARK) == "new"
    visitor.expect_status("ready", "done")
    visitor.wait(lambda: visitor.page.evaluate(KEPT) == host.version)

    # Another page at the same address is seen; without the host, what was kept opens and trains.
    with host.another_page("<p>Something else</p>"):
        visitor.page.reload()
        expect(visitor.page.get_by_text("Something else")).to_be_visible()
    host.close()
    visitor.page.reload()
    assert visitor.page.evaluate(MARK) == "new"
    visitor.expect_status("ready", "done")
    visitor.at("reset").click()
    visitor.expect_status("ready")
    visitor.at("run").click()
    visitor.expect_status("done")  # it may be too quick to be seen running
    visitor.forgive("Failed to load resource")
    visitor.close()
