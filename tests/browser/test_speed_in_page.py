"""A visitor measures how fast the machine is, stops, and takes the numbers away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.playground import GOOD, Playground
from tests.browser.test_accessibility import AXE, violations_in_both_themes

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

DONE = "[data-testid=speed-row][data-state=done]"


def test_the_machine_is_measured_stopped_and_passed_on(
    chromium: Browser, desk_server: str, tmp_path: Path
) -> None:
    lab = Playground(chromium, desk_server, permissions=["clipboard-read", "clipboard-write"])
    page = lab.page
    lab.expect_status("ready")
    lab.at("tab-lab").click()
    lab.at("how-fast").locator("summary").press("Enter")
    assert "nothing is sent anywhere" in lab.text("speed")
    # SwiftShader is not measured unless it is chosen.
    expect(lab.at("speed-gpu")).not_to_be_checked()
    lab.at("speed-cpu").uncheck()
    expect(lab.at("speed-measure")).to_be_disabled()
    lab.at("speed-cpu").check()
    lab.at("speed-measure").press("Enter")
    expect(page.locator(DONE)).not_to_have_count(0)
    assert lab.at("speed-status").inner_text() != ""
    lab.at("speed-stop").press("Enter")
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
    assert "Chrom" in record["runner"] and record["adapter"] is None
    assert record["rows"][0]["once_ms"] > 0 and record["beside"]["name"] == "NVIDIA H200"

    # Another device; a run does not wait until it has been measured.
    lab.at("speed-cpu").uncheck()
    lab.at("speed-gpu").check()
    lab.at("speed-measure").click()
    expect(page.locator("[data-testid=speed-row][data-current]")).to_have_count(1)
    lab.finish(GOOD)
    lab.at("tab-lab").click()
    assert "A run has begun, so the measurement was left." in lab.text("speed")
    expect(lab.at("speed-copy")).to_have_count(0)
    expect(lab.at("speed-measure")).to_be_enabled()
    lab.close()
