"""A visitor trains a network, makes it smaller, tries what is left of it, and takes it away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import playgrad as pg
from tests.browser.playground import Playground
from tests.browser.test_accessibility import AXE, violations, violations_in_both_themes
from tests.page.test_shrinking import NUMBERS, PROGRAM

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

READY = "[data-testid=shrink-row][data-state=ready]"


@pytest.fixture
def shrink(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page with its tab Shrink open."""
    playground = Playground(chromium, desk_server)
    playground.expect_status("ready")
    playground.at("tab-shrink").click()
    yield playground
    playground.close()


def choose(playground: Playground, version: str) -> None:
    playground.page.locator(f"[data-testid=shrink-row][data-name={version}] button").click()
    expect(playground.at("shrink-report")).to_be_visible()
    expect(playground.at("shrink-layers")).to_be_visible()


def test_a_network_is_made_smaller_tried_fine_tuned_and_saved(
    shrink: Playground, tmp_path: Path
) -> None:
    page = shrink.page
    expect(shrink.at("shrink")).to_contain_text("Train a network first")
    expect(shrink.at("shrink-begin")).to_be_disabled()
    shrink.finish(PROGRAM)
    shrink.at("shrink-begin").click()
    expect(page.locator(READY)).to_have_count(11)
    expect(shrink.at("shrink")).to_contain_text("Compared on all 200 test samples.")
    curve = shrink.at("shrink-curve")
    expect(curve.locator(".shrink-point")).to_have_count(11)
    assert curve.locator(".shrink-point[data-front]").count() >= 2
    expect(curve).to_have_attribute("aria-label", re.compile("Not beaten by any other: .*KiB|B, "))

    # From the picture to the report, and to the main picture, which it answers.
    curve.locator("[data-name=clusters-4]").click()
    expect(shrink.at("shrink-layers")).to_contain_text("4 values")
    before = shrink.at("shrink-totals").get_by_role("row").nth(4).inner_text()
    page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    assert violations_in_both_themes(page) == []
    shrink.at("shrink-tune").click()
    expect(shrink.at("shrink-tuned")).to_contain_text("Fine-tuned for 1 epoch")
    expect(shrink.at("shrink-totals").get_by_role("row").nth(4)).not_to_have_text(before)
    shrink.at("shrink-try").click()
    expect(shrink.at("shrunk-badge")).to_contain_text("4 values")
    assert violations(page) == []
    shrink.at("shrunk-back").click()
    expect(shrink.at("shrunk-badge")).to_have_count(0)

    # Files have the weights that were measured.
    shrink.at("tab-shrink").click()
    choose(shrink, "sparsity-90")
    weights = shrink.download("shrink-export-safetensors", tmp_path)
    assert weights.name == "model-sparsity-90.safetensors"
    kernels = [each.numpy() for each in pg.load_model(weights).trainable_variables]
    zeros = sum(np.count_nonzero(each == 0) for each in kernels if each.ndim == 2)
    assert zeros == round(0.9 * sum(each.size for each in kernels if each.ndim == 2))
    choose(shrink, "int8")
    assert shrink.download("shrink-export-c", tmp_path).name == "model-int8.zip"

    # Another run has another network.
    shrink.finish(NUMBERS)
    shrink.at("tab-shrink").click()
    expect(shrink.at("shrink-table")).to_have_count(0)
    shrink.at("shrink-begin").click()
    expect(page.locator(READY).first).to_be_visible()
    expect(shrink.at("shrink")).to_contain_text("This program has no test data")
    expect(page.locator(READY)).to_have_count(11)
