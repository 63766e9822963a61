"""Drives the page as a visitor does: clicks buttons, writes code, reads numbers."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, expect

from tests.browser.routes import close

PATIENCE_MS = 180_000
"""For waits that take seconds on an idle machine, and far longer on a busy one."""
expect.set_options(timeout=PATIENCE_MS)

GOOD = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(3, activation="tanh"), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=16, epochs=2, verbose=0)
print("trained well")
"""
"""A very short program: eight steps of a tiny network."""

STUBBORN = """
print("begun")
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
"""A loop that no stop interrupts, once it has printed its line."""

# Clicks a button and returns the milliseconds until the status is one of `states`, measured in the
# page, without the round trip to the test.
_CLICK_AND_WAIT = """([button, states]) => new Promise((resolve) => {
  const status = document.querySelector("[data-testid=status]");
  const began = performance.now();
  const look = () => {
    if (!states.includes(status.textContent)) return;
    observer.disconnect();
    resolve(performance.now() - began);
  };
  const observer = new MutationObserver(look);
  observer.observe(status, { characterData: true, childList: true, subtree: true });
  document.querySelector(`[data-testid=${button}]`).click();
  look();
})"""

# Resolves with the status once it is one of `states`, and after `milliseconds` at the latest. To
# ask again and again costs the page, the driver and the test processor time.
_STATUS = """(status, [states, milliseconds]) => new Promise((resolve) => {
  const end = () => {
    observer.disconnect();
    clearTimeout(timer);
    resolve(status.textContent);
  };
  const look = () => states.includes(status.textContent) && end();
  const observer = new MutationObserver(look);
  const timer = setTimeout(end, milliseconds);
  observer.observe(status, { characterData: true, childList: true, subtree: true });
  look();
})"""
_LOOK_MS = 1000
"""After this time the status is looked at anew: the page may have been opened again."""

PASTE = """(element, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  element.dispatchEvent(paste);
}"""

# The bytes that the save button exports: browsers limit a page to ten downloads in a row.
_WEIGHTS = """async () => {
  const { exportModel } = await import("/static/js/files/model-files.js");
  const { bytes } = await exportModel("safetensors");
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""

# Resolves when no element has moved for ten frames, which take longer on a busy machine.
_AT_REST = """() => new Promise((resolve) => {
  let before = "", same = 0;
  const look = () => {
    const boxes = Array.from(document.querySelectorAll("*"), (each) => {
      const { x, y, width, height } = each.getBoundingClientRect();
      return [x, y, width, height].map(Math.round);
    });
    const now = JSON.stringify(boxes);
    same = now === before ? same + 1 : 0;
    before = now;
    if (same < 10) requestAnimationFrame(look);
    else resolve();
  };
  look();
})"""


class Playground:
    """A tab with the page; ``complaints`` collects errors and policy violations."""

    def __init__(self, browser: Browser, address: str, path: str = "/", **context: Any) -> None:
        self.context: BrowserContext = browser.new_context(
            **({"viewport": {"width": 1366, "height": 768}, "service_workers": "block"} | context)
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)
        self.page.goto(f"{address}{path}")

    def _heard(self, message: Any) -> None:
        if message.type == "error" or "Content Security Policy" in message.text:
            self.complaints.append(message.text)

    def close(self) -> None:
        close(self.context)
        assert not self.complaints, "\n".join(self.complaints)

    def forgive(self, *words: str) -> None:
        """Drop complaints that contain any of ``words``: a test that breaks things expects them."""
        self.complaints[:] = [
            text for text in self.complaints if not any(word in text for word in words)
        ]

    # Reading

    def at(self, test_id: str) -> Locator:
        return self.page.get_by_test_id(test_id)

    def text(self, test_id: str) -> str:
        return self.at(test_id).inner_text()

    def number(self, test_id: str) -> float:
        """The number shown, without a percent sign; NaN for a dash."""
        text = self.text(test_id).rstrip("%")
        return float("nan") if text == "–" else float(text)

    @property
    def processor(self) -> str:
        """The processor in full, as the details of the badge have it."""
        return f"CPU (SIMD, {self._cores} threads)" if self._cores > 1 else "CPU (SIMD)"

    @property
    def processor_in_brief(self) -> str:
        """The processor as the badge has it."""
        return f"CPU, {self._cores} threads" if self._cores > 1 else "CPU"

    @property
    def _cores(self) -> int:
        return min(16, int(self.page.evaluate("navigator.hardwareConcurrency")))

    @property
    def steps(self) -> int:
        text = self.text("step-count")
        return 0 if text == "–" else int(text)

    def expect_status(self, *states: str, seconds: float = PATIENCE_MS / 1000) -> str:
        """Wait until the status is one of ``states``; fail at once on an unexpected error."""
        end = time.monotonic() + seconds
        while (state := self._next_status(*states, "error")) not in states:
            assert state != "error", self.text("error")
            assert time.monotonic() < end, f"{state} instead of {states} for {seconds} s"
        return state

    def _next_status(self, *states: str) -> str:
        """The status as soon as it is one of ``states``, or what it is after a while."""
        try:
            state: str = self.at("status").evaluate(_STATUS, [states, _LOOK_MS])
        except Error as error:
            if "Execution context was destroyed" not in error.message:
                raise
            return "reloading"
        return state

    def wait(self, condition: Callable[[], bool], seconds: float = PATIENCE_MS / 1000) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"nothing happened for {seconds} s"
            self.page.wait_for_timeout(50)

    def workers(self) -> list[str]:
        """The scripts of the page's live workers; a spare Python worker does not count."""
        scripts = sorted(worker.url.rpartition("/")[2] for worker in self.page.workers)
        scripts = [script for script in scripts if script != "desk-link.js"]
        if scripts.count("python-worker.js") == 2:
            scripts.remove("python-worker.js")
        return scripts

    def expect_workers(self, *scripts: str) -> None:
        """Wait until only these are left: a browser takes seconds to end a busy worker."""
        self.wait(lambda: self.workers() == sorted(scripts))

    def wait_until_at_rest(self) -> None:
        """Wait until the layout follows a change, such as another size of the window."""
        self.page.wait_for_timeout(200)
        self.page.evaluate(_AT_REST)

    # Doing

    def write(self, source: str) -> None:
        """Replace the content of the editor by pasting ``source``; of blocks, show the code."""
        code = self.page.locator("#code-tab[aria-selected=false]")
        if code.count() > 0:
            code.click()
        content = self.page.locator("[data-testid=editor] .cm-content")
        writable = expect(content)  # it is not until the first example has arrived
        writable.not_to_have_attribute("aria-readonly", "true")
        content.press("Control+a")
        content.evaluate(PASTE, source.strip("\n"))

    def choose_device(self, device: str) -> None:
        self.at("device-select").select_option(device)

    def start(self, source: str | None = None) -> None:
        if source is not None:
            self.write(source)
        self.at("run").click()

    def finish(self, source: str | None = None, state: str = "done") -> str:
        """Run until the status is ``state``; return the output."""
        self.start(source)
        self.expect_status("running", state)
        self.page.wait_for_timeout(0)
        self.expect_status(state)
        return self.text("console")

    def timed(self, button: str, *states: str) -> float:
        """Press ``button``; return the milliseconds until the status is one of ``states``."""
        expect(self.at(button)).to_be_enabled()
        answered: float = self.page.evaluate(_CLICK_AND_WAIT, [button, list(states)])
        return answered

    def runs_well(self) -> None:
        """Check that the page is still usable: a small program runs to its end."""
        assert "trained well" in self.finish(GOOD)
        expect(self.at("error")).to_have_count(0)

    def download(self, button: str, folder: Path) -> Path:
        return self.download_from(self.at(button), folder)

    def download_from(self, button: Locator, folder: Path) -> Path:
        with self.page.expect_download() as started:
            button.click()
        path = folder / started.value.suggested_filename
        started.value.save_as(path)
        return path

    def weights(self) -> dict[str, np.ndarray[Any, Any]]:
        """The current weights by name."""
        return safetensors.numpy.load(base64.b64decode(self.page.evaluate(_WEIGHTS)))

    def load(self, path: Path) -> None:
        """Choose a weights file in the file dialog."""
        self.at("import-weights").set_input_files(path)

    def draw(self, *strokes: list[tuple[float, float]]) -> None:
        """Draw on the digit canvas, each stroke through points from (0, 0) to (1, 1)."""
        if self.at("gallery").count() > 0:  # nothing was chosen yet
            self.page.locator("[data-testid=gallery-card][data-example=mnist-mlp]").click()
        self.at("digit-clear").click()
        canvas = self.at("digit-canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box
        mouse = self.page.mouse
        for stroke in strokes:
            for number, (x, y) in enumerate(stroke):
                mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
                if number == 0:
                    mouse.down()
            mouse.up()
