"""Tabs and views that are changed at random, and quickly, while a program runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground
from tests.sweeps import budget, dice

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

EXAMPLES = Path(__file__).parents[2] / "static" / "examples"
DIGITS = (EXAMPLES / "mnist-mlp.py").read_text(encoding="utf-8").replace("epochs=1", "epochs=50")
SESSION = """
import numpy as np
import playgrad as pg

x = pg.placeholder("float32", (None, 3), name="x")
w = pg.Variable([[1.0], [2.0], [-3.0]], name="w")
loss = pg.reduce_mean(pg.square(pg.matmul(x, w, name="score")), name="loss")
(slope,) = pg.gradients(loss, [w])
update = w.assign_sub(0.001 * slope, name="update")
points = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
session = pg.Session(device="cpu")
print("begun")
for step in range(2000):
    session.run([loss, update], {x: points})
print("steps", step + 1)
"""
VIEWS = ("layers", "samples", "projection", "attention", "next", "trees", "histograms")
CHANGES = budget(30, night=150)


def change_views(playground: Playground, part: int) -> None:
    """Click at tabs and views of Inspect, many times a second."""
    draw = dice("views", part)
    for _ in range(CHANGES):
        playground.at(f"tab-{draw.choice(('training', 'inspect', 'graph', 'runs', 'lab'))}").click()
        if playground.at("inspect-layers").count():
            for view in draw.sample(VIEWS, draw.randrange(4)):
                playground.at(f"inspect-{view}").click()
        playground.page.wait_for_timeout(draw.choice((0, 0, 20, 120)))


def test_views_can_be_changed_during_training(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.start(DIGITS)
    playground.wait(lambda: playground.steps > 0)
    before = playground.steps
    change_views(playground, part=1)
    playground.wait(lambda: playground.steps > before + 20)
    assert playground.text("status") == "running"
    playground.at("tab-inspect").click()
    shown = {
        "layers": "activations-view",
        "samples": "confusion-matrix",
        "projection": "projection",
    }
    for view, part in shown.items():
        playground.at(f"inspect-{view}").click()
        expect(playground.at(part)).to_be_visible()
    playground.at("inspect-attention").click()
    expect(playground.at("attention-none")).to_contain_text("This network has no attention")
    playground.at("inspect-next").click()
    expect(playground.at("next-none")).to_be_visible()
    playground.at("tab-graph").click()
    expect(playground.at("graph-view").locator(".graph-item").first).to_be_visible()
    playground.at("tab-training").click()
    last = playground.steps
    playground.wait(lambda: playground.steps > last)
    playground.at("stop").click()
    playground.expect_status("stopped", "done")
    expect(playground.at("error")).to_have_count(0)


def test_views_can_be_changed_during_a_program_with_sessions(playground: Playground) -> None:
    playground.start(SESSION)
    expect(playground.at("console")).to_contain_text("begun")
    change_views(playground, part=2)
    playground.expect_status("done")
    assert re.search(r"steps 2000\b", playground.text("console"))
    playground.at("tab-graph").click()
    search = playground.at("graph-search")
    search.fill("update")
    search.press("Enter")
    playground.at("node-value").click()
    expect(playground.at("node-details").locator("[data-statistic=max]")).not_to_be_empty()
    playground.at("tab-inspect").click()
    playground.at("inspect-layers").click()
    expect(playground.at("inspect")).to_contain_text("Graph shows their values")
    expect(playground.at("error")).to_have_count(0)
