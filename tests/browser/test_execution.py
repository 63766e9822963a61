"""The timeline of a measured step, below the graph."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground
from tests.trace_format import check_trace

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

# The number of operations and the milliseconds of the step, as the summary says.
_SAID = """async () => {
  const text = document.querySelector("[data-testid=timeline-summary]").textContent;
  const { measured } = await import("/static/js/panels/graph/execution.js");
  const format = await import("/static/js/words/format.js");
  const { events, duration } = measured.value;
  if (!text.includes(format.milliseconds(duration))) throw new Error(text);
  return [events.length, duration];
}"""

# Where the bars begin and how wide they are, in thousandths of the step.
_BARS = """() => [...document.querySelectorAll("[data-testid=timeline-lane] rect")].map((bar) =>
  [bar.x.baseVal.value, bar.width.baseVal.value])"""
_LEAST = 1.2
"""The width of the narrowest bar."""

_WIDTH = "() => document.querySelector('[data-testid=timeline-lanes]').clientWidth"


def test_a_step_is_measured_zoomed_shown_in_the_graph_and_saved(
    playground: Playground, tmp_path: Path
) -> None:
    page, at = playground.page, playground.at
    playground.choose_device("gpu")
    playground.finish(GOOD)
    before = playground.weights()
    at("tab-graph").click()
    at("timeline-apart").check()
    at("measure-step").click()
    lane = at("timeline-lane")
    expect(lane).to_have_attribute("data-device", "gpu:0")
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
    spans = check_trace(saved)
    assert len(spans) == bars.count()
    assert "gpu:0" in saved["otherData"]

    # Another program has another graph, and nothing was measured of it.
    playground.finish(GOOD.replace("nn.Dense(3", "nn.Dense(5"))
    expect(at("timeline")).to_have_count(0)


def test_the_bars_fit_the_step(playground: Playground, tmp_path: Path) -> None:
    """The times drawn, said and saved are the same, and their sum fits the step."""
    page, at = playground.page, playground.at
    playground.choose_device("cpu")
    playground.finish(GOOD)
    at("tab-graph").click()
    at("measure-step").click()
    expect(at("timeline-lane")).to_have_attribute("data-device", "cpu:0")
    count, duration = page.evaluate(_SAID)
    bars = page.evaluate(_BARS)
    saved = json.loads(playground.download("timeline-save", tmp_path).read_text(encoding="utf-8"))
    spans = sorted(check_trace(saved), key=lambda span: span["ts"])
    assert len(bars) == len(spans) == count > 10
    begin = spans[0]["ts"]
    end = max(span["ts"] + span["dur"] for span in spans)
    assert end - begin == pytest.approx(1000 * duration, rel=1e-6)
    for (left, width), span in zip(bars, spans, strict=True):
        assert width == pytest.approx(max(_LEAST, span["dur"] / duration), abs=1e-3)
        assert left == pytest.approx(min((span["ts"] - begin) / duration, 1000 - width), abs=1e-3)
    # One thread computes one operation after another.
    for before, after in pairwise(spans):
        assert before["ts"] + before["dur"] <= after["ts"] + 1e-3
    assert 0 < sum(span["dur"] for span in spans) <= end - begin


def _middle(box: object) -> tuple[float, float]:
    assert isinstance(box, dict)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
