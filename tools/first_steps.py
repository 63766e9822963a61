"""Take the pictures of docs/first-steps.md: ``python -m tools.first_steps``.

A visit of five minutes in headless Chromium, from opening the page to a link that someone else
opens. Everything is done as a visitor does it, and the pictures show the results. Look at them
in ``docs/images`` before you commit them.
"""

from __future__ import annotations

from playwright.sync_api import Page

from bench.browser import chromium
from bench.server import playgrad_app, serving
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from tools.pictures import IMAGES, open_page, wait_for_status

SIZE = (1280, 800)
SEVEN = [(0.25, 0.2), (0.75, 0.2), (0.6, 0.5), (0.45, 0.85)]
"""Points of a stroke, from the left and from the top of the canvas."""


def main() -> None:
    """Take all pictures."""
    ImageCache(BundleCache()).make()
    with serving(playgrad_app()) as server, chromium() as browser:
        page = open_page(browser, f"{server}/", *SIZE)
        _draw(page)
        _separate(page)
        _change(page)
        link = _share(page)
        _open(open_page(browser, link, *SIZE))


def _picture(page: Page, name: str) -> None:
    page.wait_for_timeout(1500)  # the last answers about the task, and transitions
    page.screenshot(path=IMAGES / f"first-{name}.png")


def _run(page: Page) -> None:
    page.get_by_test_id("run").click()
    wait_for_status(page, "running")
    wait_for_status(page, "done")


def _draw(page: Page) -> None:
    """A digit, read before anything is trained."""
    page.get_by_test_id("gallery-card").filter(has_text="Draw a digit").click()
    box = page.get_by_test_id("digit-canvas").bounding_box()
    assert box
    for number, (x, y) in enumerate(SEVEN):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=8)
        if number == 0:
            page.mouse.down()
    page.mouse.up()
    _picture(page, "digit")


def _separate(page: Page) -> None:
    """The spiral of the examples, trained."""
    page.get_by_test_id("example-select").select_option("spiral")
    page.get_by_test_id("device-select").select_option("cpu")
    _run(page)
    _picture(page, "spiral")


def _change(page: Page) -> None:
    """Fewer units, and both runs in the table."""
    units = page.locator("[data-kind=Dense]").first.get_by_role("textbox", name="Units")
    units.fill("4")
    units.press("Enter")
    _run(page)
    page.get_by_test_id("tab-runs").click()
    _picture(page, "runs")


def _share(page: Page) -> str:
    """The link to the page's contents."""
    page.get_by_test_id("share").click()
    field = page.get_by_test_id("share-link")
    page.wait_for_function("() => document.querySelector('[data-testid=share-link]').value !== ''")
    page.get_by_test_id("share-qr").click()
    _picture(page, "link")
    return field.input_value()


def _open(page: Page) -> None:
    """The link in the browser of someone else, and its run."""
    _run(page)
    page.get_by_test_id("reproduced").wait_for()
    _picture(page, "reproduced")


if __name__ == "__main__":
    main()
