"""The histograms of a training's layers, in the panel Inspect."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]


def test_histograms_show_a_training_from_its_first_step(playground: Playground) -> None:
    """While their view is open, more steps are recorded, with their update ratios."""
    playground.choose_device("cpu")
    playground.finish(GOOD)
    playground.at("tab-inspect").click()
    playground.at("inspect-histograms").click()
    view = playground.at("histograms")
    expect(view).to_have_attribute("data-records", re.compile("^([2-9])$"))
    expect(playground.at("histograms-missed")).to_be_empty()
    expect(playground.at("histograms-layer")).to_have_count(2)
    expect(playground.at("histograms-ratios")).to_have_count(0)

    ridge = playground.at("ridge-weights").first
    ridge.focus()
    ridge.press("ArrowRight")
    expect(ridge).to_have_attribute("aria-valuetext", re.compile("^Step \\d: \\d+ from "))

    playground.start(GOOD.replace("epochs=2", "epochs=5000"))
    playground.wait(lambda: int(view.get_attribute("data-records") or 0) > 2)
    playground.at("stop").click()
    playground.expect_status("stopped")
    expect(playground.at("histograms-ratios")).to_be_visible()
    playground.at("histograms-table").click()
    assert view.locator("tbody tr").count() > 2 * 3 * 2
