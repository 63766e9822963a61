"""The frame of the page: commands, tabs, the drawer of the output, and the bar of a phone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from safetensors.numpy import load, load_file

from tests.browser.message_scenes import visit
from tests.browser.playground import GOOD, Playground
from tests.interchange.keras_side import opened, predicted

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PHONE = {"width": 390, "height": 844}
WIDE = ((768, 1024), (1366, 768))
NOTE = "async (text) => (await import('/static/js/state/store.js')).note(text)"
LONG = (
    "No new Python could be started, perhaps because the server cannot be reached. This run uses "
    "the one of the run before, with everything that was left in it. Reload the page to start anew."
)
ASKING = GOOD.replace("epochs=2", "epochs=100_000")


@pytest.fixture
def phone(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """A phone that has run nothing: the first run opens the panel of the curves."""
    page = Playground(chromium, desk_server, viewport=PHONE)
    expect(page.at("gallery")).to_be_visible()
    page.choose_device("cpu")
    page.at("tab-build").click()
    yield page
    page.close()


def test_one_button_runs_pauses_and_resumes(playground: Playground) -> None:
    """It keeps the focus and its place, so that the same key or click continues."""
    playground.choose_device("cpu")
    main = playground.page.locator(".main-command")
    place = main.bounding_box()
    playground.write(ASKING)
    main.focus()
    for command, status in (("run", "running"), ("pause", "paused"), ("resume", "running")):
        expect(main).to_have_attribute("data-testid", command)
        expect(main).to_be_enabled()
        playground.page.keyboard.press("Enter")
        playground.expect_status(status)
        expect(main).to_be_focused()
        assert main.bounding_box() == place
    playground.timed("stop", "stopped")
    expect(playground.at("time-left")).to_have_text("–")


def test_the_output_is_one_line_until_more_is_printed_than_fits(playground: Playground) -> None:
    console, toggle = playground.at("console"), playground.at("output-toggle")
    playground.finish("x = 1")
    expect(console).to_be_hidden()
    playground.finish("print('seen')")
    expect(console).to_be_hidden()
    expect(playground.at("output-line")).to_have_text("seen")
    playground.finish("print('seen'); print('again')")
    expect(console).to_be_visible()
    toggle.click()
    expect(console).to_be_hidden()
    expect(toggle).to_have_attribute("aria-expanded", "false")
    expect(playground.at("output-line")).to_have_text("again")
    playground.finish("print('long ' * 40)")
    expect(console).to_be_visible()


def test_a_drawing_outlives_a_look_at_another_tab(playground: Playground) -> None:
    playground.at("reset").click()
    playground.expect_status("ready")
    playground.write("# about mnist")
    playground.draw([(0.5, 0.2), (0.5, 0.8)])
    ink = "canvas => canvas.toDataURL()"
    before = playground.at("digit-canvas").evaluate(ink)
    for tab in ("tab-graph", "tab-lab"):
        playground.at(tab).click()
        expect(playground.at("digit-canvas")).to_have_count(0)
        playground.at("tab-training").click()
        assert playground.at("digit-canvas").evaluate(ink) == before
    playground.at("digit-clear").click()


def test_a_phone_shows_the_network_or_a_panel(phone: Playground) -> None:
    editor, curves = phone.at("editor"), phone.page.locator(".curves")
    expect(editor).to_be_visible()
    expect(curves).to_be_hidden()
    phone.start(GOOD)
    expect(curves).to_be_visible()
    phone.expect_status("done")

    # A line of the code is shown with the code.
    phone.at("tab-inspect").click()
    phone.at("layer-dense_2").click()
    expect(phone.at("weights-view")).to_have_attribute("data-layer", "dense_2")
    phone.at("layer-to-code").click()
    content = phone.page.locator("[data-testid=editor] .cm-content")
    expect(content).to_be_focused()
    expect(phone.at("tab-build")).to_have_attribute("aria-current", "page")
    line = next(line for line in GOOD.splitlines() if "nn.Dense(2)" in line)
    expect(content.locator(".cm-activeLine")).to_have_text(line)

    for tab, shown in (("build", ".editor"), ("graph", ".graph"), ("lab", ".lab-controls")):
        if tab != "build":
            phone.at("tab-more").click()
            expect(phone.at("tab-graph")).to_be_focused()
        phone.at(f"tab-{tab}").click()
        expect(phone.page.locator(shown)).to_be_visible()
        expect(phone.at(f"tab-{tab}")).to_have_attribute("aria-current", "page")
        wide = phone.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{tab} is {wide} pixels too wide"
    more = phone.at("tab-more")
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-current", "page")
    expect(more).to_have_accessible_name("More panels: Lab is open")
    keyboard = phone.page.keyboard
    keyboard.press("Enter")
    expect(phone.at("tab-graph")).to_be_focused()
    keyboard.press("Escape")
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-expanded", "false")
    keyboard.press("Enter")
    expect(phone.at("tab-graph")).to_be_focused()
    for key in ("End", "ArrowUp", "ArrowUp", "Enter"):
        keyboard.press(key)
    expect(phone.page.locator(".panel.runs")).to_be_visible()
    phone.at("tab-build").click()
    phone.write("x = ")
    for symbol in ("[", "]", "indentation"):
        phone.at("symbol-row").get_by_label(f"Insert {symbol}").click()
    expect(content).to_be_focused()
    phone.page.keyboard.type("# typed")
    expect(content).to_have_text("x = []    # typed")
    phone.start("1 / 0")
    expect(phone.at("error")).to_be_visible()


def box_of(playground: Playground, selector: str) -> dict[str, float]:
    box = playground.page.locator(selector).bounding_box()
    assert box, selector
    return {**box, "right": box["x"] + box["width"], "bottom": box["y"] + box["height"]}


def test_the_commands_take_one_row(playground: Playground) -> None:
    """Whatever the sentence says; the rest of a long one unfolds over the page."""
    page, sentence = playground.page, playground.at("status-sentence")
    more = playground.at("status-more")
    before = page.viewport_size
    assert before

    def expect_one_row(width: int) -> None:
        playground.wait_until_at_rest()
        assert box_of(playground, ".transport")["height"] == 48, (width, sentence.inner_text())
        for shown in (".status", ".status-sentence", "[data-testid=headline]"):
            box = box_of(playground, shown)
            assert box["right"] <= width, shown
            assert box["bottom"] <= box_of(playground, ".transport")["bottom"], shown

    try:
        for width, height in WIDE:
            page.set_viewport_size({"width": width, "height": height})
            playground.at("reset").click()
            playground.expect_status("ready")
            expect_one_row(width)
            playground.finish(GOOD)
            expect_one_row(width)
            page.evaluate(NOTE, LONG)
            expect(more).to_be_visible()
            expect_one_row(width)
            expect(sentence).to_have_text(LONG)
            expect(sentence).to_have_attribute("title", LONG)
            workspace = box_of(playground, ".workspace")
            more.press("Enter")
            expect(more).to_have_attribute("aria-expanded", "true")
            assert sentence.evaluate("line => line.scrollHeight <= line.clientHeight")
            unfolded = box_of(playground, ".status-sentence")
            assert unfolded["y"] >= box_of(playground, ".transport")["bottom"]
            assert 0 <= unfolded["x"] < unfolded["right"] <= width
            assert box_of(playground, ".workspace") == workspace
            more.press("Enter")
            expect_one_row(width)
            page.evaluate(NOTE, "")
            expect(more).to_have_count(0)
    finally:
        page.set_viewport_size(before)


def test_a_phone_has_two_rows_of_commands_and_numbers(phone: Playground) -> None:
    """A third one has the sentence, if it says more than the status, and all of it."""
    sentence = phone.at("status-sentence")

    def expect_two_rows() -> None:
        phone.wait(lambda: box_of(phone, ".transport")["height"] <= 84)
        status, step = box_of(phone, ".status"), box_of(phone, "[data-testid=step]")
        numbers = box_of(phone, ".transport > .statistics")
        assert status["y"] < step["bottom"] <= numbers["y"]
        assert status["right"] <= PHONE["width"]
        assert box_of(phone, "[data-testid=headline]")["bottom"] <= numbers["bottom"] + 1
        assert sentence.inner_text(), "screen readers still get it"

    phone.expect_status("ready")
    expect_two_rows()
    phone.start(ASKING)
    expect(phone.at("epoch")).not_to_have_text("–")
    expect_two_rows()
    phone.timed("pause", "paused")
    expect_two_rows()
    phone.at("reset").click()
    phone.expect_status("ready")
    phone.at("tab-build").click()
    phone.finish(GOOD)
    expect_two_rows()
    phone.page.evaluate(NOTE, LONG)
    expect(sentence).to_have_text(LONG)
    line = box_of(phone, ".status-sentence")
    assert line["y"] >= box_of(phone, ".transport > .statistics")["bottom"]
    assert line["width"] > 300
    assert sentence.evaluate("line => line.scrollHeight <= line.clientHeight")
    expect(phone.at("status-more")).to_have_count(0)


def test_a_phone_without_a_gpu_keeps_the_menu_of_examples(
    chromium: Browser, desk_server: str
) -> None:
    """The other look for a GPU is in the menu, which makes room for the answer."""
    with visit(chromium, desk_server, "no GPU") as visitor:
        visitor.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        visitor.expect_status("ready")
        assert box_of(visitor, "[data-testid=example-select]")["width"] >= 150
        expect(visitor.at("gpu-again")).to_have_count(0)
        visitor.at("more").click()
        expect(visitor.at("gpu-again")).to_have_text("Retry GPU")
        visitor.at("gpu-again").click()
        expect(visitor.at("gpu-again")).to_have_count(0)
        expect(visitor.at("more")).to_be_focused()
        answer = visitor.at("status-sentence")
        expect(answer).to_contain_text("There is still no GPU")
        assert box_of(visitor, ".status-sentence")["width"] > 300


def test_a_wide_screen_has_everything_side_by_side(playground: Playground) -> None:
    """From 2560 pixels: blocks beside code, the graph beside the other panels, and larger type."""
    page, before = playground.page, playground.page.viewport_size
    assert before
    small = box_of(playground, ".header"), box_of(playground, ".cm-activeLine")
    assert small[0]["height"] == 44
    expect(playground.at("blocks-tab")).to_be_visible()
    try:
        page.set_viewport_size({"width": 2560, "height": 1440})
        expect(playground.at("blocks-tab")).to_have_count(0)
        expect(playground.at("block").first).to_be_visible()
        expect(playground.at("tab-graph")).to_have_count(0)
        parts = ["#network-blocks", "#network-code", ".curves", ".panel.graph"]
        boxes = [box_of(playground, part) for part in parts]
        for left, right in pairwise(boxes):
            assert left["right"] <= right["x"] + 1
        assert all(box["width"] > 380 for box in boxes)
        assert boxes[-1]["right"] > 2520
        assert page.evaluate("document.documentElement.scrollWidth") <= 2560
        for was, selector in zip(small, (".header", ".cm-activeLine"), strict=True):
            grown = box_of(playground, selector)["height"] / was["height"]
            assert grown == pytest.approx(1.2, abs=0.02), selector
    finally:
        page.set_viewport_size(before)


def test_another_example_shows_nothing_of_the_run_before(playground: Playground) -> None:
    """It comes back with its example, and its weights can be saved again."""
    playground.choose_device("cpu")
    first, title = "mnist-mlp", "Handwritten digits, a small network"
    assert playground.at("example-select").input_value() == first
    open_title = playground.at("example-select").locator("option:checked")
    playground.write(f'"""{title}.\n\nOn my own."""')
    expect(open_title).to_have_text(title)
    playground.write('"""Of my own."""')
    expect(open_title).to_have_text(f"Of my own (in place of: {title})")
    playground.finish(GOOD)
    expect(open_title).to_have_text(f"Your program (in place of: {title})")
    assert playground.steps == 8
    expect(playground.at("export-npz")).to_be_enabled()
    playground.at("example-select").select_option("grid-world")
    expect(open_title).not_to_contain_text("in place of")
    expect(playground.at("status")).to_have_text("ready")
    expect(playground.at("step-count")).to_have_text("–")
    expect(playground.at("console")).to_be_empty()
    expect(playground.at("export-npz")).to_be_disabled()
    playground.finish("print('other')")
    playground.at("example-select").select_option(first)
    expect(playground.at("status")).to_have_text("done")
    assert playground.steps == 8
    expect(playground.at("console")).to_contain_text("trained well")
    assert set(playground.weights()) > {"dense_1/kernel"}
    playground.at("example-select").select_option("grid-world")
    expect(playground.at("console")).to_contain_text("other")


def test_the_graph_fits_a_window_that_changes(playground: Playground) -> None:
    """In a low window it opens on its beginning, at a scale one can read; the whole on request."""
    playground.at("example-select").select_option("mnist-mlp")
    playground.finish(GOOD)
    playground.at("tab-graph").click()
    page, before = playground.page, playground.page.viewport_size
    graph = playground.at("graph-view")
    items = graph.locator(".graph-item")
    expect(items.first).to_be_visible()
    assert before

    def outside() -> list[str]:
        stage = graph.bounding_box()
        assert stage
        boxes = [(item.text_content() or "", item.bounding_box()) for item in items.all()]
        return [
            name
            for name, box in boxes
            if not box
            or box["x"] < stage["x"]
            or box["y"] < stage["y"]
            or box["x"] + box["width"] > stage["x"] + stage["width"]
            or box["y"] + box["height"] > stage["y"] + stage["height"]
        ]

    try:
        page.set_viewport_size({"width": 1100, "height": 600})
        playground.wait_until_at_rest()
        beginning = items.filter(has_text="data").first.text_content()
        assert beginning not in outside()
        page.get_by_role("button", name="Fit to view").first.click()
        assert outside() == []
        page.set_viewport_size({"width": 1500, "height": 900})
        playground.wait_until_at_rest()
        assert outside() == []
    finally:
        page.set_viewport_size(before)
        playground.at("tab-training").click()


def test_everything_can_be_exported_from_one_menu(
    playground: Playground, chromium: Browser, tmp_path: Path
) -> None:
    playground.finish(GOOD)
    run = playground.page.evaluate(
        "async () => (await import('/static/js/state/store.js')).runs.value.at(-1).number"
    )
    playground.at("export").click()
    names = [
        playground.download(f"export-menu-{kind}", tmp_path).name
        for kind in (
            "code", "weights-safetensors", "weights-npz", "script", "page", "report", "pytorch",
            "keras", "tfjs", "project",
        )
    ]  # fmt: skip
    endings = ["py", "safetensors", "npz", "py", "html", "html", "zip", "keras", "zip", "playgrad"]
    assert [name.rpartition(".")[2] for name in names] == endings
    assert names[5] == f"report-run-{run}.html"
    assert "trained well" in (tmp_path / names[0]).read_text(encoding="utf-8")
    arrays = [set(np.load(tmp_path / names[2])), set(load_file(tmp_path / names[1]))]
    assert arrays[0] == arrays[1] > {"dense_1/kernel"}
    weights = dict(np.load(tmp_path / names[2]))
    script: dict[str, Any] = {"__name__": "script"}
    exec((tmp_path / names[3]).read_text(encoding="utf-8"), script)
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    hidden = np.tanh(x @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    expected = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    np.testing.assert_allclose(script["predict"](x), expected, rtol=1e-5, atol=1e-6)
    with zipfile.ZipFile(tmp_path / names[6]) as archive:
        assert "nn.Linear(4, " in archive.read("model.py").decode()
        state = load(archive.read("model.safetensors"))
    np.testing.assert_array_equal(state["dense_1.weight"], weights["dense_1/kernel"].T)
    other = opened(tmp_path / names[7])
    np.testing.assert_allclose(predicted(other, [x]), expected, rtol=1e-5, atol=1e-6)
    assert other.compiled
    alone = chromium.new_page()
    alone.goto((tmp_path / names[4]).as_uri())
    expect(alone.get_by_test_id("field-3")).to_be_visible()
    results = [alone.evaluate("row => predict(row)", row.tolist())[0] for row in x]
    np.testing.assert_allclose(results, expected, rtol=1e-4, atol=1e-5)
    alone.close()
    playground.page.keyboard.press("Escape")


def test_a_card_of_the_gallery_opens_an_example(chromium: Browser, desk_server: str) -> None:
    """Before Python is up, by keyboard too; then Enter runs it."""
    visitor = Playground(chromium, desk_server)
    cards = visitor.at("gallery-card")
    expect(cards.first).to_be_visible()
    for example in cards.evaluate_all("cards => cards.map((card) => card.dataset.example)"):
        options = visitor.at("example-select").locator(f"[value={example}]")
        expect(options).to_have_count(1)
    spiral = visitor.page.locator("[data-testid=gallery-card][data-example=spiral]")
    spiral.focus()
    spiral.press("Enter")
    expect(visitor.at("example-select")).to_have_value("spiral")
    expect(visitor.page.locator("[data-testid=editor] .cm-content")).to_contain_text("spiral")
    expect(visitor.at("gallery")).to_have_count(0)
    expect(visitor.at("run")).to_be_focused()
    expect(visitor.at("task")).to_be_in_viewport()
    visitor.close()
