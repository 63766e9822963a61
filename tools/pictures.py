"""Take the documentation's pictures of the page: ``python -m tools.pictures``.

Real training in headless Chromium on the software GPU; takes a minute. Look at the pictures in
``docs/images`` before you commit them.
"""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.browser import chromium
from bench.server import playgrad_app, serving
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PATIENCE_MS = 180_000


def main() -> None:
    """Take all pictures."""
    ImageCache(BundleCache()).make()
    with serving(playgrad_app()) as server, chromium() as browser:
        _training(open_page(browser, f"{server}/", 1366, 860))
        _lab(open_page(browser, f"{server}/", 1280, 1192))


def open_page(browser: Browser, address: str, width: int, height: int) -> Page:
    """Open the page in a clean profile, and wait for Python."""
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    wait_for_status(page, "ready")
    return page


def wait_for_status(page: Page, status: str) -> None:
    """Wait until the page shows a status, such as "done"."""
    page.wait_for_function(
        "status => document.querySelector('[data-testid=status]').textContent === status",
        arg=status,
    )


def _training(page: Page) -> None:
    """Two spirals, separated: blocks on the left, the plane on the right."""
    page.get_by_test_id("example-select").select_option("spiral")
    page.get_by_test_id("device-select").select_option("cpu")
    page.get_by_test_id("blocks-tab").click()
    page.get_by_test_id("run").click()
    wait_for_status(page, "running")
    wait_for_status(page, "done")
    page.wait_for_timeout(1500)  # the last answer about the plane
    page.screenshot(path=IMAGES / "page-training.png")


def _lab(page: Page) -> None:
    """Asynchronous replicas, one of them held up."""
    page.get_by_test_id("tab-lab").click()
    page.get_by_test_id("lab-strategy").select_option("async")
    page.get_by_test_id("lab-kind").select_option("cpu")
    page.get_by_test_id("lab-devices").fill("2")
    page.get_by_test_id("lab-steps").fill("200")
    page.get_by_label("Device 1").fill("40")
    page.get_by_label("Device 1").press("Tab")
    page.get_by_test_id("lab-run").click()
    wait_for_status(page, "running")
    wait_for_status(page, "done")
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / "lab.png")


if __name__ == "__main__":
    main()
