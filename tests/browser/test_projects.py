"""Projects: named, duplicated, saved as files and opened, and trained on as if unbroken."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import sessions
from tests.browser.playground import Playground

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = [pytest.mark.browser, pytest.mark.survival("Projects and their files")]

# 160 steps. A run that begins with the first of them waits for a stop after step 24.
PROGRAM = """
import time
import numpy as np
import playgrad as pg
from playgrad import nn

class WaitsForStop(nn.Callback):
    first = None

    def on_epoch_end(self, epoch, logs):
        self.first = epoch if self.first is None else self.first
        while (self.first, epoch) == (0, 5):
            time.sleep(0.01)

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 6)).astype(np.float32)
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dropout(0.2), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
y = (x[:, 0] > 0).astype(np.int32)
model.fit(x, y, batch_size=16, epochs=40, verbose=0, callbacks=[WaitsForStop()])
print("trained to the end")
"""
UNBROKEN = PROGRAM.replace("callbacks=[WaitsForStop()]", "callbacks=[]")
STEPS = 160

_CURVES = """async () => {
  const { curves } = await import("/static/js/state/store.js");
  const { loss, trendLoss, accuracy } = curves.series;
  return [curves.steps, loss, trendLoss, accuracy].map((column) => [...column]);
}"""


def curves(playground: Playground) -> list[list[float]]:
    result: list[list[float]] = playground.page.evaluate(_CURVES)
    return result


def menu(playground: Playground, test_id: str) -> Locator:
    """An element of the menu, which is opened unless it is open."""
    element = playground.at(test_id)
    if not playground.at("project-new").count():
        playground.at("project-menu").click()
    element.first.wait_for(state="attached")
    return element


def rename(playground: Playground, name: str) -> None:
    menu(playground, "project-name").fill(name)
    playground.at("project-name").press("Enter")
    expect(playground.at("project-menu")).to_have_text(name)
    playground.page.keyboard.press("Escape")


def open_file(playground: Playground, path: Path | dict[str, Any]) -> None:
    menu(playground, "project-open-file").set_input_files(path)  # type: ignore[arg-type]


def expect_open(playground: Playground, name: str) -> None:
    expect(playground.at("project-menu")).to_have_text(name)
    playground.expect_status("ready", "stopped", "done")


def go_on(playground: Playground, step: int, unbroken: list[list[float]], missed: int = 0) -> None:
    """Continue at ``step``: the curves must be the same as of the unbroken run.

    Args:
        missed: steps that the curves lack.
    """
    assert "trained to the end" not in playground.text("console"), "nothing runs by itself"
    offer = playground.at("resume-offer")
    expect(offer).to_have_text(f"Continue from step {step} of {STEPS}")
    assert curves(playground)[0][-1] == step - missed
    playground.at("resume").click()
    playground.expect_status("done")
    assert curves(playground) == unbroken
    assert "trained to the end" in playground.text("console")


def with_older_curves(path: Path, missed: int) -> Path:
    """The file, with curves as they were some steps before its weights: as after a crash."""
    older = path.with_name("older.playgrad")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(older, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "parts/curves.json":
                curves = json.loads(content)
                for column in (curves["steps"], *curves["series"].values()):
                    del column["values"][-missed:]
                series = curves["series"]
                count = len(curves["steps"]["values"])
                means = [series[each]["values"][-1] for each in ("trendLoss", "trendAccuracy")]
                curves["trends"]["values"] = [means[0], count, means[1], count]
                content = json.dumps(curves).encode()
            target.writestr(name, content)
    return older


def test_a_project_continues_as_a_copy_and_as_a_file(
    chromium: Browser, desk_server: str, playground: Playground, tmp_path: Path
) -> None:
    playground.choose_device("cpu")
    playground.finish(UNBROKEN)
    unbroken = curves(playground)
    assert unbroken[0] == list(range(1, STEPS + 1))
    rename(playground, "Dropout study")

    playground.start(PROGRAM)
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps > 8)
    expect(menu(playground, "project-duplicate")).to_be_disabled()
    playground.page.keyboard.press("Escape")
    playground.timed("stop", "stopped")
    offer = playground.at("resume-offer")
    expect(offer).to_have_text(re.compile(rf"Continue from step \d+ of {STEPS}"))
    step = int(offer.inner_text().split()[3])
    assert 0 < step < STEPS
    menu(playground, "project-save")
    path = playground.download("project-save", tmp_path)
    assert path.name == "Dropout study.playgrad"
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        example = json.loads(archive.read("project.json"))["summary"]["exampleId"]
        assert archive.read(f"code/{example}.py").decode() == PROGRAM.strip("\n")

    menu(playground, "project-duplicate").click()
    expect_open(playground, "Dropout study copy")
    go_on(playground, step, unbroken)
    # The original is where it was, and so is its name after a reload.
    menu(playground, "project-open").filter(has_text="stopped at").first.click()
    expect_open(playground, "Dropout study")
    expect(playground.at("resume-offer")).to_contain_text(f"Continue from step {step} of")
    playground.page.reload()
    expect_open(playground, "Dropout study")
    assert curves(playground)[0][-1] == step

    elsewhere = Playground(chromium, desk_server)
    try:
        elsewhere.expect_status("ready")
        open_file(elsewhere, with_older_curves(path, missed=5))
        expect_open(elsewhere, "Dropout study")
        expect(elsewhere.page.locator(".status-sentence")).to_contain_text("was opened")
        go_on(elsewhere, step, unbroken, missed=5)
    finally:
        elsewhere.close()


def png() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + bytes(100)


_FULL = """(isFull) => {
  const put = (globalThis.put ??= IDBObjectStore.prototype.put);
  IDBObjectStore.prototype.put = function (record) {
    if (isFull && this.name === "parts") throw new DOMException("", "QuotaExceededError");
    return put.call(this, record);
  };
}"""


def test_bad_files_change_nothing(playground: Playground, tmp_path: Path) -> None:
    playground.write("print('mine')")
    rename(playground, "Mine")
    menu(playground, "project-save")
    path = playground.download("project-save", tmp_path)
    whole = path.read_bytes()
    archive = tmp_path / "notes.zip"
    with zipfile.ZipFile(archive, "w") as notes:
        notes.writestr("../../outside", "x")
    big = tmp_path / "film.playgrad"
    with big.open("wb") as content:
        content.truncate(2**30)
    later = tmp_path / "later.playgrad"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(later, "w") as target:
        about = json.loads(source.read("project.json"))
        target.writestr("project.json", json.dumps({**about, "version": 9}))
    files: list[tuple[str, bytes | Path, str]] = [
        ("empty.playgrad", b"", "“empty.playgrad” is empty"),
        ("cat.png", png(), "“cat.png” is not a project"),
        ("half.playgrad", whole[: len(whole) // 2], "“half.playgrad” is incomplete"),
        ("notes.zip", archive.read_bytes(), "is a zip archive, but not a project"),
        ("film.playgrad", big, "“film.playgrad” is 1.0 GiB"),
        ("later.playgrad", later.read_bytes(), "a later version of playgrad"),
    ]
    url = playground.page.url
    for name, content, words in files:
        chosen: Path | dict[str, Any] = (
            content
            if isinstance(content, Path)
            else {"name": name, "mimeType": "", "buffer": content}
        )
        open_file(playground, chosen)
        expect(playground.at("project-problem")).to_contain_text(words)
    playground.page.evaluate(_FULL, True)
    for content in (path, None):
        if content:
            open_file(playground, content)
        else:
            menu(playground, "project-duplicate").click()
        problem = playground.at("project-problem")
        expect(problem).to_contain_text("storage is full")
    playground.page.evaluate(_FULL, False)
    assert playground.page.url == url
    expect(playground.at("project-menu")).to_have_text("Mine")
    expect(playground.page.locator(".cm-content").first).to_contain_text("print('mine')")


_DROP = """async ([name, bytes]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
  const target = document.querySelector("[data-testid=editor] .cm-content");
  target.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


def test_intact_parts_of_a_dropped_damaged_project_are_opened(
    playground: Playground, tmp_path: Path
) -> None:
    """Dropped on the editor: what is whole is opened, runs nothing, and leaves the work alone."""
    playground.write("print('theirs')")
    rename(playground, "Theirs")
    menu(playground, "project-save")
    path = playground.download("project-save", tmp_path)
    dropped = tmp_path / "hostile.playgrad"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(dropped, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "project.json":
                about = json.loads(content)
                about["code"] += ["__proto__", "../x"]
                about["parts"] += ["__proto__", "constructor"]
                about["summary"]["name"] = "<img src=x onerror=alert(1)>"
                content = json.dumps(about).encode()
            target.writestr(name, b"{" if name == "parts/graph.json" else content)
        target.writestr("code/__proto__.py", "print('hostile')")
    playground.write("print('mine')")
    rename(playground, "Mine")
    playground.page.evaluate(_DROP, [dropped.name, list(dropped.read_bytes())])
    expect_open(playground, "<img src=x onerror=alert(1)>")
    editor = playground.page.locator(".cm-content").first
    expect(editor).to_contain_text("theirs")
    assert playground.text("console") == "", "nothing runs by itself"

    # Another tab can neither open nor remove it.
    tab = playground.context.new_page()
    tab.goto(playground.page.url)
    tab.get_by_test_id("project-menu").click()
    entry = tab.get_by_test_id("project-entry").filter(has_text="open in another tab")
    expect(entry.get_by_test_id("project-open")).to_be_disabled()
    expect(entry.get_by_test_id("project-remove")).to_be_disabled()
    tab.close()

    # Removed, and brought back.
    mine = menu(playground, "project-entry").filter(has_text="Mine")
    mine.get_by_test_id("project-remove").click()
    expect(mine).to_have_count(0)
    menu(playground, "project-undo").click()
    mine.get_by_test_id("project-open").click()
    expect_open(playground, "Mine")
    expect(editor).to_contain_text("mine")
    sessions.wait_until_saved(playground.page)


_FORGET = """async () => {
  const list = await import("/static/js/session/session-list.js");
  const session = await import("/static/js/session/session.js");
  const summary = { ...session.presentSummary(), touched: true };
  for (let number = 0; number < 12; number += 1) {
    for (const name of ["", `Named ${number}`]) {
      const parts = new Map();
      await list.storeProject({ summary: { ...summary, name }, codes: new Map(), parts });
    }
  }
  await list.forgetOldSessions(session.sessionId(), session.isGuarded());
  const closed = (await list.sessions()).filter(({ id }) => id !== session.sessionId());
  return [
    closed.filter(({ name }) => name.startsWith("Named ")).length,
    closed.filter(({ name }) => !name).length,
  ];
}"""


def test_only_projects_without_a_name_are_forgotten(playground: Playground) -> None:
    sessions.wait_until_saved(playground.page)
    assert playground.page.evaluate(_FORGET) == [12, 10]
