"""The first things that visitors meet: the gallery, their programs, and words that have room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

NEEDS_NO_SCROLLING = "(table) => table.scrollWidth <= table.clientWidth"
RIGHT_OF_PARTS = (
    "({ children }) => Math.max(...[...children].map((part) => part.getBoundingClientRect().right))"
)
# Of each probability: the width of its bar, that of the track, and the number beside it.
BARS = """(rows) => rows.map((row) => [
  row.querySelector(".probability-fill").getBoundingClientRect().width,
  row.querySelector(".probability-track").getBoundingClientRect().width,
  parseFloat(row.querySelector(".probability-value").textContent),
])"""
DROP = """([name, content]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], name));
  const target = document.querySelector("[data-testid=data-drawer]");
  target.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""
PHONE = {"width": 390, "height": 844}
KERAS = """
import numpy as np
import keras
from keras import layers

x = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype="float32")
y = np.array([0, 1, 1, 0])
model = keras.Sequential([
    layers.Dense(3, activation="relu", input_shape=(2,)),
    layers.Dense(2),
])
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x, y, epochs=3, verbose=0)
print("predicted", model.predict(x).shape)
"""


@pytest.fixture(scope="module")
def desk(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    playground = Playground(chromium, desk_server)
    playground.expect_status("ready")
    yield playground
    playground.close()


def test_a_phone_opens_with_the_gallery(
    chromium: Browser, desk_server: str, tmp_path: Path
) -> None:
    """And with the program, once the visitor has written something. Its menu exports all files."""
    phone = Playground(chromium, desk_server, viewport=PHONE)
    try:
        expect(phone.at("gallery")).to_be_in_viewport()
        expect(phone.at("editor")).to_be_hidden()
        phone.at("gallery-card").filter(has_text="Write code").click()
        expect(phone.at("editor")).to_be_visible()
        phone.write(GOOD)
        phone.finish()
        phone.at("more").click()
        phone.at("more-export").click()
        script = phone.download("export-menu-script", tmp_path).read_text(encoding="utf-8")
        assert "def predict(" in script
        phone.at("more").click()
        phone.page.reload()
        expect(phone.at("console")).to_contain_text("trained well")
        expect(phone.at("editor")).to_be_visible()
    finally:
        phone.close()


def test_probability_bars_have_the_length_of_their_percentage(desk: Playground) -> None:
    """In each width of the page there is room to tell them apart."""
    page, before = desk.page, desk.page.viewport_size
    assert before
    desk.draw([(0.5, 0.2), (0.5, 0.8)])
    expect(desk.at("digit-prediction")).not_to_have_text("–")
    try:
        for width in (768, 1024, 1280, 1366):
            page.set_viewport_size({"width": width, "height": 768})
            desk.wait_until_at_rest()
            bars = page.locator(".digit .probability").evaluate_all(BARS)
            assert len(bars) == 10
            assert max(whole for _, whole, _ in bars) - min(whole for _, whole, _ in bars) < 1
            for filled, whole, percent in bars:
                assert whole >= 60, width
                assert filled == pytest.approx(whole * percent / 100, abs=1), width
    finally:
        page.set_viewport_size(before)
        desk.at("digit-clear").click()


def test_notes_in_inspect_stay_inside_the_panel(desk: Playground) -> None:
    desk.at("tab-inspect").click()
    note = desk.at("inspect").locator(".inspect-body .hint")
    expect(note).to_be_visible()
    panel, words = desk.at("inspect").bounding_box(), note.bounding_box()
    assert panel and words
    assert panel["y"] < words["y"]
    assert words["y"] + words["height"] <= panel["y"] + panel["height"]
    assert panel["x"] <= words["x"]
    desk.at("tab-training").click()


def test_header_and_editor_have_room_for_their_content(desk: Playground) -> None:
    """The badge has whole names, and the buttons of the editor one row."""
    page, chip = desk.page, desk.page.locator(".chip")
    desk.write("print('edited')")
    expect(desk.at("reset-code")).to_be_visible()
    before = page.viewport_size
    assert before
    try:
        for width in (768, 900, 1024, 1100, 1280, 1281, 1366):
            page.set_viewport_size({"width": width, "height": 768})
            name = chip.locator(".badge-text")
            assert not name.evaluate("text => text.scrollWidth > text.clientWidth"), width
            badge, choice = chip.locator(".badge"), desk.at("device-select").bounding_box()
            assert choice
            right = badge.evaluate(RIGHT_OF_PARTS)
            assert right <= choice["x"], width
            reset, save = desk.at("reset-code").bounding_box(), desk.at("save-code").bounding_box()
            assert reset and save
            assert abs(reset["y"] - save["y"]) < 10, width
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        page.set_viewport_size(before)


_LONG = """
import playgrad as pg
from playgrad import nn

(x, y), new = pg.data.spiral(500, ratio=0.8)
model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dense(2)])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
model.fit(x, y, batch_size=100, epochs=40_000, verbose=0, validation_data=new)
"""
# Whether a number is in the row that is shown.
_IN_ROW = """number => {
  const row = number.closest(".statistics").getBoundingClientRect();
  const { top, bottom, right } = number.getBoundingClientRect();
  return top >= row.top && bottom <= row.bottom + 1 && right <= row.right + 1;
}"""


def test_the_numbers_of_a_run_have_room_beside_its_commands(desk: Playground) -> None:
    page, before = desk.page, desk.page.viewport_size
    assert before
    desk.start(_LONG)
    expect(desk.at("time-left")).to_contain_text("s")
    try:
        for width in (768, 900, 1024, 1180, 1280):
            page.set_viewport_size({"width": width, "height": 768})
            for name in ("headline", "epoch", "time-left"):
                assert desk.at(name).evaluate(_IN_ROW), (width, name)
            expect(desk.at("status-sentence")).to_contain_text("Training")
    finally:
        page.set_viewport_size(before)
        desk.at("stop").click()
        desk.expect_status("stopped")
        desk.at("reset").click()
        desk.expect_status("ready")


def test_the_list_of_exports_fits_or_shows_that_there_is_more(desk: Playground) -> None:
    """A shade at its lower edge is gone at its end. The button below a QR code stands in line."""
    page, before = desk.page, desk.page.viewport_size
    assert before
    page.set_viewport_size({"width": 1366, "height": 768})
    desk.at("export").click()
    last = desk.page.locator(".export-file").last
    expect(last).to_be_in_viewport(ratio=1)
    try:
        page.set_viewport_size({"width": 1366, "height": 560})
        menu = page.locator(".menu-content")
        box = menu.bounding_box()
        assert box
        x, y = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
        edge = {"x": x, "y": y, "width": 2, "height": 2}
        shade = page.screenshot(clip=edge)  # type: ignore[arg-type]
        last.scroll_into_view_if_needed()
        menu.evaluate("each => each.scrollTo(0, each.scrollHeight)")
        assert page.screenshot(clip=edge) != shade  # type: ignore[arg-type]
        desk.at("share").click()
        desk.at("share-qr").click()
        places = [desk.at(each).bounding_box() for each in ("qr-large", "share-embed")]
        assert places[0] and places[1] and places[0]["x"] == places[1]["x"]
        desk.at("share").click()
    finally:
        page.set_viewport_size(before)


def test_a_run_that_trains_nothing_is_not_asked_to_run(desk: Playground) -> None:
    hint = desk.at("task").locator(".task-hint")
    expect(hint).to_contain_text("Press Run")
    desk.finish("print('only words')")
    expect(hint).to_contain_text("fit() trained no network")
    desk.start("while True: pass")
    expect(hint).to_contain_text("When fit() begins to train")
    desk.at("stop").click()
    desk.expect_status("stopped")
    desk.at("reset").click()
    expect(hint).to_contain_text("Press Run")


def test_an_empty_program_is_neither_run_nor_stepped(desk: Playground) -> None:
    desk.write(" ")
    expect(desk.at("run")).to_have_attribute("aria-disabled", "true")
    expect(desk.at("step")).to_be_disabled()
    desk.write("print('only words')")
    expect(desk.at("step")).to_be_enabled()


def test_a_program_of_keras_is_translated_from_its_error(desk: Playground) -> None:
    """Undo brings it back; an error of another kind offers nothing."""
    program = desk.page.locator("[data-testid=editor] .cm-content")
    desk.finish(KERAS, state="error")
    expect(desk.at("error")).to_contain_text("No module named 'keras'")
    desk.at("error-translate").click()
    expect(desk.at("error")).to_have_count(0)
    expect(program).not_to_contain_text("keras")
    expect(program).to_contain_text("from playgrad import nn as layers")
    assert "predicted (4, 2)" in desk.finish()
    program.press("Control+z")
    expect(program).to_contain_text("import keras")
    desk.finish("nothing = 1 / 0", state="error")
    expect(desk.at("error")).to_contain_text("ZeroDivisionError")
    expect(desk.at("error-translate")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "shown", "words"),
    [
        ("mine.py", "status-sentence", "is open as a program"),
        ("x.playgrad", "project-problem", "x.playgrad"),
    ],
)
def test_a_file_dropped_on_the_drawer_is_not_hidden_by_it(
    desk: Playground, name: str, shown: str, words: str
) -> None:
    """A program and a project open in the page, or a note in it says why not."""
    desk.at("data-open").first.click()
    drawer = desk.at("data-drawer")
    expect(drawer).to_be_visible()
    desk.page.evaluate(DROP, [name, "print('dropped')\n"])
    expect(drawer).to_have_count(0)
    expect(desk.at(shown)).to_contain_text(words)
    desk.at("code-tab").click()
    expect(desk.page.locator("[data-testid=editor] .cm-content")).to_contain_text("dropped")


