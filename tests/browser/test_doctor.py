"""The doctor in the page: a finding with its line, the click that cures it, and the pause."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground
from tests.doctor.programs import ILL

pytestmark = [pytest.mark.browser, pytest.mark.gpu]


def code(playground: Playground) -> str:
    text: str = playground.page.evaluate(
        "async () => (await import('/static/js/state/store.js')).source.value"
    )
    return text


def test_findings_are_shown_cured_and_pause_a_lost_run(playground: Playground) -> None:
    playground.choose_device("cpu")
    ill = ILL["rate-high"]
    text = ill.text.strip("\n")
    playground.finish(text)
    finding = playground.at("doctor-finding")
    expect(finding).to_have_attribute("data-code", "rate-high")
    expect(finding).to_contain_text("The learning rate 1 is too large")
    expect(playground.at("doctor-announcement")).to_contain_text("The learning rate 1 is too large")
    expect(playground.at("doctor-line")).to_have_text(f"line {ill.line}")

    # A line above is added after the run: the edit moves with its line, and is one step of undo.
    playground.write(f"# mine\n{text}")
    cured = text.replace("learning_rate=1.0", "learning_rate=0.01")
    playground.at("doctor-apply").click()
    assert code(playground) == f"# mine\n{cured}"
    expect(playground.at("doctor-note")).to_contain_text("Written into the code")
    playground.page.locator("[data-testid=editor] .cm-content").press("Control+z")
    assert code(playground) == f"# mine\n{text}"
    playground.at("doctor-apply").click()
    playground.finish()
    assert code(playground) == f"# mine\n{cured}"
    expect(playground.at("doctor")).to_have_count(0)

    # On a phone, the line opens the page of the program and has the cursor.
    page, before = playground.page, playground.page.viewport_size
    assert before
    playground.write(text)
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        playground.finish()
        expect(playground.at("editor")).to_be_hidden()
        playground.at("doctor-line").click()
        expect(playground.at("editor")).to_be_visible()
        line = page.locator(".cm-activeLine").filter(has_text="# ill")
        expect(line).to_be_in_viewport()
    finally:
        page.set_viewport_size(before)

    playground.start(ILL["not-finite"].text)
    playground.expect_status("running", "paused")
    playground.expect_status("paused")
    expect(playground.at("status-sentence")).to_contain_text("the training is lost")
    expect(finding).to_contain_text("“log” is the first operation whose result is NaN")
    playground.at("doctor-node").click()
    expect(playground.at("node-details")).to_contain_text("lambda_1")
    playground.at("tab-training").click()
    playground.at("doctor-dismiss").click()
    expect(playground.at("doctor")).to_have_count(0)
    playground.page.keyboard.press("F8")
    expect(playground.at("error")).to_contain_text("NonFiniteError")
