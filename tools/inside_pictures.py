"""Take the pictures of docs/looking-inside.md: ``python -m tools.inside_pictures``.

Four programs of the gallery are trained in headless Chromium, and each view is opened as a visitor
opens it. Look at the pictures in ``docs/images`` before you commit them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page

from bench.browser import chromium
from bench.server import playgrad_app, serving
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from tools.pictures import IMAGES, open_page, wait_for_status

GUIDE = IMAGES.parent / "looking-inside.md"
SIZE = (1180, 860)
TALL = 2000
EARLY = 120
"""The earlier step at which the spiral is shown."""


def main() -> None:
    """Take all pictures."""
    ImageCache(BundleCache()).make()
    with serving(playgrad_app()) as server, chromium() as browser:
        address = f"{server}/"
        for take in (_digits, _kernels, _spiral, _ill, _text, _session):
            _visit(browser, address, take)


def _visit(browser: Browser, address: str, take: Callable[[Page], None]) -> None:
    page = open_page(browser, address, *SIZE)
    take(page)
    page.context.close()


def _digits(page: Page) -> None:
    """MNIST: the views of samples and layers in Inspect."""
    _run(page, "mnist-mlp", "cpu")
    _inspect(page, "samples")
    cell = page.get_by_test_id("confusion-cell").nth(49)  # a 4 that is taken for a 9
    cell.click()
    page.get_by_test_id("cell-samples").wait_for()
    _picture(page.get_by_test_id("inspect"), "samples")
    _inspect(page, "projection")
    page.get_by_test_id("projection-method").select_option("umap")
    page.get_by_test_id("projection").wait_for()
    _picture(page.get_by_test_id("inspect"), "projection")
    _inspect(page, "layers")
    page.get_by_test_id("layer-dense_1").click()
    _picture(page.get_by_test_id("inspect"), "layers")


def _kernels(page: Page) -> None:
    """MNIST on the GPU: the time line of a step, and the bench of a kernel."""
    _run(page, "mnist-mlp", "gpu")
    page.get_by_test_id("tab-graph").click()
    page.get_by_test_id("timeline-apart").check()
    page.get_by_test_id("measure-step").click()
    page.get_by_test_id("timeline-lane").first.wait_for()
    _picture(page.get_by_test_id("timeline"), "execution")
    page.get_by_test_id("graph-full-page").click()
    _find(page, "dense_1/matmul_1")
    page.get_by_test_id("node-kernel").click()
    page.get_by_test_id("open-kernel-bench").click()
    page.get_by_test_id("kernel-check").click()
    page.get_by_test_id("kernel-report").wait_for()
    _picture(page.get_by_test_id("kernel-bench"), "kernel-bench")


def _spiral(page: Page) -> None:
    """The spiral: histograms over time, an earlier step, and a step operation by operation."""
    _open(page, "spiral", "cpu")
    page.get_by_test_id("blocks-tab").click()
    _fill(page, "Epochs", "200")  # long enough for many records
    _inspect(page, "histograms")
    _start(page)
    _picture(page.get_by_test_id("inspect"), "histograms")
    page.get_by_test_id("tab-training").click()
    slider = page.get_by_test_id("checkpoint-slider")
    place = page.get_by_test_id("checkpoint-place")
    slider.press("Home")
    while int(place.inner_text().split()[1]) < EARLY:
        slider.press("ArrowRight")
    _picture(page.locator("[data-view=training]"), "undo", 660)
    slider.press("End")
    page.get_by_test_id("step-unit").select_option("operation")
    page.get_by_test_id("step").click()
    page.get_by_test_id("execution-view").wait_for()
    for _ in range(12):
        page.get_by_test_id("operation-forward").click()
    _picture(page.get_by_test_id("execution-view"), "operations")


def _ill(page: Page) -> None:
    """The spiral with a learning rate that is far too large: the doctor."""
    _open(page, "spiral", "cpu")
    page.get_by_test_id("blocks-tab").click()
    _fill(page, "Learning rate", "2")
    _start(page)
    _picture(page.get_by_test_id("doctor"), "doctor")


def _text(page: Page) -> None:
    """The character transformer: attention, and the next tokens."""
    _run(page, "character-transformer", "cpu")
    _inspect(page, "attention")
    page.get_by_test_id("attention-head").nth(1).click()
    page.get_by_test_id("attention-map").focus()
    for key in ["ArrowDown"] * 11 + ["ArrowRight"] * 10:
        page.keyboard.press(key)
    _picture(page.get_by_test_id("inspect"), "attention")
    _inspect(page, "next")
    page.get_by_test_id("next-text").fill("that tossed the cat that ate the malt")
    page.get_by_test_id("next-token").nth(18).click()
    _picture(page.get_by_test_id("inspect"), "next-tokens")


def _session(page: Page) -> None:
    """The first program of the guide, which runs a session: its graph, and the value of a node."""
    program = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert program
    page.locator("[data-testid=editor] .cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text(program[1])
    _start(page)
    page.get_by_test_id("tab-graph").click()
    _find(page, "w")
    _picture(page.locator(".panel.graph"), "graph")


def _open(page: Page, example: str, device: str) -> None:
    page.get_by_test_id("example-select").select_option(example)
    page.get_by_test_id("device-select").select_option(device)


def _start(page: Page) -> None:
    page.get_by_test_id("run").click()
    wait_for_status(page, "running")
    wait_for_status(page, "done")


def _run(page: Page, example: str, device: str) -> None:
    _open(page, example, device)
    _start(page)


def _fill(page: Page, field: str, value: str) -> None:
    """Change a number of the training's blocks."""
    box = page.get_by_role("textbox", name=field)
    box.fill(value)
    box.press("Enter")


def _inspect(page: Page, view: str) -> None:
    page.get_by_test_id("tab-inspect").click()
    page.get_by_test_id(f"inspect-{view}").click()


def _find(page: Page, name: str) -> None:
    search = page.get_by_test_id("graph-search")
    search.fill(name)
    search.press("Enter")
    page.get_by_test_id("node-details").wait_for()


def _picture(place: Locator, name: str, most: int = 700) -> None:
    """Take a picture of a part of the page, of at most so many pixels of its height."""
    page = place.page
    page.set_viewport_size({"width": SIZE[0], "height": TALL})  # so that nothing is scrolled away
    place.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # the last answers, and transitions
    box = place.bounding_box()
    assert box
    page.screenshot(
        path=IMAGES / f"inside-{name}.png",
        clip={**box, "height": min(box["height"], most)},
    )


if __name__ == "__main__":
    main()
