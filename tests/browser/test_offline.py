"""After a visit, the page opens and trains without a server; versions of it never mix."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from tests.browser.bad_network import BadNetwork
from tests.browser.playground import Playground
from tests.browser.test_onnx_export import ROUND_TRIP
from tests.browser.versions import VersionedServer

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

# The name of the version that the next visit opens, and the paths that are kept for it.
KEPT = """async () => {
  const cache = await caches.open("playgrad-1");
  const current = await cache.match("/kept/current");
  if (!current) return null;
  const list = await (await cache.match(`/kept/version/${await current.text()}`)).json();
  const files = { ...list.files, ...list.extras };
  const keys = new Set((await cache.keys()).map(({ url }) => url.slice(location.origin.length)));
  const isKept = (path) => keys.has(`${path}?sha256=${files[path]}&headers=${list.headers}`);
  return { version: list.version, paths: Object.keys(files).filter(isKept) };
}"""
DATA = [f"/data/mnist/{part}-{kind}" for part in ("train", "test") for kind in ("images", "labels")]
EXTRAS = ["/image/python.bin", *DATA]


@pytest.fixture
def versions(tmp_path: Path) -> Iterator[VersionedServer]:
    ImageCache(BundleCache()).make()
    server = VersionedServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def network(versions: VersionedServer) -> Iterator[BadNetwork]:
    network = BadNetwork(versions.address)
    yield network
    network.close()


class Visitor(Playground):
    """A browser that keeps what it has seen, with one tab or more.

    Attributes:
        said: what workers and pages said on the console.
    """

    def __init__(self, chromium: Browser, network: BadNetwork) -> None:
        super().__init__(chromium, network.address, service_workers="allow")
        self.said: list[str] = []
        self.context.on("console", lambda message: self.said.append(message.text))

    def reload(self) -> float:
        """Open the page again, and return the seconds until Python is up."""
        began = time.monotonic()
        self.page.reload(wait_until="commit")
        self.page.wait_for_selector("[data-testid=status]")
        self.expect_status("ready", "done")  # as the last run has ended
        return time.monotonic() - began

    def kept(self) -> dict[str, object]:
        kept: dict[str, object] | None = self.page.evaluate(KEPT)
        return kept or {"version": None, "paths": []}

    def wait_until_kept(self, *paths: str, other_than: object = None) -> object:
        """Wait until a version is kept, with extras; return its name."""

        def is_kept() -> bool:
            kept = self.kept()
            have = kept["paths"]
            assert isinstance(have, list)
            return kept["version"] not in (None, other_than) and set(paths) <= set(have)

        self.wait(is_kept)
        return self.kept()["version"]


def seen(page: Page) -> list[str]:
    """The versions of the document, of its scripts, and of a file that is loaded on demand."""
    marks: list[str] = page.evaluate(
        """async () => [document.body.dataset.version, document.body.dataset.script,
          /"(.*)"/.exec(await (await fetch("/static/js/later.js")).text())[1]]"""
    )
    return marks


@pytest.mark.gpu
@pytest.mark.survival("Visits without a server")
def test_the_first_example_trains_without_a_server(
    chromium: Browser, versions: VersionedServer, network: BadNetwork
) -> None:
    visitor = Visitor(chromium, network)
    visitor.expect_status("ready")
    early = sum(size for path, size in network.sent.items() if path not in DATA)
    visitor.wait_until_kept(*EXTRAS)
    print(f"first load: {early / 1e6:.1f} MB; all: {network.sent.total() / 1e6:.1f} MB")
    network.sent.clear()
    seconds = visitor.reload()
    print(f"second visit: {seconds:.1f} s, {network.sent.total() / 1e6:.3f} MB")
    asked = set(network.sent)
    assert asked <= {"/", "/version.json", "/service-worker.js"}, asked
    versions.stop()
    network.close()
    print(f"without a server: {visitor.reload():.1f} s")
    assert visitor.page.evaluate("crossOriginIsolated")
    visitor.choose_device("gpu")
    visitor.start()
    visitor.expect_status("done")
    assert visitor.steps > 100
    assert visitor.number("test-accuracy") > 90
    # A link opens too, in a tab of its own.
    link = visitor.page.evaluate(
        "import('/static/js/sharing/sharing.js').then(({ makeLink }) => makeLink([]))"
    )
    visitor.page = visitor.context.new_page()
    visitor.page.goto(link)
    expect(visitor.at("shared-note")).to_be_visible()
    visitor.expect_status("ready")
    visitor.runs_well()
    assert "difference" in visitor.finish(ROUND_TRIP)  # it needs a part that was never asked for
    # So does the page in a frame.
    visitor.page.goto(link.replace("/#", "/embed#"))
    expect(visitor.at("embed-open")).to_be_visible()
    visitor.expect_status("ready")
    visitor.close()


@pytest.mark.survival("Updates of the page")
def test_an_update_is_taken_as_a_whole(
    chromium: Browser, versions: VersionedServer, network: BadNetwork
) -> None:
    visitor = Visitor(chromium, network)
    visitor.expect_status("ready")
    first = visitor.wait_until_kept()
    visitor.reload()
    assert seen(visitor.page) == ["one"] * 3
    old = visitor.page

    # A reload shows a change at once; keeping it fails, because one file cannot be had.
    versions.publish("two")
    network.break_("broken", "/static/js/later.js")
    visitor.page = visitor.context.new_page()
    visitor.page.goto(network.address)
    visitor.expect_status("ready")
    assert seen_scripts(visitor.page) == ["two"] * 2
    visitor.wait(lambda: any("was not kept" in text for text in visitor.said))
    assert visitor.kept()["version"] == first

    # Without a server, the old version opens, whole.
    with network.broken("reset", lambda path: True):
        visitor.said.clear()
        visitor.reload()
        assert seen(visitor.page) == ["one"] * 3
        assert "worker one" in visitor.said and "worker two" not in visitor.said

    # With all files, the new one is kept, while a page that was open goes on with its own.
    visitor.reload()
    visitor.wait_until_kept(other_than=first)
    visitor.said.clear()
    with network.broken("broken", lambda path: True):
        visitor.reload()
        assert seen(visitor.page) == ["two"] * 3
        assert "worker two" in visitor.said and "worker one" not in visitor.said
        assert seen(old) == ["one"] * 3
    visitor.forgive("Failed to load resource")
    visitor.close()


def seen_scripts(page: Page) -> list[str]:
    marks: list[str] = page.evaluate(
        "() => [document.body.dataset.version, document.body.dataset.script]"
    )
    return marks


@pytest.mark.slow
@pytest.mark.survival("Updates of the page")
def test_the_page_works_with_a_full_or_cleared_cache(
    chromium: Browser, versions: VersionedServer, network: BadNetwork
) -> None:
    visitor = Visitor(chromium, network)
    quota = visitor.context.new_cdp_session(visitor.page)
    limit = {"origin": network.address, "quotaSize": 3_000_000}
    quota.send("Storage.overrideQuotaForOrigin", limit)
    visitor.expect_status("ready")
    visitor.wait(lambda: any("was not kept" in text for text in visitor.said))
    assert visitor.kept()["version"] is None
    visitor.reload()
    visitor.runs_well()

    # With room it is kept; then the browser clears its cache, while the worker stays.
    quota.send("Storage.overrideQuotaForOrigin", {"origin": network.address})
    visitor.reload()
    visitor.wait_until_kept()
    assert visitor.page.evaluate("caches.delete('playgrad-1')")
    assert visitor.page.evaluate("fetch('/static/js/later.js').then(({ ok }) => ok)")
    visitor.reload()
    visitor.runs_well()
    visitor.close()
