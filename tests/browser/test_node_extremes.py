"""Nodes of a hundred megabytes, without elements, of NaN, and of any type, in the graph panel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PROGRAM = """
import numpy as np
import playgrad as pg

side = np.arange(5000, dtype=np.float32)
large = pg.add(pg.constant(side[:, None]), side, name="large")
total = pg.reduce_sum(large, name="total")
nowhere = pg.multiply(pg.constant(np.ones((4, 3), np.float32)), np.nan, name="nowhere")
empty = pg.multiply(pg.constant(np.zeros((0, 3), np.float32)), 2.0, name="empty")
truth = pg.greater(pg.constant([1.0, -1.0, 2.0, 3.0]), 0.0, name="truth")
whole = pg.multiply(pg.constant(np.array([-7, 0, 2**31 - 1], np.int32)), 1, name="whole")
ramp = np.arange(3 * 64, dtype=np.float32).reshape(3, 8, 8, 1)
images = pg.multiply(pg.constant(ramp), 1.0, name="images")
with pg.Session() as session:
    print(session.run([total, nowhere, empty, truth, whole, images])[0])
"""

STEEP = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.linspace(-50, 50, 64, dtype=np.float32).reshape(16, 4)
model = pg.Sequential([nn.Dense(3), nn.Dense(1)])
model.compile(optimizer=pg.optim.SGD(learning_rate=1e-7), loss=nn.MeanSquaredError())
model.fit(x, x.sum(axis=1, keepdims=True), batch_size=16, epochs=1, shuffle=False, verbose=0)
w1, b1, w2, b2 = (np.float64(weight) for weight in model.get_weights())
hidden = x @ w1 + b1
slope = 2 * (hidden @ w2 + b2 - x.sum(axis=1, keepdims=True)) / 16
steepest = {
    "dense_1/kernel": abs(x.T @ (slope @ w2.T)).max(),
    "dense_1/bias": abs((slope @ w2.T).sum(0)).max(),
    "dense_2/kernel": abs(hidden.T @ slope).max(),
    "dense_2/bias": abs(slope.sum(0)).max(),
}
print("|".join(f"{name}={value:.6g}" for name, value in steepest.items()))
"""


_PIXELS = """(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  return { width, height, red: Array.from({ length: width * height }, (_, at) => data[4 * at]) };
}"""
_MATCHES = "async () => (await import('/static/js/panels/graph/graph-find.js')).matches.value"


@pytest.fixture(scope="module")
def drawn(playground: Playground) -> Iterator[Playground]:
    playground.choose_device("cpu")
    playground.at("tab-graph").click()
    yield playground
    playground.runs_well()


def selected(playground: Playground, name: str) -> Locator:
    """Select the operation called ``name``; return its details."""
    search = playground.at("graph-search")
    search.fill(name)
    search.press("Enter")
    details = playground.at("node-details")
    expect(details.locator("h3")).to_have_text(name)
    playground.at("node-value").click()
    expect(details.locator("[data-statistic=nan]")).to_be_visible()
    return details


def statistics(details: Locator) -> dict[str, str]:
    cells = details.locator("[data-statistic]")
    return {cell.get_attribute("data-statistic") or "": cell.inner_text() for cell in cells.all()}


def matches(playground: Playground) -> set[str]:
    return set(playground.page.evaluate(_MATCHES))


def test_a_value_of_a_hundred_megabytes_is_shown_as_a_sample(drawn: Playground) -> None:
    drawn.finish(PROGRAM)
    details = selected(drawn, "large")
    numbers = statistics(details)
    assert float(numbers["min"]) == 0
    assert float(numbers["max"]) == pytest.approx(9998, rel=1e-3)
    assert float(numbers["mean"]) == pytest.approx(4999, rel=1e-3)
    expect(details).to_contain_text("48 of 5000 rows, 48 of 5000 columns, evenly spread")
    expect(details).to_contain_text("of a sample")
    assert details.locator("td").count() <= 48 * 48


def test_statistics_cover_nan_empty_and_integer_values(drawn: Playground) -> None:
    numbers = statistics(details := selected(drawn, "nowhere"))
    assert (numbers["nan"], numbers["min"], numbers["mean"]) == ("12", "–", "–")
    expect(details.locator("[data-alarm]")).to_have_count(1)
    numbers = statistics(details := selected(drawn, "empty"))
    assert (numbers["nan"], numbers["max"], numbers["zeros"]) == ("0", "–", "–")
    expect(details).to_contain_text("It has no elements.")
    numbers = statistics(details := selected(drawn, "truth"))
    assert (numbers["mean"], numbers["zeros"]) == ("0.75", "25%")
    expect(details).to_contain_text("bool")
    numbers = statistics(details := selected(drawn, "whole"))
    assert float(numbers["max"]) == pytest.approx(2**31 - 1, rel=1e-2)
    assert float(numbers["min"]) == -7
    expect(details).to_contain_text("int32")
    numbers = statistics(details := selected(drawn, "total"))
    exact = np.add.outer(np.arange(5000.0), np.arange(5000.0)).sum()
    assert numbers["min"] == numbers["max"]
    assert float(numbers["max"]) == pytest.approx(exact, rel=1e-2)
    drawn.at("node-gradient").click()
    expect(details.get_by_test_id("node-problem")).to_be_visible()


def test_images_are_drawn(drawn: Playground) -> None:
    details = selected(drawn, "images")
    pictures = details.get_by_test_id("node-pictures")
    expect(pictures).to_contain_text("3 of 3 images")
    pixels = pictures.locator("canvas").evaluate(_PIXELS)
    assert (pixels["width"], pixels["height"]) == (3 * 8 + 2, 8)
    red = np.array(pixels["red"]).reshape(8, 26)
    ramp = np.round(np.arange(3 * 64) * 255 / (3 * 64 - 1)).reshape(3, 8, 8)
    for number in range(3):
        shown = red[:, 9 * number : 9 * number + 8]
        np.testing.assert_allclose(shown, ramp[number], atol=1)


def test_a_query_finds_nan_and_counts_skipped_large_values(drawn: Playground) -> None:
    search, note = drawn.at("graph-search"), drawn.at("graph-search-note")
    search.fill("value(*) nan > 0")
    search.press("Enter")
    expect(note).to_contain_text("1 left out")
    assert matches(drawn) == {"constant_3", "nowhere"}  # the factor and the product


def test_a_query_for_steep_gradients_matches_numpy(drawn: Playground) -> None:
    line = drawn.finish(STEEP).strip().splitlines()[-1]
    steepest = {name: float(value) for name, value in (each.split("=") for each in line.split("|"))}
    assert max(steepest.values()) > 10
    search, note = drawn.at("graph-search"), drawn.at("graph-search-note")
    for name, value in steepest.items():
        for factor, count in ((0.99, 1), (1.01, 0)):
            search.fill(f"grad({name}) |max| > {value * factor:.6g}")
            search.press("Enter")
            expect(note).to_contain_text(f"{count} of 1 match")
    search.fill("grad(dense_*) |max| > 10")
    search.press("Enter")
    expect(note).to_contain_text("number 1")
    expected = {name for name, value in steepest.items() if value > 10}
    assert matches(drawn) & set(steepest) == expected
    search.fill("")
