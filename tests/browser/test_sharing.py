"""Links with programs: opened in another browser, they show the code, run nothing, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zxingcpp
from playwright.sync_api import Browser, expect

from playgrad.data import read_png
from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

Open = Callable[[str], Playground]


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Open]:
    """Opens an address in a browser without any history."""
    pages: list[Playground] = []

    def open_in_clean_profile(address: str) -> Playground:
        pages.append(Playground(chromium, address, path=""))
        return pages[-1]

    yield open_in_clean_profile
    for page in pages:
        page.close()


def link_of(playground: Playground) -> str:
    playground.at("share").click()
    field = playground.at("share-link")
    expect(field).not_to_have_value("")
    link = field.input_value()
    playground.page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(playground.at("share")).to_be_focused()
    return link


def test_a_camera_reads_the_link(playground: Playground, tmp_path: Path) -> None:
    """In the dark, too: the code stays black on white. It can be shown large, for a class."""
    link = link_of(playground)
    playground.page.emulate_media(color_scheme="dark")
    playground.at("share").click()
    playground.at("share-qr").click()
    picture = tmp_path / "code.png"
    playground.at("qr-code").screenshot(path=picture)
    (read,) = zxingcpp.read_barcodes(read_png(picture, channels=3))
    assert read.text == link
    size = int((playground.at("qr-code").get_attribute("viewBox") or "").split()[-1])
    expect(playground.at("qr-dense")).to_have_count(1 if size > 108 else 0)
    small = playground.at("qr-code").bounding_box()
    playground.at("qr-large").click()
    playground.page.screenshot(path=picture)
    (read,) = zxingcpp.read_barcodes(read_png(picture, channels=3))
    assert read.text == link
    large = playground.at("qr-code-large").bounding_box()
    assert small
    assert large
    assert large["height"] > 0.9 * 768 > 2 * small["height"]
    before = playground.page.viewport_size
    assert before
    playground.page.set_viewport_size({"width": 360, "height": 740})
    is_whole = "(dialog) => dialog.clientWidth >= dialog.scrollWidth"
    assert playground.at("qr-dialog").evaluate(is_whole), "its border is part of the code"
    playground.page.set_viewport_size(before)
    playground.page.emulate_media(color_scheme="light")
    playground.page.keyboard.press("Escape")
    expect(playground.at("qr-dialog")).to_be_hidden()
    expect(playground.at("share-link")).to_be_visible()
    playground.page.keyboard.press("Escape")
    expect(playground.at("share-link")).to_have_count(0)


def test_a_link_shows_the_program_and_its_run_is_compared(
    playground: Playground, opened: Open
) -> None:
    playground.choose_device("cpu")
    playground.finish(GOOD)
    link = link_of(playground)
    assert len(link) < 2000
    visitor = opened(link)
    visitor.expect_status("ready")
    editor = visitor.page.locator("[data-testid=editor] .cm-content")
    expect(editor).to_contain_text("trained well")
    expect(visitor.at("shared-note")).to_contain_text("Read it, then press Run")
    assert visitor.text("console") == "", "nothing runs by itself"
    assert visitor.at("device-select").input_value() == "cpu"
    assert "#" not in visitor.page.url, "a reload would discard the visitor's changes"
    visitor.finish()
    expect(visitor.at("reproduced")).to_have_text(
        "Reproduced: the losses of 8 steps equal the link's, to the last digit."
    )
    visitor.write(GOOD.replace("SGD(learning_rate=0.1)", "SGD(learning_rate=0.2)"))
    expect(visitor.at("shared-note")).to_contain_text("no longer that of the link")
    expect(visitor.at("reproduced")).to_have_count(0)
    visitor.at("shared-dismiss").click()
    expect(visitor.at("shared-note")).to_have_count(0)


@pytest.mark.slow
def test_a_run_that_differs_names_its_first_differing_step(
    playground: Playground, opened: Open
) -> None:
    """The program is not reproducible: its data comes from the clock."""
    program = GOOD.replace("default_rng(0)", "default_rng()")
    playground.choose_device("cpu")
    playground.finish(program)
    visitor = opened(link_of(playground))
    visitor.expect_status("ready")
    visitor.finish()
    expect(visitor.at("reproduced")).to_contain_text("The loss differs from the link's from step 1")


def test_a_link_leaves_the_visitors_work_alone(playground: Playground) -> None:
    """It opens in a session of its own, also when it is pasted into a page in use."""
    playground.choose_device("cpu")
    playground.finish("print('theirs')")
    link = link_of(playground)
    playground.finish("print('mine')")
    playground.page.evaluate("link => { location.href = link; }", link)
    expect(playground.at("shared-note")).to_be_visible()
    editor = playground.page.locator("[data-testid=editor] .cm-content")
    expect(editor).to_contain_text("theirs")
    playground.at("project-menu").click()
    playground.at("project-open").first.click()
    expect(editor).to_contain_text("mine")
    expect(playground.at("shared-note")).to_have_count(0)


_HIDDEN = """async (link) => {
  const { decode } = await import("/static/js/sharing/link.js");
  return (link && (await decode(new URL(link).hash)).hidden) || [];
}"""


def test_a_lesson_hides_the_parts_it_does_not_need(playground: Playground, opened: Open) -> None:
    playground.write("print('a lesson')")
    playground.at("share").click()
    field = playground.at("share-link")
    for name in ("gallery", "inspect", "graph", "shrink", "lab", "output", "blocks"):
        playground.at(f"share-hide-{name}").check()
    playground.wait(lambda: len(playground.page.evaluate(_HIDDEN, field.input_value())) == 7)
    visitor = opened(field.input_value())
    expect(visitor.at("gallery")).to_have_count(0)
    tabs = visitor.page.get_by_role("tab")
    expect(tabs).to_have_text(["Watch", "Runs"])
    expect(visitor.at("console")).to_have_count(0)
    visitor.page.reload()
    expect(tabs).to_have_text(["Watch", "Runs"])
    expect(visitor.at("shared-dismiss")).to_have_count(0)
    visitor.at("shared-show-all").click()
    expect(tabs).to_have_text(
        ["Blocks", "Python", "Watch", "Inspect", "Graph", "Runs", "Shrink", "Lab"]
    )
    expect(visitor.at("output-toggle")).to_be_visible()
    expect(visitor.at("shared-dismiss")).to_be_visible()
    playground.page.keyboard.press("Escape")


def test_a_truncated_link_is_refused_and_work_is_kept(playground: Playground) -> None:
    playground.write("print('mine')")
    link = link_of(playground)
    playground.page.evaluate("link => { location.href = link; }", link[: len(link) - 40])
    expect(playground.page.locator(".status-sentence")).to_contain_text("copy it whole")
    editor = playground.page.locator("[data-testid=editor] .cm-content")
    expect(editor).to_contain_text("mine")
