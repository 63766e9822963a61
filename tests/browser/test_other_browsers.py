"""Firefox and WebKit: what a visitor does first works there, too, with the page's own Python."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from tests.browser import webdriver
from tests.browser.playground import PATIENCE_MS
from tests.browser.sessions import LONG, SHORT
from tests.browser.webdriver import Session
from tests.wasm.all_samples import IN_PAGE as SAMPLES_IN_PAGE
from tests.wasm.all_samples import all_samples
from tests.wasm.bitwise_training import IN_PAGE, losses_in, losses_in_wasmtime

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of an element in JSON, by the standard."""

# Looks at the page until a condition holds.
_WAIT = """
const condition = () => (%s);
while (!condition()) await new Promise((resolve) => setTimeout(resolve, 30));
return condition();
"""


_WRITE = """
const { EditorView } = await import("/static/vendor/codemirror.js");
const view = EditorView.findFromDOM(document.querySelector(".cm-editor"));
view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: values[0] } });
"""

# Returns once the stopped run and its weights are stored.
_SAVED = """
const answer = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
const database = await answer(indexedDB.open("playgrad"));
const all = (name) => answer(database.transaction(name).objectStore(name).getAll());
const isRun = ({ part, value }) => part === "run" && value.state === "stopped";
const isSaved = async () => (await all("parts")).some(isRun) && (await all("checkpoints")).length;
while (!(await isSaved())) await new Promise((resolve) => setTimeout(resolve, 30));
database.close();
"""

# What is wider than the window, apart from what scrolls by itself.
_TOO_WIDE = """
const scrolls = (element) => getComputedStyle(element).overflowX !== "visible";
const inside = (element) => element && (scrolls(element) || inside(element.parentElement));
return [...document.querySelectorAll("body *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .filter((each) => !inside(each.parentElement))
  .map((each) => each.outerHTML.slice(0, 100));
"""


# Transitions have ended; other animations never do.
_AT_REST = """
const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
await Promise.allSettled(transitions.map((each) => each.finished));
"""


class Page:
    """The page in another browser, for its commands."""

    def __init__(self, session: Session, address: str, downloads: Path) -> None:
        self.session = session
        self.address = address
        self.downloads = downloads
        session.command("SetTimeouts", script=PATIENCE_MS)

    def evaluate(self, body: str, *arguments: Any) -> Any:
        """Return what the body of an async function returns."""
        script = """
          const done = arguments[arguments.length - 1];
          const given = [...arguments].slice(0, -1);
          (async (...values) => { %s })(...given).then(
            (value) => done([value ?? null]), (error) => done(String(error)));
        """
        result = self.session.command(
            "ExecuteAsyncScript", script=script % body, args=list(arguments)
        )
        assert isinstance(result, list), result
        return result[0]

    def wait(self, condition: str) -> Any:
        return self.evaluate(_WAIT % condition)

    def wait_for(self, test_id: str, text: str) -> None:
        """Wait until an element contains ``text``."""
        self.wait(
            f"document.querySelector('[data-testid={test_id}]')?.textContent.includes({text!r})"
        )

    def element(self, selector: str) -> str:
        self.wait(f"document.querySelector({selector!r})")
        found = self.session.command("FindElement", using="css selector", value=selector)
        identity: str = found[ELEMENT]
        return identity

    def click(self, test_id: str) -> None:
        selector = f"[data-testid={test_id}]"
        self.wait(f"document.querySelector({selector!r})?.disabled === false")
        self.session.command("ElementClick", id=self.element(selector))

    def text(self, selector: str) -> str:
        text: str = self.evaluate(f"return document.querySelector({selector!r})?.textContent")
        return text

    def expect_status(self, *states: str) -> None:
        status = "document.querySelector('[data-testid=status]')?.textContent"
        state = self.wait(f"{[*states, 'error']}.includes({status}) && {status}")
        assert state in states, self.text("[data-testid=error]")

    def write(self, source: str) -> None:
        """Replace the program."""
        editor = "document.querySelector('.cm-content')"
        self.wait(f"{editor} && {editor}.getAttribute('aria-readonly') !== 'true'")
        self.evaluate(_WRITE, source.strip("\n"))

    def start(self, source: str) -> None:
        self.write(source)
        self.click("run")

    def screenshot(self, name: str) -> bytes:
        """Return the page at rest as PNG, which is also kept beside the downloads."""
        self.evaluate(_AT_REST)
        picture = base64.b64decode(self.session.command("TakeScreenshot"))
        (self.downloads / f"{name}.png").write_bytes(picture)
        return picture

    def resize(self, width: int, height: int) -> None:
        self.session.command("SetWindowRect", width=width, height=height)

    def downloaded(self, pattern: str) -> Path:
        """Wait for a file among the downloads."""
        end = time.monotonic() + 240
        while not (files := [each for each in self.downloads.glob(pattern) if each.stat().st_size]):
            assert time.monotonic() < end, f"no {pattern} in {list(self.downloads.iterdir())}"
            time.sleep(0.05)
        return files[0]


