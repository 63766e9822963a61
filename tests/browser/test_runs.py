"""The tab of runs: what was changed, what came of it, and the way back to the code."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import sessions
from tests.browser.playground import GOOD, PATIENCE_MS, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

QUICK, SLOW = "learning_rate=0.1", "learning_rate=0.001"


def rows(playground: Playground) -> Locator:
    return playground.at("run-row")


def test_runs_are_kept_compared_and_restored(playground: Playground, tmp_path: Path) -> None:
    playground.choose_device("cpu")
    losses = {}
    for rate in (QUICK, SLOW):
        playground.finish(GOOD.replace(QUICK, rate))
        losses[rate] = playground.page.evaluate(
            "async () => (await import('/static/js/store.js')).runs.value.at(-1).loss"
        )
    assert losses[QUICK] < losses[SLOW]
    playground.finish("print('trains nothing')")
    playground.at("tab-runs").click()
    expect(rows(playground)).to_have_count(2)
    expect(rows(playground).first).to_contain_text("learning_rate 0.1 → 0.001")
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


def test_runs_come_back_after_a_reload(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.at("tab-training").click()
    playground.finish(GOOD)
    playground.at("tab-runs").click()
    before = rows(playground).all_inner_texts()
    sessions.wait_until_saved(playground.page)
    playground.page.reload()
    expect(rows(playground)).to_have_count(len(before), timeout=PATIENCE_MS)
    assert rows(playground).all_inner_texts() == before
    playground.expect_status("done")
