"""Take the pictures of docs/page/: ``python -m tools.page_pictures``.

Three visits in headless Chromium: to the gallery, to an example that is changed, trained and
shared, and with a table of the visitor's own. Look at the pictures in ``docs/images`` before you
commit them.
"""

from __future__ import annotations

import base64
import random
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.browser import chromium
from bench.server import playgrad_app, serving
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from tools.pictures import IMAGES, open_page, wait_for_status

SIZE = (1366, 768)
MAX_BYTES = 80_000
QUALITIES = (92, 86, 80, 74, 68, 62, 56, 50)
"""In percent, the best first."""

_WEBP = """async ([png, quality]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""


def main() -> None:
    """Take all pictures."""
    ImageCache(BundleCache()).make()
    with serving(playgrad_app()) as server, chromium() as browser:
        for visit in (_gallery, _example, _table):
            page = open_page(browser, f"{server}/", *SIZE)
            visit(page)
            page.context.close()


def _gallery(page: Page) -> None:
    """All examples."""
    page.get_by_test_id("gallery-all").click()
    page.get_by_test_id("examples-dialog").wait_for()
    _picture(page, "gallery")


def _example(page: Page) -> None:
    """The spiral: a card with a problem, two runs, the graph, the prompt and a link."""
    page.get_by_test_id("example-select").select_option("spiral")
    page.get_by_test_id("device-select").select_option("cpu")
    page.get_by_test_id("blocks-tab").click()
    last = page.locator("[data-kind=Dense]").last
    last.get_by_role("textbox", name="Units").fill("3")
    last.get_by_role("textbox", name="Units").press("Enter")
    page.get_by_test_id("card-mend").focus()  # away from the field and its explanation
    _picture(page, "blocks")
    page.get_by_test_id("card-mend").click()
    _run(page)
    _picture(page, "watch")
    units = page.locator("[data-kind=Dense]").first.get_by_role("textbox", name="Units")
    units.fill("4")
    units.press("Enter")
    _run(page)
    page.get_by_test_id("tab-runs").click()
    _picture(page, "runs")
    page.get_by_test_id("tab-graph").click()
    page.get_by_test_id("graph-search").fill("dense_1/matmul")
    page.get_by_test_id("graph-search").press("Enter")
    page.get_by_test_id("node-details").wait_for()
    _picture(page, "graph")
    page.get_by_test_id("code-tab").click()
    if page.get_by_test_id("output-toggle").get_attribute("aria-expanded") != "true":
        page.get_by_test_id("output-toggle").click()
    prompt = page.get_by_test_id("prompt")
    for line in ("model.history.losses[-1]", "pg.plot(model.history.losses)"):
        prompt.press_sequentially(line)
        prompt.press("Enter")
        page.wait_for_timeout(2000)  # the answer
    page.get_by_test_id("tab-training").click()
    _picture(page, "prompt")
    page.get_by_test_id("share").click()
    page.wait_for_function("() => document.querySelector('[data-testid=share-link]').value !== ''")
    _picture(page, "share")


def _table(page: Page) -> None:
    """A table of flowers."""
    numbers = random.Random(1)
    rows = ["petal,sepal,colour,kind"]
    for i in range(90):
        petal = "" if i == 7 else f"{i % 3 + numbers.gauss(0, 0.5):.2f}"
        sepal = f"{-(i % 3) + numbers.gauss(0, 0.5):.2f}"
        colour = numbers.choice(["red", "white"])
        rows.append(f"{petal},{sepal},{colour},{('iris', 'lily', 'rose')[i % 3]}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flowers.csv"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        page.get_by_test_id("data-open").click()
        page.get_by_test_id("data-file").set_input_files(path)
        page.get_by_test_id("data-preview").wait_for()
        _picture(page, "data")


def _run(page: Page) -> None:
    page.get_by_test_id("run").click()
    wait_for_status(page, "running")
    wait_for_status(page, "done")


def _picture(page: Page, name: str) -> None:
    """Take a picture of the window, the sharpest of at most `MAX_BYTES`."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)  # the last answers, and transitions
    browser = page.context.browser
    assert browser
    content = _webp(browser, page.screenshot())
    (IMAGES / f"page-{name}.webp").write_bytes(content)
    print(f"page-{name}.webp: {len(content)} bytes", flush=True)


def _webp(browser: Browser, png: bytes) -> bytes:
    blank = browser.new_page()
    try:
        for percent in QUALITIES:
            encoded = blank.evaluate(_WEBP, [base64.b64encode(png).decode(), percent / 100])
            content = base64.b64decode(encoded)
            if len(content) <= MAX_BYTES:
                return content
    finally:
        blank.close()
    raise ValueError(f"the picture has more than {MAX_BYTES} bytes")


if __name__ == "__main__":
    main()
