"""The selected node of the graph: its value, gradient, time, kernel and line, and finding nodes."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

_OVERLAP = """() => {
  const stage = document.querySelector("[data-testid=graph-view]").getBoundingClientRect();
  const details = document.querySelector("[data-testid=node-details]").getBoundingClientRect();
  const across = Math.min(stage.right, details.right) - Math.max(stage.left, details.left);
  const down = Math.min(stage.bottom, details.bottom) - Math.max(stage.top, details.top);
  return across > 1 && down > 1;
}"""
# The parts of the panel that lie over each other.
_COVERED = """() => {
  const parts = [".graph-stage", ".node-details", ".execution"].map((part) => [
    part, document.querySelector(part).getBoundingClientRect()]);
  return parts.flatMap(([one, a], at) => parts.slice(at + 1).flatMap(([other, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return across > 1 && down > 1 ? [`${one} and ${other}`] : [];
  }));
}"""
_NUMBERS = """
def largest(name):
    return float(abs(dict(model.named_weights())[name]).max())
print("largest", format(largest("dense_1/kernel"), ".3g"))
"""


@pytest.fixture(scope="module")
def trained(playground: Playground) -> Playground:
    """The page with the graph of a network that was trained."""
    playground.choose_device("cpu")
    playground.finish(GOOD + _NUMBERS)
    playground.at("tab-graph").click()
    return playground


def test_node_details_show_the_values_that_python_computes(trained: Playground) -> None:
    search = trained.at("graph-search")
    search.fill("dense_1/kernel")
    search.press("Enter")
    details = trained.at("node-details")
    expect(details).to_contain_text("dense_1/kernel")
    assert not trained.page.evaluate(_OVERLAP)
    numbers = details.locator("[data-statistic=max], [data-statistic=min]")
    expect(numbers).to_have_count(2)
    sizes = [abs(float(text)) for text in numbers.all_inner_texts()]
    largest = next(
        line.split()[-1]
        for line in trained.text("console").splitlines()
        if line.startswith("largest")
    )
    assert max(sizes) == float(largest)

    trained.at("node-gradient").click()
    expect(details.locator("[data-part=gradient] [data-statistic=max]")).not_to_be_empty()
    trained.at("node-time").click()
    expect(trained.at("node-tab-content")).to_contain_text("stored, not computed")
    search.fill("tanh")
    search.press("Enter")
    expect(trained.at("node-seconds")).to_contain_text("s")
    trained.at("node-kernel").click()
    expect(trained.at("node-tab-content")).to_contain_text("NumPy computes tanh")
    expect(trained.at("node-computed")).to_have_text("in Python, operation by operation")
    trained.at("node-code").click()
    line = details.locator(".node-code [aria-current]")
    expect(line).to_contain_text('activation="tanh"')
    trained.at("node-to-line").click()
    expect(trained.page.locator("[data-testid=editor] .cm-content")).to_be_focused()

    trained.at("node-value").click()
    trained.at("node-batch").select_option("sample")
    trained.at("node-sample").fill("5")
    trained.at("node-sample").press("Enter")
    weights = trained.weights()
    sample = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)[5]
    values = np.tanh(sample @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    for name, value in (("min", values.min()), ("mean", values.mean()), ("max", values.max())):
        statistic = details.locator(f"[data-statistic={name}]")
        expect(statistic).to_have_text(format(value, ".3g"))

    search.fill("value(dense_*) |max| > 0.0001")
    search.press("Enter")
    note = trained.at("graph-search-note")
    expect(note).to_contain_text("match")
    assert int(note.inner_text().split()[0]) >= 5
    search.fill("value(dense_*) median > 1")
    search.press("Enter")
    expect(note).to_contain_text("median")


def test_the_details_cover_nothing_at_any_size(trained: Playground) -> None:
    page, before = trained.page, trained.page.viewport_size
    assert before
    search = trained.at("graph-search")
    search.fill("dense_1/kernel")
    search.press("Enter")
    details = trained.at("node-details")
    expect(details.locator("h3")).to_have_text("dense_1/kernel")
    trained.at("node-value").click()
    expect(details.locator("[data-statistic=max]")).not_to_be_empty()
    try:
        for size in ((390, 844), (844, 390), (1000, 700), (1440, 900), (2560, 1440)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            trained.wait_until_at_rest()
            assert page.evaluate(_COVERED) == [], size
    finally:
        page.set_viewport_size(before)