def test_a_phone_shows_how_well_a_run_did(desk: Playground) -> None:
    """Loss and accuracy come first; steps and time are beside them, out of sight."""
    page, before = desk.page, desk.page.viewport_size
    assert before
    desk.at("example-select").select_option("spiral")
    desk.finish()
    try:
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        desk.at("tab-more").click()
        desk.at("tab-runs").click()
        cells = desk.at("run-row").first.locator("td")
        shown = [cells.nth(place).inner_text() for place in (1, 2)]
        assert shown[1] == desk.text("test-accuracy")
        assert 0 < float(shown[0]) < 0.1
        for place in (1, 2):
            box = cells.nth(place).bounding_box()
            assert box
            assert box["x"] + box["width"] <= PHONE["width"] - 10, shown[place - 1]
        desk.at("tab-inspect").click()
        desk.at("inspect-samples").click()
        hardest = page.locator(".sample-table").first
        expect(hardest.locator("tbody td").nth(3)).to_be_visible()
        assert page.locator(".sample-scroll").first.evaluate(NEEDS_NO_SCROLLING)
        for cell in hardest.locator("tbody tr").first.locator("td").all():
            name = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
            assert name.startswith(f'"{cell.get_attribute("data-label")}"')
    finally:
        page.set_viewport_size(before)
        desk.at("tab-training").click()
