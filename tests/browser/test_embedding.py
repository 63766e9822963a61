"""A program in a frame of another site runs where the frame is isolated, and is shown elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser.playground import GOOD, Playground
from tests.browser.routes import answer, served

pytestmark = pytest.mark.browser

ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}

# The snippet that the Share dialog copies for a program.
SNIPPET = """async (code) => {
  const { encode } = await import("/static/js/sharing/link.js");
  const { snippetOf } = await import("/static/js/sharing/share-embed.js");
  const shared = {
    version: 1, exampleId: "spiral", title: 'A "lesson"', code, device: "cpu", view: "training",
    lab: null, expected: null, locked: [[1, 2]],
  };
  return snippetOf(`${location.origin}/embed${await encode(shared)}`, shared.title);
}"""
# What the frame has stored.
STORED = """async () => {
  const tries = [
    async () => (await indexedDB.databases()).length,
    async () => localStorage.length,
    async () => sessionStorage.length,
    async () => (await navigator.serviceWorker.getRegistrations()).length,
    async () => (await caches.keys()).length,
  ];
  return await Promise.all(tries.map((each) => each()));
}"""


class Site:
    """Another site, with pages around the frame: `/plain`, and `/isolated`."""

    def __init__(self) -> None:
        self.frame = ""
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = f"<!doctype html><title>Lesson</title><h1>Lesson</h1>{site.frame}".encode()
                self.send_response(200)
                isolation = ISOLATION if self.path == "/isolated" else {}
                for name, value in {"Content-Type": "text/html", **isolation}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """The address of a site that is not the server's, which has 127.0.0.1."""
        return f"http://localhost:{self.server.server_port}"

    @property
    def neighbour(self) -> str:
        """The address of the server's site, but not of its origin."""
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()


def opened(visitor: Playground, address: str) -> FrameLocator:
    visitor.page.goto(address)
    return visitor.page.frame_locator("iframe")


def test_an_allowed_site_embeds_a_program_in_a_frame(
    chromium: Browser, server: str, site: Site
) -> None:
    author = chromium.new_page()
    author.goto(f"{server}/healthz")
    site.frame = author.evaluate(SNIPPET, GOOD.strip("\n"))
    author.close()
    visitor = Playground(chromium, site.address, path="/plain")

    # The frame isolates itself, and asks before it runs.
    frame = opened(visitor, f"{site.address}/plain")
    expect(frame.get_by_test_id("status")).to_have_text("ready")
    expect(frame.get_by_role("heading", level=1)).to_have_text('A "lesson"')
    expect(frame.get_by_test_id("project-menu")).to_have_count(0)
    frame.get_by_test_id("embed-program").click()
    expect(frame.locator(".cm-locked-line")).to_have_count(2)
    frame.get_by_test_id("run").click()
    expect(frame.get_by_test_id("status")).to_have_text("done")
    expect(frame.get_by_test_id("console")).to_contain_text("trained well")
    assert visitor.page.frames[1].url.startswith(f"{server}/embed#program=")

    # Where it has the storage of the page itself, it leaves that alone.
    frame = opened(visitor, f"{site.neighbour}/plain")
    frame.get_by_test_id("embed-program").click()
    frame.locator(".cm-content").press("Control+End")
    visitor.page.keyboard.type("# more")
    frame.get_by_test_id("run").click()
    expect(frame.get_by_test_id("status")).to_have_text("done")
    assert visitor.page.frames[1].evaluate(STORED) == [0] * 5

    # In a browser without Document-Isolation-Policy, the page around it decides.
    body, headers = served(f"{server}/embed")
    del headers["document-isolation-policy"]
    visitor.context.route(lambda url: url.startswith(f"{server}/embed#"), answer(body, headers))
    visitor.context.route(f"{server}/embed", answer(body, headers))
    frame = opened(visitor, f"{site.address}/isolated")
    expect(frame.get_by_test_id("run")).to_be_visible()
    assert visitor.page.frames[1].evaluate("new SharedArrayBuffer(8).byteLength") == 8
    frame = opened(visitor, f"{site.address}/plain")
    expect(frame.get_by_test_id("embed-still")).to_be_visible()
    expect(frame.locator(".cm-content")).to_contain_text("nn.Dense(2)")
    expect(frame.get_by_test_id("run")).to_have_count(0)
    with visitor.context.expect_page() as popup:
        frame.get_by_test_id("embed-open").click()
    note = popup.value.get_by_test_id("shared-note")
    expect(note).to_contain_text("Read it, then press Run")
    popup.value.close()

    # The page itself cannot be framed.
    site.frame = site.frame.replace("/embed#", "/#")
    opened(visitor, f"{site.address}/plain")
    visitor.wait(lambda: any("frame-ancestors" in text for text in visitor.complaints))
    visitor.wait(lambda: visitor.page.frames[1].url.startswith("chrome-error:"))
    visitor.forgive("frame-ancestors")
    visitor.close()
