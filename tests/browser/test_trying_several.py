"""Several values of a field, tried in interpreters of their own, beside the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground
from tests.browser.test_page_blocks import code

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PROGRAM = (
    GOOD.replace("epochs=2", "epochs=4")
    .replace("verbose=0", "validation_data=(x, (x[:, 0] > 0).astype(np.int32)), verbose=0")
    .replace("from_logits=True),\n", 'from_logits=True),\n    metrics=["accuracy"],\n')
)


@pytest.fixture
def blocks(playground: Playground) -> Iterator[Playground]:
    playground.write(PROGRAM)
    playground.at("blocks-tab").click()
    yield playground
    if playground.at("trials-dialog").is_visible():
        playground.at("trials-close").click()
    playground.at("code-tab").click()


def open_dialog(playground: Playground, field: str) -> None:
    name = re.compile(f"Try several values: {field}")
    playground.page.get_by_role("button", name=name).first.click()
    expect(playground.at("trials-dialog")).to_be_visible()


def test_rates_are_tried_compared_and_the_best_is_kept(blocks: Playground) -> None:
    blocks.finish()  # so that Python has another model
    open_dialog(blocks, "learning rate")
    expect(blocks.at("trials-values")).to_have_value("0.01, 0.03, 0.1, 0.3")
    blocks.at("trials-values").fill("0.000001, 0.5")
    blocks.at("trials-begin").click()
    trials = blocks.at("trial")
    expect(trials).to_have_count(2)
    for number in (0, 1):
        expect(trials.nth(number)).to_have_attribute("data-state", "done")
        expect(trials.nth(number)).to_contain_text("test accuracy")
        expect(trials.nth(number).locator("polyline")).to_have_attribute(
            "points", re.compile(r"\d")
        )
    expect(trials.nth(1)).to_have_attribute("data-best", "")
    blocks.at("trials-keep").click()
    expect(blocks.at("trials-dialog")).to_have_count(0)
    assert "learning_rate=0.5" in code(blocks)
    # The page shows that training, and its weights answer.
    blocks.expect_status("done")
    assert blocks.steps == 16
    assert blocks.number("test-accuracy") > 60
    kept = blocks.weights()
    assert kept
    blocks.at("tab-runs").click()
    expect(blocks.at("run-row")).to_have_count(3)
    expect(blocks.at("run-row").first).to_contain_text("0.5")
    blocks.finish()
    again = blocks.weights()
    assert kept.keys() == again.keys()
    for name, values in kept.items():
        np.testing.assert_array_equal(values, again[name])


def test_choices_are_tried_and_a_trial_that_fails_says_why(blocks: Playground) -> None:
    open_dialog(blocks, "activation")
    choices = blocks.at("trials-dialog").get_by_role("checkbox")
    assert choices.count() > 4
    blocks.at("trials-close").click()
    expect(blocks.at("trials-dialog")).to_have_count(0)

    open_dialog(blocks, "learning rate")
    problem = blocks.at("trials-dialog").get_by_role("alert")
    for unclear in ("0,1", "0,1; 0,01", "1,2,3"):
        blocks.at("trials-values").fill(unclear)
        expect(problem).to_contain_text("one number or several?")
        expect(blocks.at("trials-begin")).to_be_disabled()
    for clear in ("0.1,0.01", "1, 2", "1e-3,1e-2", "0.1；0.2"):
        blocks.at("trials-values").fill(clear)
        expect(blocks.at("trials-begin")).to_be_enabled()
    blocks.at("trials-close").click()

    open_dialog(blocks, "units")
    blocks.at("trials-values").fill("16,32")
    expect(blocks.at("trials-begin")).to_be_enabled()
    blocks.at("trials-values").fill("2, 0.5")
    expect(blocks.at("trials-dialog").get_by_role("alert")).to_have_text(
        "“0.5” is not a value for units."
    )
    expect(blocks.at("trials-begin")).to_be_disabled()
    blocks.at("trials-values").fill("2")
    expect(blocks.at("trials-dialog").get_by_role("alert")).to_have_text("Choose 2 to 8 values.")
    blocks.at("trials-values").fill("2, 1000000000")
    blocks.at("trials-begin").click()
    expect(blocks.at("trial").first).to_have_attribute("data-state", "done")
    expect(blocks.at("trial").last).to_have_attribute("data-state", "error")
    expect(blocks.at("trial").last).to_contain_text("memory")
    expect(blocks.at("trials-keep")).to_have_count(0)


def test_stopped_trials_end_their_interpreters(blocks: Playground) -> None:
    source = code(blocks)
    blocks.write(source.replace("epochs=4", "epochs=400_000"))
    blocks.at("blocks-tab").click()
    before = len(blocks.page.workers)
    open_dialog(blocks, "learning rate")
    blocks.at("trials-begin").click()
    expect(blocks.at("trial").first.locator("polyline")).to_have_attribute(
        "points", re.compile(r"\d")
    )
    assert len(blocks.page.workers) > before
    blocks.at("trials-stop").click()
    expect(blocks.at("trial").first).to_have_attribute("data-state", "stopped")
    expect(blocks.at("trial").last).to_have_attribute("data-state", "stopped")
    for _ in range(100):
        if len(blocks.page.workers) <= before:
            break
        blocks.page.wait_for_timeout(50)
    assert len(blocks.page.workers) <= before
    assert "epochs=400_000" in code(blocks), "the program stays as it is"
