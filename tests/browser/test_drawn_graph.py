"""The graph whose nodes a network classifies, drawn in Watch before, while and after it trains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LAPTOP = {"width": 1366, "height": 768}
PHONE = {"width": 390, "height": 844}

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

edges, clubs = pg.data.karate_club()
x = np.eye(34, dtype=np.float32)
known = np.isin(np.arange(34), [0, 33]).astype(np.float32)
inputs = [pg.Input(x.shape), pg.Input(edges.shape, dtype="int32")]
hidden = nn.GATConv(8, heads=2, activation="elu")(*inputs)
model = pg.Model(inputs, nn.GATConv(2)(hidden, inputs[1]))
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit([x[None], edges[None]], clubs[None], sample_weight=known[None], epochs=150, verbose=0)
"""

# What is drawn, and where the picture and what is around it are.
_PIXELS = "(canvas) => canvas.toDataURL()"
_PLACES = """() => [".stage", ".nodes-board", ".nodes-side", ".curves", ".main-command"]
  .map((each) => document.querySelector(each)?.getBoundingClientRect())
  .map((box) => box && [box.x, box.y, box.width, box.height].map(Math.round))"""


@pytest.fixture(scope="module")
def desk(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    playground = Playground(chromium, desk_server, viewport=LAPTOP)
    playground.choose_device("cpu")
    playground.finish(PROGRAM)
    expect(playground.at("nodes-picture")).to_have_attribute("data-settled", "")
    playground.wait_until_at_rest()
    yield playground
    playground.close()


def test_a_visitor_walks_from_node_to_node(desk: Playground) -> None:
    """By keyboard; what is shown is said as well, once."""
    one, spoken, board = desk.at("nodes-one"), desk.at("nodes-spoken"), desk.at("nodes")
    expect(desk.at("nodes-score")).to_contain_text("2 of 2 nodes that train")
    board.focus()
    desk.page.keyboard.press("Home")
    expect(one).to_contain_text("Node 0, trains")
    expect(one.locator("li")).to_have_count(8)  # itself, six neighbours, how many more
    expect(one).to_contain_text("It takes from 16 neighbours")
    expect(spoken).to_have_text(
        re.compile(r"^Node 0, trains\. predicted instructor, \d+%: right\. .*itself: 0\.\d+")
    )
    desk.page.keyboard.press("End")
    expect(one).to_contain_text("Node 33, trains")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        desk.page.keyboard.press(key)
        if "Node 33" not in one.inner_text():
            break
    expect(one).not_to_contain_text("Node 33, trains")
    desk.page.keyboard.press("Escape")
    expect(one).to_contain_text("Point at a node")
    expect(spoken).to_have_text("")
    expect(desk.at("nodes-whole")).to_be_disabled()  # nodes in sight move nothing


def test_lines_and_colours_are_a_choice(desk: Playground) -> None:
    board = desk.at("nodes")
    with_messages = board.evaluate(_PIXELS)
    desk.at("nodes-layer").select_option("")
    alike = board.evaluate(_PIXELS)
    desk.at("nodes-colour-right").click()
    expect(desk.page.locator(".nodes-legend")).to_contain_text(re.compile(r"right \d+wrong \d+"))
    by_errors = board.evaluate(_PIXELS)
    desk.at("nodes-colour-true").click()
    expect(desk.page.locator(".nodes-legend")).to_have_text("instructor 17officer 17trains")
    assert len({with_messages, alike, by_errors}) == 3
    desk.at("nodes-colour-predicted").click()
    desk.wait(lambda: board.evaluate(_PIXELS) == alike)


def test_a_visitor_zooms_and_finds_the_whole_again(desk: Playground) -> None:
    """Without messages, whose last weights come after the run."""
    board, fit = desk.at("nodes"), desk.at("nodes-whole")
    desk.at("nodes-layer").select_option("")
    before = board.evaluate(_PIXELS)
    expect(fit).to_be_disabled()
    desk.at("nodes-closer").click()
    expect(fit).to_be_enabled()
    box = board.bounding_box()
    assert box
    desk.page.mouse.move(box["x"] + 80, box["y"] + 80)
    desk.page.mouse.down()
    desk.page.mouse.move(box["x"] + 140, box["y"] + 110, steps=4)
    desk.page.mouse.up()
    desk.wait(lambda: board.evaluate(_PIXELS) != before)
    fit.click()
    expect(fit).to_be_disabled()
    desk.page.mouse.move(0, 0)
    desk.wait(lambda: board.evaluate(_PIXELS) == before)


def test_the_same_graph_stays_where_it_is_in_another_run(desk: Playground) -> None:
    """The picture and all around it, too; the worker that placed the nodes is gone."""
    assert "nodes-layout-worker.js" not in desk.workers()
    before = desk.page.evaluate(_PLACES)
    desk.start()
    desk.wait(lambda: 20 < desk.steps < 150)
    expect(desk.at("nodes-picture")).to_have_attribute("data-settled", "")
    assert "nodes-layout-worker.js" not in desk.workers()
    assert desk.page.evaluate(_PLACES) == before
    desk.expect_status("done")
    assert desk.page.evaluate(_PLACES) == before


def test_a_phone_shows_the_graph_and_a_node_that_is_tapped(
    chromium: Browser, desk_server: str
) -> None:
    phone = Playground(
        chromium, desk_server, viewport=PHONE, has_touch=True, reduced_motion="reduce"
    )
    phone.choose_device("cpu")
    phone.expect_status("ready")
    phone.at("tab-build").click()
    phone.write(PROGRAM.replace("epochs=150", "epochs=5"))
    phone.at("tab-training").click()
    before = phone.page.evaluate(_PLACES)
    phone.finish()
    expect(phone.at("nodes-picture")).to_have_attribute("data-settled", "")
    phone.wait_until_at_rest()
    after = phone.page.evaluate(_PLACES)
    assert (after[0], after[3]) == (before[0], before[3])
    expect(phone.at("nodes")).to_be_in_viewport(ratio=1)
    box = phone.at("nodes").bounding_box()
    assert box
    # Somewhere in the middle there are nodes within a finger's reach of each other.
    for part in (0.5, 0.4, 0.3, 0.6):
        phone.page.touchscreen.tap(box["x"] + part * box["width"], box["y"] + part * box["height"])
        if "Node" in phone.text("nodes-spoken"):
            break
    expect(phone.at("nodes-one")).to_contain_text(re.compile(r"^Node \d+"))
    expect(phone.at("nodes-one")).to_be_in_viewport(ratio=0.3)
    phone.close()
