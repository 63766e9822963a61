"""The timeline of a measured step, below the graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, PATIENCE_MS, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

_WIDTH = "() => document.querySelector('[data-testid=timeline-lanes]').clientWidth"


def test_a_step_is_measured_zoomed_shown_in_the_graph_and_saved(
    playground: Playground, tmp_path: Path
) -> None:
    page, at = playground.page, playground.at
    playground.finish(GOOD)
    before = playground.weights()
    at("tab-graph").click()
    at("timeline-apart").check()
    at("measure-step").click()
    lane = at("timeline-lane")
    expect(lane).to_have_attribute("data-device", "gpu:0", timeout=PATIENCE_MS)
    bars = lane.locator("rect")
    assert bars.count() > 10
    after = playground.weights()
    assert all((after[name] == weight).all() for name, weight in before.items())

    # By keyboard: along the bars, to the node, and closer.
    lane.focus()
    page.keyboard.press("End")
    looked = playground.text("timeline-looked")
    assert looked.startswith("gpu:0: ")
    width = page.evaluate(_WIDTH)
    page.keyboard.press("+")
    page.keyboard.press("+")
    playground.wait(lambda: page.evaluate(_WIDTH) > 2 * width)
    assert playground.text("timeline-looked") == looked
    page.keyboard.press("0")
    playground.wait(lambda: page.evaluate(_WIDTH) == width)
    page.mouse.move(*_middle(lane.bounding_box()))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    playground.wait(lambda: page.evaluate(_WIDTH) > 2 * width)

    at("timeline-table-open").click()
    rows = at("timeline-table").locator("tbody tr")
    expect(rows).to_have_count(bars.count())
    link = rows.get_by_role("button", name="dense_1/").first
    name = link.inner_text()
    link.click()
    expect(page.locator(".node-details h3")).to_have_text(name)
    expect(lane.locator("rect[data-selected]")).to_have_count(1)

    saved = json.loads(playground.download("timeline-save", tmp_path).read_text(encoding="utf-8"))
    spans = [span for span in saved["traceEvents"] if span["ph"] == "X"]
    assert len(spans) == bars.count()
    assert "gpu:0" in saved["otherData"]

    # Another program has another graph, and nothing was measured of it.
    playground.finish(GOOD.replace("nn.Dense(3", "nn.Dense(5"))
    expect(at("timeline")).to_have_count(0)


def _middle(box: object) -> tuple[float, float]:
    assert isinstance(box, dict)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
