"""Ways to lose the page, and the parts of it that must come back."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error

from tests.browser.playground import PATIENCE_MS, Playground

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

DIGITS = """
import time
import numpy as np
import playgrad as pg
from playgrad import nn

class Slow(nn.Callback):
    def on_epoch_end(self, epoch, logs):
        time.sleep(0.03)

rng = np.random.default_rng(0)
x = rng.integers(0, 256, size=(64, 28, 28), dtype=np.uint8)
y = rng.integers(0, 10, size=64).astype(np.int32)
model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(10)])
model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.001),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print("training begins")
model.fit(x, y, batch_size=16, epochs={epochs}, verbose=0, callbacks=[{callbacks}])
print("trained")
"""
SHORT = DIGITS.format(epochs=3, callbacks="")
"""Twelve steps of a network that can classify drawings."""
LONG = DIGITS.format(epochs=20_000, callbacks="Slow()")
FAILING = SHORT + '\nraise RuntimeError("after training")'
EDITED = "# not run yet\n"

# What the page shows, from its store; the bytes of the weights as a list.
_SHOWN = """async () => {
  const { EditorView } = await import("/static/vendor/codemirror.js");
  const store = await import("/static/js/state/store.js");
  const kept = store.kept.value;
  return {
    code: EditorView.findFromDOM(document.querySelector(".cm-editor")).state.doc.toString(),
    example: store.exampleId.value,
    device: store.deviceChoice.value,
    view: store.view.value,
    strategy: store.labSettings.value.strategy,
    steps: [...store.curves.steps],
    losses: [...store.curves.series.loss],
    trend: [...store.curves.series.trendLoss],
    output: store.transcript.lines.map(({ text, stream }) => [text, stream]),
    graph: store.graph.value && store.graph.value.nodes.map(({ name }) => name),
    epochs: store.epochs.value,
    fit: store.fit.value,
    step: store.progress.value.step,
    loss: store.progress.value.loss,
    error: store.error.value,
    state: store.runState.value,
    kept: kept && { step: kept.step, bytes: [...kept.bytes.slice(0, 4096)] },
  };
}"""


def shown(page: Page) -> dict[str, Any]:
    """Everything that must survive, as the page shows it."""
    content: dict[str, Any] = page.evaluate(_SHOWN)
    return content


def wait_until_saved(page: Page) -> None:
    wait_until(page, "import('/static/js/session/session.js').then((session) => session.isSaved())")


def wait_until(page: Page, promise: str) -> None:
    """Wait until a promise in the page resolves to something true."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(promise):
        assert time.monotonic() < end, promise
        page.wait_for_timeout(50)


def wait_until_restored(page: Page, word: str) -> None:
    """Wait until the editor shows ``word``."""
    page.locator(".cm-content", has_text=word).wait_for()


def sentence(page: Page) -> str:
    return page.locator(".status-sentence").inner_text()


class Visit(Playground):
    """A tab of a shared context, so of a browser with a memory."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.address = address
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self.adopt(context.new_page())
        self.page.goto(f"{address}/")

    def adopt(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)
        page.on("dialog", self._answer)

    def _answer(self, dialog: Any) -> None:
        self.dialogs.append(dialog.type)
        dialog.accept()

    def leave(self) -> None:
        """Close the tab, without asking."""
        self.page.close()
        assert not self.complaints, "\n".join(self.complaints)

    # Ways to lose the page

    def reload(self) -> None:
        self.page.reload()

    def crash(self) -> None:
        """Crash the renderer, and open the page again as a visitor would."""
        crashed = self.page
        self.complaints = []
        with crashed.expect_event("crash"), suppress(Error):
            crashed.goto("chrome://crash")
        self.adopt(self.context.new_page())
        crashed.close()
        self.page.goto(f"{self.address}/")

    def back_and_forth(self) -> None:
        self.page.goto(f"{self.address}/healthz")
        self.page.go_back()
        self.forgive("404")  # the other page has no icon


def training(visit: Visit) -> None:
    """Train for long, until the page has a checkpoint."""
    visit.choose_device("cpu")
    visit.start(LONG)
    visit.wait(lambda: visit.steps > 40)
    kept = "import('/static/js/state/store.js').then((store) => store.kept.value?.step > 0)"
    wait_until(visit.page, kept)


def kill(folder: Path) -> None:
    """Kill the browser that keeps its files in ``folder``, and only that one."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_browser = not any(a.startswith(b"--type=") for a in arguments)
        if is_browser and f"--user-data-dir={folder}".encode() in arguments:
            os.kill(int(entry.name), signal.SIGKILL)
