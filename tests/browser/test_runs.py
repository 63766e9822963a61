"""The tab of runs: what was changed, what came of it, and the way back to the code."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from playgrad.sweeps.subject import Subject
from playgrad.sweeps.sweep import Sweep
from tests.browser import sessions
from tests.browser.playground import GOOD, Playground
from tests.browser.test_projects import expect_open, open_file

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

QUICK, SLOW = "learning_rate=0.1", "learning_rate=0.001"


PIN_MOST = """async () => {
  const { runs } = await import("/static/js/state/store.js");
  const { MOST_PINNED } = await import("/static/js/panels/runs/runs.js");
  const run = {
    exampleId: "a", title: "A", code: "", device: "cpu", ranOn: "CPU", lab: null, state: "done",
    step: 1, totalSteps: 1, seconds: 1, loss: 1, accuracy: null, testAccuracy: null, colour: 0,
    steps: [1], losses: [1],
  };
  runs.value = Array.from({ length: MOST_PINNED + 1 }, (_, id) => (
    { ...run, id, number: id + 1, isPinned: id < MOST_PINNED }));
  return MOST_PINNED;
}"""


def rows(playground: Playground) -> Locator:
    return playground.at("run-row")


def test_runs_are_kept_compared_and_restored(playground: Playground, tmp_path: Path) -> None:
    playground.choose_device("cpu")
    losses = {}
    for rate in (QUICK, SLOW):
        playground.finish(GOOD.replace(QUICK, rate))
        losses[rate] = playground.page.evaluate(
            "async () => (await import('/static/js/state/store.js')).runs.value.at(-1).loss"
        )
    assert losses[QUICK] < losses[SLOW]
    playground.finish("print('trains nothing')")
    playground.at("tab-runs").click()
    expect(rows(playground)).to_have_count(2)
    expect(rows(playground).first).to_contain_text("learning_rate 0.1 → 0.001")
    expect(rows(playground).first).to_contain_text("Your program")
    expect(rows(playground).first).to_contain_text(f"{losses[SLOW]:.4f}")

    playground.at("runs-sort-loss").click()
    expect(rows(playground).first).to_contain_text(f"{losses[QUICK]:.4f}")
    playground.at("runs-sort-loss").click()
    expect(rows(playground).first).to_contain_text(f"{losses[SLOW]:.4f}")

    rows(playground).first.get_by_test_id("run-open").click()
    code = playground.at("run-code")
    expect(code.locator("[data-kind=removed]")).to_contain_text(QUICK)
    expect(code.locator("[data-kind=added]")).to_contain_text(SLOW)
    summary = playground.text("run-summary")
    numbers = re.findall(r"\d+(?:\.\d+)?", summary)
    assert numbers[:3] == ["23", "8", "2"]  # parameters, steps, epochs
    assert f" to {losses[SLOW]:.4f}: it " in summary
    playground.at("run-restore").click()
    editor = playground.page.locator("[data-testid=editor] .cm-content")
    expect(editor).to_contain_text(SLOW)
    expect(playground.at("run-restore")).to_be_disabled()

    saved = playground.download("runs-csv", tmp_path)
    table = list(csv.DictReader(io.StringIO(saved.read_text(encoding="utf-8"))))
    assert [float(row["loss"]) for row in table] == [losses[QUICK], losses[SLOW]]
    assert [int(row["step"]) for row in table] == [8, 8]

    rows(playground).last.get_by_test_id("run-pin").click()
    playground.at("runs-clear").click()
    expect(rows(playground)).to_have_count(1)
    expect(playground.at("runs-clear")).to_be_disabled()


def test_no_more_runs_are_pinned_than_a_session_holds(playground: Playground) -> None:
    most = playground.page.evaluate(PIN_MOST)
    playground.at("tab-runs").click()
    expect(rows(playground)).to_have_count(most + 1)
    loose = playground.page.locator("[data-testid=run-pin][aria-pressed=false]")
    expect(loose).to_be_disabled()
    expect(loose).to_have_attribute("title", re.compile(f"^{most} runs are pinned"))
    playground.page.locator("[data-testid=run-pin][aria-pressed=true]").first.click()
    expect(loose.first).to_be_enabled()


# What is wider than its place, and scrolls there or is cut.
_WIDER = """() => [...document.querySelectorAll("html, body, .watch, .watch *")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1
    && (each.localName === "html" || getComputedStyle(each).overflowX !== "visible"))
  .map(({ localName, className }) => `${localName}.${className}`)"""


def test_runs_are_cards_on_a_phone(playground: Playground) -> None:
    """Nothing scrolls sideways, and screen readers still hear of a table."""
    page = playground.page
    playground.at("tab-training").click()
    playground.choose_device("cpu")
    for rate in (QUICK, SLOW):
        playground.finish(GOOD.replace(QUICK, rate))
    playground.at("tab-runs").click()
    before = page.viewport_size
    assert before
    try:
        for width in (360, 390, 768):
            page.set_viewport_size({"width": width, "height": 740})
            playground.wait_until_at_rest()
            assert page.evaluate(_WIDER) == [], width
            row = page.get_by_role("table").get_by_role("row").nth(1)
            cells = [row.get_by_role("rowheader"), *row.get_by_role("cell").all()]
            assert len(cells) == 7
            for cell in cells:
                expect(cell).to_be_visible()
                box = cell.bounding_box()
                assert box
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
        page.set_viewport_size({"width": 360, "height": 740})
        for column in ("number", "loss", "testAccuracy", "step", "seconds"):
            playground.at(f"runs-sort-{column}").click()
        for action in ("run-report", "run-pin", "run-remove", "run-open"):
            expect(rows(playground).first.get_by_test_id(action)).to_be_enabled()
        rows(playground).first.get_by_test_id("run-open").click()
        expect(playground.at("run-code")).to_be_visible()
        assert page.evaluate(_WIDER) in ([], ["pre.diff"]), "only code may be wider than the panel"
        rows(playground).first.get_by_test_id("run-open").click()
    finally:
        page.set_viewport_size(before)


def test_runs_come_back_after_a_reload(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.at("tab-training").click()
    playground.finish(GOOD)
    playground.at("tab-runs").click()
    before = rows(playground).all_inner_texts()
    sessions.wait_until_saved(playground.page)
    playground.page.reload()
    expect(rows(playground)).to_have_count(len(before))
    assert rows(playground).all_inner_texts() == before
    playground.expect_status("done")


def test_a_sweep_of_the_desktop_is_opened_as_runs(playground: Playground, tmp_path: Path) -> None:
    program = tmp_path / "small.py"
    program.write_text(GOOD)
    Sweep(
        Subject.of_program(program), {"learning_rate": [0.1, 0.001]}, {}, None, tmp_path / "sweep",
        metric=None, mode="auto", halving=None, options={"seed": 0},
        parallel=2, ray=None, report=lambda trial: None,
    ).run()  # fmt: skip
    open_file(playground, tmp_path / "sweep" / "sweep.playgrad")
    expect_open(playground, "small, sweep")
    expect(playground.page.locator(".cm-content").first).to_contain_text("learning_rate=0.1")
    playground.at("tab-runs").click()
    expect(rows(playground)).to_have_count(2)
    expect(rows(playground).last).to_contain_text("learning_rate=0.1")
    expect(rows(playground).first).to_contain_text("learning_rate 0.1 → 0.001")
