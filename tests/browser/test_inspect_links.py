"""The layer shown in Inspect, its line in the code and its block follow each other."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(40, 8, 8, 1)).astype(np.float32)
y = (x.mean((1, 2, 3)) > 0).astype(np.int32)
model = pg.Sequential([
    nn.Conv2D(3, 3, activation="relu"),
    nn.Flatten(), nn.Dense(7),
    nn.Dense(
        2,
    ),
])
model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=20, epochs=1, verbose=0)
"""
LAYERS = {
    "conv2d_1": ('    nn.Conv2D(3, 3, activation="relu"),', "3 × 3 × 1 × 3"),
    "flatten_1": ("    nn.Flatten(), nn.Dense(7),", ""),
    "dense_1": ("    nn.Flatten(), nn.Dense(7),", "108 × 7"),
    "dense_2": ("    nn.Dense(", "7 × 2"),
}


def marked_line(playground: Playground) -> Locator:
    return playground.page.locator("[data-testid=editor] .cm-linked-line")


def marked_block(playground: Playground) -> Locator:
    return playground.page.locator("[data-testid=block][aria-current]")


def expect_layer(playground: Playground, name: str) -> None:
    """Wait until the view has the weights of a layer, and its line is marked."""
    line, shape = LAYERS[name]
    expect(playground.at("weights-view")).to_have_attribute("data-layer", name)
    expect(playground.at(f"layer-{name}")).to_have_attribute("aria-pressed", "true")
    expect(playground.at("layer-slider")).to_have_value(str(list(LAYERS).index(name)))
    assert marked_line(playground).all_inner_texts() == [line]
    if shape:
        expect(playground.at("weight-kernel")).to_contain_text(shape)


def test_a_slider_leads_through_layers_lines_and_blocks(playground: Playground) -> None:
    playground.at("code-tab").click()
    playground.finish(PROGRAM)
    expect(marked_line(playground)).to_have_count(0)
    playground.at("tab-inspect").click()
    slider = playground.at("layer-slider")
    expect(slider).to_be_visible()
    slider.focus()
    slider.press("Home")
    expect_layer(playground, "conv2d_1")
    for name in list(LAYERS)[1:]:
        slider.press("ArrowRight")
        expect_layer(playground, name)
        expect(slider).to_be_focused()
    assert slider.get_attribute("aria-valuetext") == "dense_2, Dense"

    playground.at("blocks-tab").click()
    expect(marked_block(playground)).to_have_attribute("data-position", "0-3")
    slider.focus()
    for at, kind in ((2, "Dense"), (1, "Flatten"), (0, "Conv2D")):
        slider.press("ArrowLeft")
        expect(marked_block(playground)).to_have_attribute("data-position", f"0-{at}")
        expect(marked_block(playground)).to_have_attribute("data-kind", kind)


def test_lines_and_blocks_choose_the_layer(playground: Playground) -> None:
    playground.at("code-tab").click()
    playground.finish(PROGRAM)
    playground.at("tab-inspect").click()
    lines = playground.page.locator("[data-testid=editor] .cm-line")
    lines.filter(has_text="nn.Flatten()").click()
    expect_layer(playground, "flatten_1")
    playground.at("layer-dense_1").click()
    expect_layer(playground, "dense_1")
    lines.filter(has_text="nn.Flatten()").click()  # the line of this layer, too
    lines.filter(has_text="import numpy").click()  # of no layer
    expect_layer(playground, "dense_1")
    playground.page.keyboard.press("Control+Home")
    lines.filter(has_text="nn.Conv2D").click()
    expect_layer(playground, "conv2d_1")

    playground.at("blocks-tab").click()
    block = playground.page.locator("[data-testid=block][data-position='0-2']")
    block.locator("h4").click()
    expect_layer(playground, "dense_1")
    expect(marked_block(playground)).to_have_attribute("data-position", "0-2")
    playground.page.locator("[data-testid=block][data-position='0-3'] .block-grip").focus()
    expect_layer(playground, "dense_2")

    playground.at("layer-to-code").click()
    expect(playground.at("code-tab")).to_have_attribute("aria-selected", "true")
    expect(playground.page.locator("[data-testid=editor] .cm-activeLine")).to_have_text(
        LAYERS["dense_2"][0]
    )
    expect(playground.page.locator("[data-testid=editor] .cm-content")).to_be_focused()
    playground.page.keyboard.press("End")
    playground.page.keyboard.type("# edited")  # not the line that ran
    expect(marked_line(playground)).to_have_count(0)
    expect(playground.at("layer-to-code")).to_have_count(0)
    playground.page.keyboard.press("Control+z")
    expect_layer(playground, "dense_2")
    playground.at("tab-training").click()
    expect(marked_line(playground)).to_have_count(0)
