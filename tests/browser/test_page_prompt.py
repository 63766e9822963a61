"""Figures in the output, and the prompt below it: in order, and without a trace in the training."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import sessions
from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

FIGURES = """
import numpy as np
import playgrad as pg

print("before")
pg.show(np.arange(12).reshape(3, 4), title="Twelve")
print("between")
pg.plot({"up": [0, 1, 4], "down": [4, None, 0]}, title="Two")
print("after")
"""
TRAINING = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(4096, 64)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(64, activation="relu"), nn.Dropout(0.3), nn.Dense(2)])
model.compile(pg.optim.SGD(0.1), loss=nn.SparseCategoricalCrossentropy(from_logits=True))
losses = model.fit(x, y, batch_size=16, epochs=6, verbose=0).losses
print("sum of losses", losses.tobytes().hex()[:64], float(losses.sum()).hex())
"""
LOSSES = """async () => {
  const { curves } = await import("/static/js/state/store.js");
  return [curves.steps, curves.series.loss];
}"""


def type_in(playground: Playground, code: str) -> None:
    prompt = playground.at("prompt")
    expect(prompt).to_be_visible()
    prompt.fill(code)
    prompt.press("Escape")
    prompt.press("Enter")
    expect(playground.at("prompt-stop")).to_have_count(0)


def test_figures_stand_between_the_lines_and_come_back(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish(FIGURES)
    figures = playground.at("output-figure")
    expect(figures).to_have_count(2)

    def check_order() -> None:
        lines = playground.at("console").locator(".console-line")
        texts = [text.split("\n")[0].strip() for text in lines.all_inner_texts()]
        assert texts == ["before", "Twelve", "between", "Two", "after"]

    check_order()
    assert figures.first.locator("canvas").get_attribute("width") == "4"
    expect(figures.nth(1).locator(".plot-point")).to_have_count(2)  # on both sides of the gap
    playground.at("figure-table").click()
    rows = figures.nth(1).locator("tbody tr").all_inner_texts()
    assert [row.split() for row in rows[2:5]] == [
        ["up", "2", "4"],
        ["down", "0", "4"],
        ["down", "1", "–"],
    ]
    with playground.page.expect_download() as download:
        figures.first.get_by_test_id("figure-svg").click()
    assert download.value.suggested_filename == "Twelve.svg"
    sessions.wait_until_saved(playground.page)
    playground.page.reload()
    expect(figures).to_have_count(2)
    check_order()


def test_the_prompt_works_during_training_without_changing_it(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish(TRAINING)
    losses = playground.page.evaluate(LOSSES)
    printed = playground.text("console").splitlines()[-1]

    playground.start(TRAINING)
    playground.wait(lambda: 20 < playground.steps < 1536)
    prompt = playground.at("prompt")
    prompt.fill("while 1 + len(x): print('once') if not vars().get('begun') else 0; begun = True")
    prompt.press("Enter")
    playground.wait(lambda: "once" in playground.text("console").splitlines())
    playground.at(
        "pause"
    ).click()  # while the training waits for the prompt, so that it is not over
    prompt.press("Control+c")
    expect(playground.at("prompt-stop")).to_have_count(0)
    playground.expect_status("paused")
    looks = ("np.random.rand() < 2", "x.shape", "model.predict(x[:5]).shape", "1 / 0")
    for code in (*looks, "model.fit(x, y)"):
        type_in(playground, code)
    playground.at("resume").click()
    playground.expect_status("done")
    console = playground.text("console").splitlines()
    assert (playground.page.evaluate(LOSSES), console[-1]) == (losses, printed)
    error = "ZeroDivisionError: division by zero"
    for line in ("True", "KeyboardInterrupt", "(4096, 64)", "(5, 2)", error):
        assert line in console
    assert any("training cannot be started from the prompt" in line for line in console)

    # After the run, with history and completion.
    type_in(playground, "losses.shape")
    expect(playground.at("console")).to_contain_text("(1536,)")
    prompt = playground.at("prompt")
    prompt.press("ArrowUp")
    expect(prompt).to_have_text("losses.shape")
    prompt.fill("")
    prompt.press_sequentially("loss")
    expect(playground.page.locator(".prompt .cm-tooltip-autocomplete")).to_contain_text("losses")
    playground.page.wait_for_timeout(300)  # a list that has just opened takes no keys
    prompt.press("Tab")
    expect(prompt).to_have_text("losses")


_EXPECTED_BY_LINK = """async () => {
  const { makeLink } = await import("/static/js/sharing/sharing.js");
  const { decode } = await import("/static/js/sharing/link.js");
  return (await decode(new URL(await makeLink([])).hash)).expected;
}"""


def test_a_report_opens_from_disk_and_marks_stay(playground: Playground, tmp_path: Path) -> None:
    playground.choose_device("cpu")
    playground.start(TRAINING + 'print("</script><script>alert(1)</script>")')
    playground.wait(lambda: playground.steps > 20)
    playground.at("pause").click()
    playground.expect_status("paused")
    playground.page.evaluate(
        "async () => (await import('/static/js/state/actions.js')).setLearningRate(0.01)"
    )
    change = playground.at("setting-changes")
    expect(change).to_contain_text("learning rate 0.1 → 0.01 at step")
    step = int(change.inner_text().rpartition(" ")[2])
    playground.at("resume").click()
    playground.expect_status("done")
    loss = playground.page.evaluate(
        "async () => (await import('/static/js/state/store.js')).runs.value.at(-1).loss"
    )
    # The program alone gives the same losses only until the rate was changed by hand.
    expected = playground.page.evaluate(_EXPECTED_BY_LINK)
    assert 0 < max(each for each, _ in expected["losses"]) <= step == expected["steps"]
    playground.at("curves-larger").click()
    picture = playground.download("curves-png", tmp_path).read_bytes()
    assert picture[:4] == b"\x89PNG"
    playground.at("tab-runs").click()
    row = playground.at("run-row").first
    expect(row).to_contain_text("learning rate 0.1 → 0.01 while training")
    with playground.page.expect_download() as started:
        playground.at("run-report").first.click()
    report = tmp_path / started.value.suggested_filename
    started.value.save_as(report)

    page = playground.context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(report.as_uri())
    text = page.locator("body").inner_text()
    assert (requests, complaints) == ([report.as_uri()], [])
    assert f"{loss:.4f}" in text
    assert "done after 1,536 of 1,536 steps" in text
    assert f"learning rate 0.1 → 0.01 at step {step}" in text
    assert 'print("</script><script>alert(1)</script>")' in text
    expect(page.locator("script")).to_have_count(0)
    assert page.locator("path.line").bounding_box()["width"] > 300  # type: ignore[index]
    page.close()

    sessions.wait_until_saved(playground.page)
    playground.page.reload()
    playground.at("tab-training").click()
    expect(change).to_contain_text(f"at step {step}")
    playground.at("curves-larger").click()
    playground.at("curves-as-table").check()
    expect(playground.at("setting-table")).to_contain_text(str(step))
