"""The histograms of a training's layers, in the panel Inspect."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]


def test_histograms_are_recorded_while_their_view_is_open(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish(GOOD)
    playground.at("tab-inspect").click()
    playground.at("inspect-histograms").click()
    view = playground.at("histograms")
    expect(view).to_have_attribute("data-records", "1")  # the end: nobody looked before
    expect(playground.at("histograms-missed")).to_contain_text("step 8")
    expect(playground.at("histograms-layer")).to_have_count(2)
    expect(playground.at("histograms-ratios")).to_have_count(0)

    ridge = playground.at("ridge-weights").first
    ridge.focus()
    ridge.press("ArrowRight")
    expect(ridge).to_have_attribute("aria-valuetext", re.compile("^Step 8: \\d+ from "))

    playground.start(GOOD.replace("epochs=2", "epochs=100000"))
    playground.wait(lambda: int(view.get_attribute("data-records") or 0) > 2)
    playground.at("stop").click()
    playground.expect_status("stopped")
    expect(playground.at("histograms-ratios")).to_be_visible()
    playground.at("histograms-table").click()
    assert view.locator("tbody tr").count() > 2 * 3 * 2
