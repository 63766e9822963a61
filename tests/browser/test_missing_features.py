"""Browsers without a feature: the page does without it, or says so in a sentence before Run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.playground import GOOD, PATIENCE_MS
from tests.browser.routes import answer, close, served, without_modules
from tests.sweeps import slow, sweep

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

lacking = pytest.mark.survival("Browsers without a feature")

SENTENCE_MS = 120_000
"""15 s, and as much again for a busy machine."""

DELETE = """
for (const path of %s) {
  const names = path.split(".");
  const last = names.pop();
  const owner = names.reduce((value, name) => value?.[name], globalThis);
  if (!owner) continue;
  const isInherited = last in owner && !Object.hasOwn(owner, last);
  const holder = isInherited ? Object.getPrototypeOf(owner) : owner;
  delete holder[last];
  if (owner[last] !== undefined) Object.defineProperty(owner, last, { value: undefined });
}
"""

NEEDED = {
    "Worker": "no web workers (Worker)",
    "WebAssembly": "no WebAssembly (WebAssembly)",
    "SharedArrayBuffer": "no shared memory (SharedArrayBuffer)",
    "Atomics": "no atomic operations (Atomics)",
    "MessageChannel": "no message channels (MessageChannel)",
    "ReadableStream": "no streams (ReadableStream)",
    "crossOriginIsolated": "not cross-origin isolated",
}
"""Features, and words of the sentence about them."""

OFTEN_MISSING = ("WebAssembly", "crossOriginIsolated")

DONE_WITHOUT = [
    "navigator.locks",
    "navigator.storage",
    "navigator.hardwareConcurrency",
    "ResizeObserver",
    "IntersectionObserver",
    "OffscreenCanvas",
    "BroadcastChannel",
    "crypto.randomUUID",
    "crypto.subtle",
    "indexedDB",
    "localStorage",
    "sessionStorage",
    "structuredClone",
    "requestIdleCallback",
    "createImageBitmap",
]

NEVER = "() => new Promise(() => {})"
GPU_TROUBLES = {
    "no WebGPU": DELETE % '["navigator.gpu"]',
    "no adapter": "GPU.prototype.requestAdapter = async () => null;",
    "adapter refused": "GPU.prototype.requestAdapter = () => Promise.reject(new Error('denied'));",
    "no answer about an adapter": f"GPU.prototype.requestAdapter = {NEVER};",
    "device refused": "GPUAdapter.prototype.requestDevice ="
    " () => Promise.reject(new Error('denied'));",
    "no answer about a device": f"GPUAdapter.prototype.requestDevice = {NEVER};",
}


@contextmanager
def without(
    chromium: Browser, server: str, prelude: str, *, in_page: bool = True, in_workers: bool = True
) -> Iterator[Page]:
    """A page, and workers, in which ``prelude`` runs before everything else."""
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, service_workers="block")
    page = context.new_page()
    if in_page:
        page.add_init_script(prelude)

    if in_workers:
        for script in ("python-worker", "cpu-worker", "device-worker"):
            text, headers = served(f"{server}/static/engine/{script}.js")
            changed = answer(f"import './prelude.js';\n{text}", headers)
            context.route(f"**/engine/{script}.js", changed)
        context.route("**/engine/prelude.js", answer(prelude, headers))
    try:
        page.goto(f"{server}/")
        yield page
    finally:
        close(context)


def write(page: Page, source: str) -> None:
    page.locator("[data-testid=editor] .cm-content").press("Control+a")
    page.keyboard.insert_text(source)


def runs(page: Page) -> None:
    expect(page.get_by_test_id("status")).to_have_text("ready")
    write(page, GOOD)
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("console")).to_contain_text("trained well")


@lacking
@pytest.mark.parametrize("feature", sweep(NEEDED, OFTEN_MISSING))
def test_a_missing_required_feature_is_named_before_and_after_run(
    chromium: Browser, server: str, feature: str
) -> None:
    with without(chromium, server, DELETE % f'["{feature}"]', in_workers=False) as page:
        error = page.get_by_test_id("error")
        expect(error).to_contain_text(NEEDED[feature], timeout=SENTENCE_MS)
        expect(error).to_contain_text("recent Chrome")
        error.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_test_id("run")).to_be_enabled(timeout=SENTENCE_MS)
        page.get_by_test_id("run").click()
        expect(error).to_contain_text(NEEDED[feature], timeout=SENTENCE_MS)


@lacking
@pytest.mark.parametrize("feature", ["Atomics", *slow("WebAssembly")])
def test_a_feature_missing_only_in_workers_is_named(
    chromium: Browser, server: str, feature: str
) -> None:
    with without(chromium, server, DELETE % f'["{feature}"]', in_page=False) as page:
        note = page.get_by_test_id("load-note").or_(page.get_by_test_id("error"))
        expect(note.first).to_be_visible(timeout=SENTENCE_MS)
        expect(page.get_by_test_id("error")).to_contain_text(feature, timeout=SENTENCE_MS)


@lacking
def test_the_page_runs_without_all_optional_features(
    chromium: Browser, server: str, record_property: Callable[[str, object], None]
) -> None:
    """All of it at once."""
    record_property("tried", len(DONE_WITHOUT))
    with without(chromium, server, DELETE % str(DONE_WITHOUT)) as page:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        runs(page)
        assert errors == []


@lacking
@pytest.mark.slow
@pytest.mark.parametrize("feature", DONE_WITHOUT)
def test_the_page_runs_without_each_optional_feature(
    chromium: Browser, server: str, feature: str
) -> None:
    with without(chromium, server, DELETE % f'["{feature}"]') as page:
        runs(page)


def runs_without_gpu(chromium: Browser, server: str, trouble: str, device: str) -> None:
    """Train on the CPU, or say in a sentence why not; before Run, the page says what it will be."""
    with without(chromium, server, GPU_TROUBLES[trouble], in_page=trouble == "no WebGPU") as page:
        status = page.get_by_test_id("status")
        expect(status).to_have_text("ready")
        choice = page.get_by_test_id("device-select")
        if trouble == "no WebGPU" and device == "gpu":
            expect(choice.locator("[value=gpu]")).to_be_disabled()
            return
        choice.select_option(device)
        if "device" not in trouble:
            badge = page.get_by_test_id("backend-badge")
            expect(badge).to_contain_text("CPU", timeout=SENTENCE_MS)
            words = "cannot be used" if device == "gpu" else "Press Run"
            expect(page.locator(".status-sentence")).to_contain_text(words)
            again = page.get_by_test_id("gpu-again")
            expect(again).to_have_count(0 if trouble == "no WebGPU" else 1)
        # Unasked, "auto" does not open the device of a software adapter.
        pin = "import os\nos.environ['PLAYGRAD_DEVICE'] = 'gpu'\n" if "device" in trouble else ""
        write(page, pin + GOOD)
        page.get_by_test_id("run").click()
        told = page.get_by_test_id("error")
        trained = page.get_by_test_id("output-line").get_by_text("trained well")
        expect(told.or_(trained).first).to_be_visible(timeout=2 * SENTENCE_MS)
        if device == "auto":
            expect(trained.first).to_be_visible()
        else:
            expect(told).to_contain_text("gpu:0")


@lacking
@pytest.mark.parametrize(
    ("trouble", "device"),
    sweep(
        itertools.product(GPU_TROUBLES, ("auto", "gpu")),
        [("no adapter", "auto"), ("no WebGPU", "gpu")],
    ),
)
def test_the_page_runs_without_a_gpu(
    chromium: Browser, desk_server: str, trouble: str, device: str
) -> None:
    runs_without_gpu(chromium, desk_server, trouble, device)


@lacking
def test_a_gpu_that_comes_back_is_found_on_request(chromium: Browser, desk_server: str) -> None:
    prelude = """
      const request = GPU.prototype.requestAdapter;
      GPU.prototype.requestAdapter = async function (options) {
        return globalThis.isBack ? await request.call(this, options) : null;
      };
    """
    with without(chromium, desk_server, prelude, in_page=False) as page:
        page.get_by_test_id("gpu-again").click(timeout=PATIENCE_MS)
        expect(page.locator(".status-sentence")).to_contain_text("There is still no GPU")
        (worker,) = [each for each in page.workers if "device-worker" in each.url]
        worker.evaluate("globalThis.isBack = true")
        page.get_by_test_id("gpu-again").click()
        expect(page.get_by_test_id("backend-badge")).to_contain_text("no hardware GPU")
        expect(page.get_by_test_id("gpu-again")).to_have_count(0)
        expect(page.locator(".status-sentence")).to_contain_text("The GPU is there")


@lacking
@pytest.mark.parametrize(
    ("locale", "language", "words"),
    [("en-US", "en", "too old for playgrad"), ("zh-CN", "zh-Hans", "版本太旧")],
)
def test_a_browser_without_modules_gets_an_explanation(
    chromium: Browser, server: str, locale: str, language: str, words: str
) -> None:
    context = chromium.new_context(locale=locale)
    page = context.new_page()
    without_modules(context, server)
    page.goto(f"{server}/")
    expect(page.locator("#early-note")).to_contain_text(words)
    expect(page.locator("html")).to_have_attribute("lang", language)
    close(context)
