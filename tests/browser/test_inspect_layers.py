"""The view of layers shows what Python computes, and edits samples and units without an effect."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PROGRAM = """
import json
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(6, activation="relu"), nn.Dense(2)])
model.compile(
    pg.optim.Adam(0.03), nn.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
model.fit(x, y, batch_size=20, epochs=3, verbose=0)
look = pg.inspect(model)
quiet = look.silenced({"dense_1": [1, 4]})
scaled = look.scaled({"dense_1": {1: 0.5, 4: -3}})
changed = x[1:2].copy()
changed[0, 2] = -1.5
print(json.dumps({
    "units": look.activations(x[1:2])["dense_1"][0].tolist(),
    "mean": look.layers[0].weights[0].mean,
    "before": look.evaluate(x, y),
    "silent": quiet.evaluate(x, y),
    "scaled": scaled.evaluate(x, y),
    "changed": look.activations(changed)["dense_1"][0].tolist(),
    "travel": look.compare(x[1:2], changed),
    "scores": [look.predict(x[1:2])[0].tolist(), look.predict(changed)[0].tolist()],
}))
"""
STRAYS = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.ones((5, 4), np.float32)
model = pg.Sequential([nn.Dense(3), nn.Dense(2)])
model.predict(x)
kernel, bias, *others = model.get_weights()
kernel = np.ones_like(kernel)
kernel[2, 0] = np.nan
bias[1:] = [np.inf, np.nan]
model.set_weights([kernel, bias, *others])
"""
IMAGES = """
import json
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).uniform(0, 1, (60, 12, 12, 1)).astype(np.float32)
x[0, 0, 0, 0] = 1
y = (x[:, :6].mean((1, 2, 3)) > x[:, 6:].mean((1, 2, 3))).astype(np.int32)
model = pg.Sequential([nn.Conv2D(3, 3, activation="relu"), nn.Flatten(), nn.Dense(2)])
model.compile(pg.optim.Adam(0.03), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=20, epochs=2, verbose=0)
changed = x[:1].copy()
low, high = 0.0, float(x.max())
for row, column in ((3, 4), (3, 5), (6, 6)):
    changed[0, row, column] = high if x[0, row, column, 0] < (low + high) / 2 else low
changed[0, 6, 7] = 0.25
look = pg.inspect(model)
before, after = (look.activations(each)["conv2d_1"][0] for each in (x[:1], changed))
print(json.dumps({
    "means": after.mean((0, 1)).tolist(),
    "changes": (after - before).mean((0, 1)).tolist(),
    "travel": look.compare(x[:1], changed),
}))
"""
NEAR = {"rtol": 1e-4, "atol": 1e-5}


def open_sample(playground: Playground, number: int) -> None:
    """Step to a sample from wherever the test before has left the view."""
    playground.at("tab-inspect").click()
    title = playground.at("inspect-sample").locator("h3")
    expect(title).to_be_visible()
    while (here := int(title.inner_text().split()[2])) != number:
        playground.at("sample-before" if here > number else "sample-next").click()
        step = 1 if here < number else -1
        expect(title).to_contain_text(f"sample {here + step} of")


def expect_effect(
    playground: Playground, before: dict[str, float], after: dict[str, float]
) -> None:
    """Wait until the scores with units as they are, and scaled, are the expected ones."""

    def is_shown() -> bool:
        return playground.at("silence-effect").is_visible() and all(
            np.allclose(values(playground, f"{when}-{name}"), [value], **NEAR)
            for when, scores in (("before", before), ("after", after))
            for name, value in scores.items()
        )

    playground.wait(is_shown)


def values(playground: Playground, name: str) -> list[float]:
    return [float(e.get_attribute("data-value") or "nan") for e in playground.at(name).all()]


def test_layer_views_match_python_and_units_can_be_scaled(
    playground: Playground,
) -> None:
    playground.finish(PROGRAM)
    expected = json.loads(playground.at("console").inner_text().strip().splitlines()[0])
    before = playground.weights()
    open_sample(playground, 1)
    for view, name, numbers in (
        ("activations-view", "unit", expected["units"]),
        ("weights-view", "kernel-mean", [expected["mean"]]),
    ):
        shown = playground.at(view).get_by_test_id(name).all()
        seen = [float(each.get_attribute("data-value") or "nan") for each in shown]
        np.testing.assert_allclose(seen, numbers, **NEAR)

    units = playground.at("unit")
    units.nth(1).click()
    for key in ("ArrowRight", "End", "ArrowLeft", "Enter"):
        playground.page.keyboard.press(key)
    expect(units.nth(4)).to_have_attribute("aria-pressed", "true")
    expect_effect(playground, expected["before"], expected["silent"])
    silent = values(playground, "unit")
    assert silent[1] == silent[4] == 0

    factor = playground.at("factor-dense_1-4")
    for wrong in ("", "1e39"):
        factor.fill(wrong)
        factor.press("Enter")
        assert factor.input_value() == "0"
    factor.fill("-3")
    factor.press("Enter")
    slider = playground.at("factor-slider-dense_1-1")
    slider.focus()
    for _ in range(10):
        slider.press("ArrowRight")
    expect(playground.at("factor-dense_1-1")).to_have_value("0.5")
    expect_effect(playground, expected["before"], expected["scaled"])
    scaled = np.array(expected["units"]) * [1, 0.5, 1, 1, -3, 1]
    np.testing.assert_allclose(values(playground, "unit"), scaled, **NEAR)
    expect(units.nth(4)).to_have_accessible_name(re.compile("^Unit 5: .*, scaled by -3"))

    units.nth(4).click()
    expect(factor).to_have_count(0)
    playground.at("unsilence").click()
    expect(playground.at("silence-effect")).to_have_count(0)
    playground.at("layer-dense_2").click()
    expect(playground.at("unit")).to_have_count(2)
    expect(playground.at("weight-kernel")).to_contain_text("6 × 2")
    playground.at("tab-training").click()
    after = playground.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_changed_value_of_a_row_travels_through_the_layers(playground: Playground) -> None:
    playground.finish(PROGRAM)
    expected = json.loads(playground.at("console").inner_text().strip().splitlines()[0])
    open_sample(playground, 1)
    number, title = playground.at("sample-number"), playground.at("inspect-sample").locator("h3")
    expect(number).to_have_value("1")
    refused = playground.at("sample-number-refused")
    for text, said in (
        ("1e6", "There is no sample 1e6"),
        ("-1", "There is no sample -1"),
        ("1.5", "There is no sample 1.5"),
        ("200", "There is no sample 200. The 200 samples have the numbers 0 to 199."),
        ("", "not a number"),
    ):
        number.fill(text)
        number.press("Enter")
        expect(refused).to_contain_text(said)
        expect(number).to_have_value("1")
        expect(title).to_contain_text("sample 1 of 200")
    for text in ("199", "1"):
        number.fill(text)
        number.press("Enter")
        expect(title).to_contain_text(f"sample {text} of 200")
        expect(refused).to_have_count(0)
    playground.at("layer-dense_1").click()
    field = playground.at("value-2")
    original = field.input_value()
    field.fill("-1.5")
    field.press("Enter")
    expect(playground.at("travel-dense_2")).to_be_visible()
    for name, ratio in expected["travel"].items():
        np.testing.assert_allclose(values(playground, f"travel-{name}"), [ratio], **NEAR)
    np.testing.assert_allclose(values(playground, "unit"), expected["changed"], **NEAR)
    for name, scores in zip(("output-before", "output-after"), expected["scores"], strict=True):
        chances = np.exp(scores) / np.exp(scores).sum()
        np.testing.assert_allclose(values(playground, name), chances, **NEAR)
    field.fill("1e99")
    field.press("Enter")
    assert field.input_value() == "-1.5"
    field.fill(original)  # six digits: no edit, although the last ones differ
    field.press("Enter")
    expect(playground.at("reset-sample")).to_have_count(0)
    expect(playground.at("travel")).to_have_count(0)
    assert field.input_value() == original
    np.testing.assert_allclose(values(playground, "unit"), expected["units"], **NEAR)


def test_numbers_that_have_no_colour_are_counted(playground: Playground) -> None:
    playground.finish(STRAYS)
    playground.at("tab-inspect").click()
    playground.at("layer-dense_1").click()
    strays = {
        name: playground.at(name).get_by_test_id("strays")
        for name in ("weight-kernel", "weight-bias", "activations-view")
    }
    expect(strays["weight-kernel"]).to_contain_text("1 of the 12 numbers shown is NaN or infinite")
    expect(strays["weight-bias"]).to_contain_text("2 of the 3 numbers shown are NaN or infinite")
    expect(strays["activations-view"]).to_contain_text("All numbers shown are NaN or infinite")
    expect(playground.at("weight-kernel")).to_contain_text("the strongest colour is ±1.00")
    expect(playground.at("activations-view")).not_to_contain_text("the strongest colour")
    playground.at("layer-dense_2").click()
    expect(playground.at("weight-kernel")).to_be_visible()
    expect(strays["weight-kernel"]).to_have_count(0)


def test_pixels_are_changed_by_clicks_and_keys(playground: Playground) -> None:
    playground.finish(IMAGES)
    expected = json.loads(playground.at("console").inner_text().strip().splitlines()[0])
    open_sample(playground, 0)
    playground.at("layer-conv2d_1").click()
    picture = playground.at("pixel-editor")
    box = picture.bounding_box()
    assert box is not None
    side = box["width"] / 12
    center = {(row, column): ((column + 0.5) * side, (row + 0.5) * side)
              for row, column in ((3, 4), (3, 5), (6, 6))}  # fmt: skip
    for x, y in (center[3, 4], center[6, 6]):
        picture.click(position={"x": x, "y": y})
    expect(playground.at("pixel-place")).to_have_text("Row 7, column 7")
    playground.page.keyboard.press("ArrowRight")
    expect(playground.at("pixel-place")).to_have_text("Row 7, column 8")
    playground.at("pixel-value-0").fill("0.25")
    playground.at("pixel-value-0").press("Enter")
    picture.focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft", " "):
        playground.page.keyboard.press(key)
    expect(playground.at("pixel-place")).to_have_text("Row 4, column 6")

    expect(playground.at("travel")).to_be_visible()

    def as_expected() -> bool:
        ratios = [values(playground, f"travel-{name}") for name in expected["travel"]]
        return np.allclose(np.ravel(ratios), list(expected["travel"].values()), **NEAR)

    playground.wait(as_expected)
    np.testing.assert_allclose(values(playground, "unit"), expected["means"], **NEAR)
    np.testing.assert_allclose(values(playground, "unit-change"), expected["changes"], **NEAR)
    playground.at("reset-sample").click()
    expect(playground.at("travel")).to_have_count(0)
    playground.at("sample-next").click()
    expect(playground.at("inspect-sample")).to_contain_text("sample 1 of 60")
