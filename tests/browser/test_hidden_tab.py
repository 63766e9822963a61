"""A tab in the background: it gets no frames, and the training continues."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.playground import Playground
from tests.browser.test_projects import PROGRAM, STEPS, curves

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

# A browser hides tabs in the background; a headless one shows all of its tabs.
_HIDE = """() => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
  const frames = [];
  window.original = { requestAnimationFrame, cancelAnimationFrame };
  window.requestAnimationFrame = (draw) => frames.push(draw);
  window.cancelAnimationFrame = (id) => delete frames[id - 1];
  window.show = () => {
    delete document.hidden;
    delete document.visibilityState;
    Object.assign(window, window.original);
    for (const draw of frames) if (draw) requestAnimationFrame(draw);
    document.dispatchEvent(new Event("visibilitychange"));
  };
  document.dispatchEvent(new Event("visibilitychange"));
}"""


# Goes on by itself, and takes two seconds.
_WAITS = """while (self.first, epoch) == (0, 5):
            time.sleep(0.01)"""
assert _WAITS in PROGRAM
SLOW = PROGRAM.replace(_WAITS, "time.sleep(0.05)")

_STEP = "async () => (await import('/static/js/state/store.js')).progress.value.step"
_STATE = "async () => (await import('/static/js/state/store.js')).runState.value"
_IS_SAVED = "async () => (await import('/static/js/session/session.js')).isSaved()"


def test_training_continues_in_a_hidden_tab_without_gaps(
    chromium: Browser, desk_server: str
) -> None:
    opened = Playground(chromium, desk_server)
    opened.choose_device("cpu")
    opened.start(SLOW)
    opened.wait(lambda: opened.steps > 2)
    opened.page.evaluate(_HIDE)
    hidden_at = opened.steps
    heard = 0
    while opened.page.evaluate(_STATE) == "running":
        heard = opened.page.evaluate(_STEP)
    assert hidden_at < heard, "the page hears nothing before the end"
    opened.wait(lambda: bool(opened.page.evaluate(_IS_SAVED)))
    opened.page.evaluate("show()")
    opened.expect_status("done")
    assert "trained to the end" in opened.text("console")
    expect(opened.at("step-count")).to_have_text(str(STEPS))
    steps, *_ = curves(opened)
    assert steps[-1] == STEPS
    assert max(after - before for before, after in pairwise(steps)) < STEPS / 4
    opened.close()
