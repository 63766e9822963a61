"""The view of layers shows what Python computes, and silences units without an effect."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import PATIENCE_MS, Playground

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
print(json.dumps({
    "units": look.activations(x[1:2])["dense_1"][0].tolist(),
    "mean": look.layers[0].weights[0].mean,
    "before": look.evaluate(x, y),
    "after": quiet.evaluate(x, y),
}))
"""


def values(playground: Playground, name: str) -> list[float]:
    return [float(e.get_attribute("data-value") or "nan") for e in playground.at(name).all()]


def test_layers_are_shown_as_python_sees_them_and_units_are_silenced(
    playground: Playground,
) -> None:
    playground.finish(PROGRAM)
    expected = json.loads(playground.at("console").inner_text().strip().splitlines()[0])
    before = playground.weights()
    playground.at("tab-inspect").click()
    playground.at("sample-next").click(timeout=PATIENCE_MS)
    expect(playground.at("inspect-sample")).to_contain_text("2 of 200", timeout=PATIENCE_MS)
    near = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(values(playground, "unit"), expected["units"], **near)
    np.testing.assert_allclose(values(playground, "kernel-mean"), [expected["mean"]], **near)

    units = playground.at("unit")
    units.nth(1).click()
    for key in ("ArrowRight", "End", "ArrowLeft", "Enter"):
        playground.page.keyboard.press(key)
    expect(units.nth(4)).to_have_attribute("aria-pressed", "true")
    expect(playground.at("silence-effect")).to_contain_text("2, 5 of dense_1", timeout=PATIENCE_MS)
    for when in ("before", "after"):
        for name, value in expected[when].items():
            shown = values(playground, f"{when}-{name}")
            np.testing.assert_allclose(shown, [value], **near)
    silent = values(playground, "unit")
    assert silent[1] == silent[4] == 0

    units.nth(4).click()
    expect(playground.at("silence-effect")).not_to_contain_text("2, 5", timeout=PATIENCE_MS)
    playground.at("unsilence").click()
    expect(playground.at("silence-effect")).to_have_count(0)
    playground.at("layer-dense_2").click()
    expect(playground.at("unit")).to_have_count(2, timeout=PATIENCE_MS)
    expect(playground.at("weight-kernel")).to_contain_text("6 × 2")
    playground.at("tab-training").click()
    after = playground.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)