@pytest.fixture(scope="module", params=["firefox", pytest.param("webkit", marks=pytest.mark.slow)])
def page(
    request: pytest.FixtureRequest, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """The page, shared by the tests, which continue where the test before ended."""
    downloads = tmp_path_factory.mktemp(request.param)
    launch = {"firefox": webdriver.firefox, "webkit": webdriver.webkit}[request.param]
    with launch(downloads) as session:
        page = Page(session, server, downloads)
        page.resize(1366, 900)
        session.command("Navigate", url=f"{server}/")
        yield page


def test_the_page_opens(page: Page) -> None:
    page.expect_status("ready")
    assert page.evaluate("return crossOriginIsolated")
    assert page.evaluate("return new Intl.NumberFormat(navigator.language).format(1)") == "1"


def test_a_block_changes_the_code(page: Page) -> None:
    page.click("blocks-tab")
    more = page.element("[data-testid=block] [aria-label='Units: more']")
    page.session.command("ElementClick", id=more)
    page.click("code-tab")
    page.wait("document.querySelector('.cm-content')?.textContent.includes('nn.Dense(144,')")


def test_a_network_trains(page: Page) -> None:
    page.start(SHORT)
    page.expect_status("done")
    page.wait_for("console", "trained")
    assert page.text("[data-testid=step-count]") == "12"
    assert page.wait("document.querySelector('.uplot canvas')?.width > 100")


def test_the_training_step_was_compiled(page: Page) -> None:
    """The badge says so: by SIMD, and how many operations are compiled."""
    badge = "document.querySelector('[data-testid=backend-badge]')"
    assert page.evaluate(f"return {badge}.title").startswith("CPU (SIMD")
    page.evaluate(f"{badge}.dispatchEvent(new PointerEvent('pointerenter'))")
    count = r"/(\d+) of (\d+) operations of this program are compiled/"
    words = page.wait(f"{badge}.title.match({count})")
    assert words[1] == words[2] and int(words[1]) > 10


def test_a_drawing_is_classified(page: Page) -> None:
    canvas = page.element("[data-testid=digit-canvas]")
    page.evaluate("document.querySelector('[data-testid=digit-canvas]').scrollIntoView()")
    origin = {ELEMENT: canvas}
    places = [(0, -60), (0, -20), (0, 20), (0, 60)]
    moves = [
        {"type": "pointerMove", "origin": origin, "x": x, "y": y, "duration": 30} for x, y in places
    ]
    down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
    pen = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
    stroke = {**pen, "actions": [moves[0], down, *moves[1:], up]}
    page.session.command("PerformActions", actions=[stroke])
    prediction = "document.querySelector('[data-testid=digit-prediction]')?.textContent"
    assert page.wait(f"/^[0-9]$/.test({prediction}) && {prediction}")


def test_weights_are_saved_and_loaded(page: Page) -> None:
    page.click("export-safetensors")
    path = page.downloaded("*.safetensors")
    weights = safetensors.numpy.load_file(path)
    assert sorted(each.shape for each in weights.values()) == [(10,), (784, 10)]
    page.session.command(
        "ElementSendKeys", id=page.element("[data-testid=import-weights]"), text=str(path)
    )
    page.wait_for("weights-outcome", f"Loaded {len(weights)} variables from {path.name}")


def test_a_training_stops(page: Page) -> None:
    page.start(LONG)
    page.expect_status("running")
    page.wait("Number(document.querySelector('[data-testid=step-count]').textContent) > 40")
    page.click("stop")
    page.expect_status("stopped")
    page.wait_for("resume-offer", "Continue from step")


def test_a_reload_continues_the_training(page: Page) -> None:
    page.evaluate(_SAVED)
    page.session.command("Refresh")
    page.wait_for("editor", "Slow")
    page.wait_for("resume-offer", "Continue from step")
    (step,) = re.findall(r"step ([\d,]+) of", page.text("[data-testid=resume-offer]"))
    page.click("resume")
    page.wait(
        "Number(document.querySelector('[data-testid=step-count]').textContent) > "
        f"{int(step.replace(',', ''))}"
    )
    page.click("stop")
    page.expect_status("stopped")


def test_the_page_is_dark_on_request(page: Page) -> None:
    assert page.evaluate("return matchMedia('(prefers-color-scheme: light)').matches")
    surface = "getComputedStyle(document.body).backgroundColor"
    before = page.wait(surface)
    light = page.screenshot("light")
    page.click("theme-toggle")
    assert page.wait(f"{surface} !== {before!r} && {surface}") == "rgb(17, 20, 19)"
    assert page.screenshot("dark") != light


def test_a_phone_shows_one_column_and_nothing_is_cut_off(page: Page) -> None:
    page.resize(390, 844)
    page.wait("document.querySelector('[data-testid=tab-build]')")
    for tab in ("build", "training", "inspect"):
        page.click(f"tab-{tab}")
        page.screenshot(f"phone-{tab}")
        assert page.evaluate(_TOO_WIDE) == []
        assert page.evaluate("return document.documentElement.scrollWidth <= innerWidth")
    page.resize(1366, 900)
    page.wait("!document.querySelector('[data-testid=tab-build]')")


def test_a_link_opens_its_program(page: Page) -> None:
    page.write("print('sent by a link')")
    page.click("share")
    link = page.wait("document.querySelector('[data-testid=share-link]')?.value")
    page.session.command("Navigate", url="about:blank")
    page.session.command("Navigate", url=link)
    page.wait_for("shared-note", "link")
    page.wait_for("editor", "sent by a link")


def test_a_firefox_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firefox = tmp_path / "firefox-esr"
    firefox.write_text("#!/bin/sh\necho 'no libgtk' >&2\nexit 3\n")
    firefox.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(AssertionError, match=r"has ended \(3\): no libgtk"):
        webdriver.firefox(tmp_path).__enter__()


def test_a_training_has_the_bits_of_wasmtime(page: Page) -> None:
    page.start(IN_PAGE)
    page.expect_status("done")
    page.wait_for("console", "END")
    assert losses_in(page.text("[data-testid=console]")) == losses_in_wasmtime()


def test_samples_have_the_bits_of_wasmtime(page: Page) -> None:
    samples = all_samples(relaxed=False)
    text = page.evaluate(f"const samples = values[0]; {SAMPLES_IN_PAGE}", samples.for_a_page)
    memory = base64.b64decode(text)
    samples.check_done(memory)
    assert samples.differing(samples.in_wasmtime(), memory) == {}
