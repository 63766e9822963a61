"""The graph panel: on the full page by keyboard alone, and next to a scrolled Lab."""

from __future__ import annotations

from functools import partial

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

# The focused element; "" for the page as a whole.
_FOCUSED = """() => {
  const element = document.activeElement;
  if (element === document.body) return "";
  return element.closest(".graph") ? "graph" : element.outerHTML.slice(0, 80);
}"""

# What the operations were measured by, once they are.
_HEAT = """async (measure) => {
  const { heat } = await import("/static/js/panels/graph/graph-heat.js");
  return heat.value?.measure === measure ? Object.fromEntries(heat.value.values) : null;
}"""


SESSION = """
import playgrad as pg
product = pg.mul(pg.constant([2.0]), pg.constant([3.0]), name="product")
with pg.Session() as session:
    print(session.run(product))
"""


@pytest.fixture
def drawn(playground: Playground) -> Playground:
    """The page with the graph of a program that has run."""
    playground.choose_device("cpu")
    playground.at("tab-graph").click()
    playground.runs_well()
    expect(items(playground).first).to_be_visible()
    return playground


def items(playground: Playground) -> Locator:
    return playground.at("graph-view").locator(".graph-item")


def full_page(playground: Playground) -> Locator:
    button = playground.at("graph-full-page")
    button.focus()
    button.press("Enter")
    expect(button).to_have_text("Exit full page")
    return button


def test_the_focus_stays_in_the_full_page_graph(drawn: Playground) -> None:
    button = full_page(drawn)
    expect(drawn.page.get_by_role("dialog", name="Graph")).to_be_visible()
    expect(button).to_be_focused()
    for key in ("Tab", "Shift+Tab"):
        seen = set()
        for _ in range(30):
            drawn.page.keyboard.press(key)
            seen.add(drawn.page.evaluate(_FOCUSED))
        assert "graph" in seen
        assert seen <= {"graph", ""}
    items(drawn).first.focus()
    drawn.page.keyboard.press("Escape")
    expect(button).to_have_text("Full page")
    expect(button).to_be_focused()
    expect(drawn.page.get_by_role("dialog")).to_have_count(0)
    # Everything can be reached again, up to the editor, where Shift+Tab indents less.
    seen = set()
    for _ in range(12):
        drawn.page.keyboard.press("Shift+Tab")
        seen.add(drawn.page.evaluate(_FOCUSED))
    assert len(seen - {"graph", ""}) > 3


def test_escape_closes_the_details_first(drawn: Playground) -> None:
    button = full_page(drawn)
    drawn.page.get_by_role("button", name="Expand all scopes").click()
    node = drawn.at("graph-view").locator(".graph-item.node").first
    expect(node).to_be_visible()
    node.focus()
    node.press("Enter")
    expect(drawn.at("node-details")).to_be_visible()
    drawn.page.keyboard.press("Escape")
    expect(drawn.at("node-details")).to_have_count(0)
    expect(button).to_have_text("Exit full page")
    drawn.page.keyboard.press("Escape")
    expect(button).to_have_text("Full page")
    drawn.page.get_by_role("button", name="Collapse all scopes").click()


def test_a_line_of_code_is_shown_beside_the_graph(drawn: Playground) -> None:
    """The full-page graph covers the code and has to close."""
    full_page(drawn)
    drawn.page.get_by_role("button", name="Expand all scopes").click()
    kernel = drawn.at("graph-view").locator('[data-id="dense_1/kernel"]')
    expect(kernel).to_be_attached()
    kernel.focus()
    kernel.press("Enter")
    drawn.at("node-details").get_by_role("button", name="line").press("Enter")
    expect(drawn.at("graph-full-page")).to_have_text("Full page")
    expect(drawn.page.locator("[data-testid=editor] .cm-content")).to_be_focused()
    drawn.page.get_by_role("button", name="Collapse all scopes").click()


def test_a_reset_leaves_the_full_page(drawn: Playground) -> None:
    """Without a graph there is nothing to show, and no button to leave."""
    full_page(drawn)
    drawn.page.keyboard.press("Control+Shift+Period")
    drawn.expect_status("ready")
    expect(drawn.page.get_by_role("dialog")).to_have_count(0)
    expect(drawn.at("run")).to_be_enabled()
    drawn.at("run").click()
    drawn.expect_status("done")


def test_only_programs_with_operations_show_a_graph(drawn: Playground) -> None:
    drawn.finish("print('no network')")
    expect(drawn.at("graph-view")).to_contain_text("Run a network to see its graph")
    drawn.finish(SESSION)
    expect(items(drawn).filter(has_text="product")).to_be_visible()
    drawn.runs_well()
    expect(items(drawn).filter(has_text="product")).to_have_count(0)
    expect(items(drawn).first).to_be_visible()


def test_the_graph_stays_beside_a_lab_that_is_scrolled(drawn: Playground) -> None:
    page = drawn.page
    before = page.viewport_size
    assert before
    page.set_viewport_size({"width": 1920, "height": 700})
    try:
        drawn.at("tab-lab").click()
        drawn.at("lab-strategy").select_option("async")
        lab = page.get_by_role("tabpanel", name="Lab")
        expect(drawn.at("lab-honest")).to_be_attached()
        assert lab.evaluate("lab => lab.scrollHeight - lab.clientHeight") > 100
        for scroll in (0, 100_000):
            lab.evaluate("(lab, to) => { lab.scrollTop = to; }", scroll)
            box = drawn.at("graph-view").bounding_box()
            assert box
            assert box["y"] > 0
            assert box["y"] + box["height"] <= 700
            assert box["height"] > 300
            expect(items(drawn).first).to_be_in_viewport()
        drawn.at("lab-strategy").select_option("single")
    finally:
        page.set_viewport_size(before)
        drawn.at("tab-training").click()


def test_colours_of_time_and_magnitude_are_measured(drawn: Playground) -> None:
    colours = drawn.at("graph-colours")
    for measure in ("time", "magnitude"):
        colours.select_option(measure)
        warmest = drawn.at("graph-view").locator('.graph-item[data-colour="heat-4"]')
        expect(drawn.at("graph-view").locator(".graph-legend")).to_contain_text("not measured")
        drawn.wait(partial(drawn.page.evaluate, _HEAT, measure))
        values = drawn.page.evaluate(_HEAT, measure)
        assert max(values.values()) > 0
        if measure == "time":
            expect(warmest.first).to_be_visible()
    colours.select_option("phase")
