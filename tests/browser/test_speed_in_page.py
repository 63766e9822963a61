"""A visitor measures how fast the machine is, stops, and takes the numbers away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.playground import GOOD, Playground
from tests.browser.test_accessibility import AXE, violations_in_both_themes

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

DONE = "[data-testid=speed-row][data-state=done]"


@pytest.fixture
def lab(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page with the measurement of the machine open in the Lab."""
    permissions = ["clipboard-read", "clipboard-write"]
    playground = Playground(chromium, desk_server, permissions=permissions)
    playground.expect_status("ready")
    playground.at("tab-lab").click()
    playground.at("how-fast").locator("summary").click()
    expect(playground.at("speed-measure")).to_be_enabled()
    yield playground
    playground.close()


def test_the_machine_is_measured_stopped_and_passed_on(lab: Playground, tmp_path: Path) -> None:
    page = lab.page
    assert "nothing is sent anywhere" in lab.text("speed")
    # SwiftShader is not measured unless it is chosen.
    expect(lab.at("speed-gpu")).not_to_be_checked()
    expect(lab.at("speed-cpu")).to_be_checked()
    lab.at("speed-cpu").uncheck()
    expect(lab.at("speed-measure")).to_be_disabled()
    lab.at("speed-cpu").check()
    lab.at("speed-measure").press("Enter")
    expect(page.locator(DONE)).not_to_have_count(0)
    assert lab.at("speed-status").inner_text() != ""
    lab.at("speed-stop").click()
    expect(lab.at("speed-copy")).to_be_visible()
    assert "Stopped: " in lab.text("speed-progress")
    first = page.locator(DONE).first.locator("th, td").all_inner_texts()
    assert first[0] == "W0 tiny, batch 32" and float(first[1].split()[0]) > 0
    assert first[4:6] == ["0.0429", "1"]
    page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    assert violations_in_both_themes(page) == []

    lab.at("speed-copy").click()
    expect(lab.at("speed-remark")).to_contain_text("Copied")
    table = page.evaluate("navigator.clipboard.readText()")
    assert "| cpu W0 tiny, batch 32 | " in table and "not measured" in table
    record = json.loads(lab.download("speed-save", tmp_path).read_text())
    assert record["runner"].startswith("Chrom") and record["adapter"] is None
    assert record["rows"][0]["once_ms"] > 0 and record["beside"]["name"] == "NVIDIA H200"


def test_a_run_ends_the_measurement_and_a_chosen_adapter_is_described(lab: Playground) -> None:
    lab.at("speed-cpu").uncheck()
    lab.at("speed-gpu").check()
    lab.at("speed-measure").click()
    expect(lab.page.locator(DONE)).to_have_count(1)
    lab.finish(GOOD)
    lab.at("tab-lab").click()
    assert "A run has begun, so the measurement was left." in lab.text("speed")
    expect(lab.at("speed-copy")).to_have_count(0)
    expect(lab.at("speed-measure")).to_be_enabled()
