"""The drawing of the graph: its scale, and the map of it in a corner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

# The drawing on the screen: its smallest text in pixels, the view and the boxes.
_DRAWING = """() => {
  const rect = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const svg = document.querySelector(".graph-svg");
  const sizes = [...svg.querySelectorAll("text")].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
  const boxes = [...svg.querySelectorAll(".graph-box")].map(rect);
  return { text: Math.min(...sizes), view: rect(svg), boxes };
}"""

# The map's rectangle, and what is in sight of the drawing: left, top, right, bottom.
_SIGHT = """() => {
  const map = document.querySelector("[data-testid=graph-minimap]");
  const whole = map.viewBox.baseVal;
  const mark = map.querySelector("[data-testid=graph-sight]").getBBox();
  const view = document.querySelector(".graph-svg");
  const { left, top, width, height } = view.getBoundingClientRect();
  const ctm = view.querySelector(":scope > g").getScreenCTM().inverse();
  const corners = [[left, top], [left + width, top + height]];
  const seen = corners.flatMap(([x, y]) => {
    const place = new DOMPoint(x, y).matrixTransform(ctm);
    const within = (at, most) => Math.min(most, Math.max(0, at));
    return [within(place.x, whole.width), within(place.y, whole.height)];
  });
  return {
    mark: [mark.x, mark.y, mark.x + mark.width, mark.y + mark.height],
    seen,
    whole: [whole.width, whole.height],
  };
}"""

SMALLEST_TEXT = 11


@pytest.fixture
def unfolded(playground: Playground) -> Iterator[Playground]:
    """The graph of a small network on a laptop, all scopes open: far larger than the stage."""
    page = playground.page
    page.set_viewport_size({"width": 1440, "height": 900})
    playground.choose_device("cpu")
    playground.at("tab-graph").click()
    playground.runs_well()
    collapse = page.get_by_role("button", name="Collapse all scopes")
    if collapse.count():
        collapse.click()
    page.get_by_role("button", name="Expand all scopes").click()
    kernel = playground.at("graph-view").locator('[data-id="dense_1/kernel"]')
    expect(kernel).to_be_attached()
    expect(playground.at("graph-minimap")).to_be_visible()
    yield playground
    page.set_viewport_size({"width": 1366, "height": 768})
    collapse.click()


def drawing(playground: Playground) -> Any:
    return playground.page.evaluate(_DRAWING)


def in_sight(drawing: Any) -> list[Any]:
    view = drawing["view"]
    return [
        box
        for box in drawing["boxes"]
        if box["left"] >= view["left"] - 1
        and box["right"] <= view["right"] + 1
        and box["top"] >= view["top"] - 1
        and box["bottom"] <= view["bottom"] + 1
    ]


def test_the_graph_opens_readable_on_its_beginning(unfolded: Playground) -> None:
    opened = drawing(unfolded)
    assert opened["text"] >= SMALLEST_TEXT
    assert len(in_sight(opened)) < len(opened["boxes"])
    first = unfolded.at("graph-view").locator('[data-id$="batch_indices"]')
    expect(first).to_be_in_viewport(ratio=1)

    unfolded.page.get_by_role("button", name="Fit to view").click()
    fitted = drawing(unfolded)
    assert fitted["text"] < SMALLEST_TEXT
    assert len(in_sight(fitted)) == len(fitted["boxes"])
    expect(unfolded.at("graph-minimap")).to_have_count(0)


def test_a_node_that_is_found_or_selected_is_readable(unfolded: Playground) -> None:
    fit = unfolded.page.get_by_role("button", name="Fit to view")
    fit.click()
    search = unfolded.at("graph-search")
    search.fill("sgd/update")
    search.press("Enter")
    found = unfolded.at("graph-view").locator('[data-id="sgd/update"]')
    expect(found).to_have_attribute("data-selected", "")
    expect(found).to_be_in_viewport(ratio=0.9)
    assert drawing(unfolded)["text"] >= SMALLEST_TEXT
    search.fill("")
    fit.click()
    kernel = unfolded.at("graph-view").locator('[data-id="dense_1/kernel"]')
    kernel.locator(".graph-box").click()
    expect(kernel).to_be_in_viewport(ratio=0.9)
    assert drawing(unfolded)["text"] >= SMALLEST_TEXT
    unfolded.page.keyboard.press("Escape")


def marks_what_is_seen(playground: Playground) -> list[float]:
    """Check the rectangle in the map against the view; return it."""
    sight = playground.page.evaluate(_SIGHT)
    assert sight["mark"] == pytest.approx(sight["seen"], abs=0.02 * max(sight["whole"]))
    mark: list[float] = sight["mark"]
    return mark


def test_the_map_moves_the_view(unfolded: Playground) -> None:
    small = unfolded.at("graph-minimap")
    mouse = unfolded.page.mouse
    box = small.bounding_box()
    assert box
    left, top, right, bottom = marks_what_is_seen(unfolded)
    assert top < 60  # the beginning

    # A click, then a drag that begins on the rectangle.
    mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    middle = marks_what_is_seen(unfolded)
    whole = unfolded.page.evaluate(_SIGHT)["whole"]
    centre = [(middle[0] + middle[2]) / 2, (middle[1] + middle[3]) / 2]
    assert centre == pytest.approx([side / 2 for side in whole], rel=0.05)
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.4, steps=5)
    mouse.up()
    dragged = marks_what_is_seen(unfolded)
    moved = [dragged[0] - middle[0], dragged[1] - middle[1]]
    assert moved == pytest.approx([whole[0] / 4, -whole[1] / 10], rel=0.1)
    mouse.move(box["x"] + 2, box["y"] + 2)
    assert marks_what_is_seen(unfolded) == dragged  # the drag has ended

    # The keyboard moves by a quarter of what is seen, and stops at the edge.
    small.focus()
    width = right - left
    unfolded.page.keyboard.press("ArrowLeft")
    assert marks_what_is_seen(unfolded)[0] == pytest.approx(dragged[0] - width / 4, rel=0.02)
    for _ in range(40):
        unfolded.page.keyboard.press("ArrowUp")
    assert marks_what_is_seen(unfolded)[1] == pytest.approx(0, abs=1)
    assert bottom > 0
    expect(unfolded.page.get_by_role("application", name="Overview of the graph")).to_be_focused()


def test_the_map_stands_beside_the_details_of_an_operation(unfolded: Playground) -> None:
    """There it lies over no operation, and moves the view as before."""
    page = unfolded.page
    page.set_viewport_size({"width": 1366, "height": 768})
    page.locator(".graph-item.node").first.press("Enter")
    details = unfolded.at("node-details")
    try:
        small = details.get_by_test_id("graph-minimap")
        expect(small).to_be_in_viewport(ratio=1)
        expect(unfolded.at("graph-minimap")).to_have_count(1)
        before = page.locator(".graph-svg > g").get_attribute("transform")
        small.press("ArrowDown")
        expect(page.locator(".graph-svg > g")).not_to_have_attribute("transform", str(before))
    finally:
        details.get_by_role("button", name="Close").click()


def test_a_step_can_be_measured_without_scrolling(unfolded: Playground) -> None:
    """The dock is below the graph, within the window of a laptop and what browsers leave of it."""
    for height in (768, 650):
        unfolded.page.set_viewport_size({"width": 1366, "height": height})
        for button in ("measure-step", "look-at-operations"):
            expect(unfolded.at(button)).to_be_in_viewport(ratio=1)


def test_arrows_walk_from_an_operation_to_the_next_and_back(unfolded: Playground) -> None:
    page = unfolded.page
    focused = page.locator(".graph-item:focus, .graph-cluster-title:focus")

    def place() -> tuple[str | None, float]:
        box = focused.bounding_box()
        assert box
        return focused.get_attribute("data-id"), box["y"]

    page.locator(".graph-item").first.focus()
    first, top = place()
    page.keyboard.press("ArrowDown")
    assert place()[1] > top
    page.keyboard.press("ArrowUp")
    assert place() == (first, pytest.approx(top, abs=2))


def test_the_map_covers_neither_legend_nor_focus(unfolded: Playground) -> None:
    """It covers neither the legend nor the focused operation, and is left out of a small stage."""
    page = unfolded.page
    for width, height in ((1440, 900), (1000, 700), (390, 844), (2560, 1440)):
        page.set_viewport_size({"width": width, "height": height})
        unfolded.wait_until_at_rest()
        small = unfolded.at("graph-minimap").bounding_box()
        legend = page.locator(".graph-legend").bounding_box()
        stage = unfolded.at("graph-view").bounding_box()
        assert small
        assert legend
        assert stage
        drawing = page.locator(".graph-svg").bounding_box()
        assert drawing
        for below, above in ((legend, drawing), (legend, small)):
            assert above["y"] + above["height"] <= below["y"] + 1, (width, height)
        assert small["width"] * small["height"] < 0.1 * stage["width"] * stage["height"]
        marks_what_is_seen(unfolded)
    page.set_viewport_size({"width": 1440, "height": 900})
    unfolded.wait_until_at_rest()
    unfolded.page.locator(".graph-item").first.focus()
    for key in ["ArrowDown", "ArrowRight"] * 12:
        page.keyboard.press(key)
        focused = page.locator(".graph-item:focus, .graph-cluster-title:focus").bounding_box()
        small = unfolded.at("graph-minimap").bounding_box()
        assert focused
        assert small
        if "graph-item" in (page.evaluate("document.activeElement.getAttribute('class')") or ""):
            assert any(
                one[axis] + one[size] <= other[axis] + 1
                for axis, size in (("x", "width"), ("y", "height"))
                for one, other in ((focused, small), (small, focused))
            )
    page.set_viewport_size({"width": 240, "height": 320})
    expect(unfolded.at("graph-minimap")).to_have_count(0)
