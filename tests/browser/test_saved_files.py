"""A file is saved only if every byte is the one that Python wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, expect

from playgrad.io import load
from tests.browser.playground import GOOD, Playground

pytestmark = [
    pytest.mark.browser,
    pytest.mark.pyodide,
    pytest.mark.gpu,
    pytest.mark.survival("Files damaged on their way out of the page"),
]

# Damage messages with a file as they arrive in the page.
IN_MESSAGES = """() => {
  const { get, set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
  Object.defineProperty(MessagePort.prototype, "onmessage", {
    configurable: true,
    get,
    set(listener) {
      set.call(this, listener && ((event) => {
        const file = event.data?.answer;
        if (globalThis.damage && file?.filename) globalThis.damage(file);
        listener.call(this, event);
      }));
    },
  });
}"""
DAMAGE = {
    "the first byte": "(file) => (file.bytes[0] ^= 1)",
    "the last bit": "(file) => (file.bytes[file.bytes.length - 1] ^= 128)",
    "two bytes exchanged": "({ bytes }) => bytes.set([bytes[99], bytes[98]], 98)",
    "the end is missing": "(file) => (file.bytes = file.bytes.subarray(0, -1))",
    "a byte too many": "(file) => (file.bytes = new Uint8Array([...file.bytes, 0]))",
    "all zeros": "({ bytes }) => bytes.fill(0)",
    "empty": "(file) => (file.bytes = new Uint8Array(0))",
}
ONE = [DAMAGE["two bytes exchanged"]]
# Copies of memory are wrong, as they were for addresses above 2^31.
IN_PYTHON = """(on) => {
  globalThis.slice ??= Int8Array.prototype.slice;
  Int8Array.prototype.slice = !on ? slice : function (...range) {
    const copy = slice.apply(this, range);
    if (copy.length > 100) copy[100] ^= 1;
    return copy;
  };
}"""
IN_BLOBS = """(on) => {
  globalThis.RealBlob ??= Blob;
  globalThis.Blob = !on ? RealBlob : class extends RealBlob {
    constructor([bytes], options) {
      super([bytes.map((byte, index) => (index === 7 ? byte ^ 4 : byte))], options);
    }
  };
}"""


def refused(playground: Playground, button: str, words: str) -> None:
    """Press a Save button: nothing may be saved, and the page must say so."""
    saved: list[str] = []

    def note(download: Download) -> None:
        saved.append(download.suggested_filename)

    playground.page.on("download", note)
    playground.at(button).click()
    hint = playground.page.locator(".weights .hint")
    expect(hint).to_contain_text(words)
    expect(hint).to_contain_text("Nothing was saved")
    expect(hint).to_contain_text("Press Save again. If it happens again, reload the page.")
    playground.page.wait_for_timeout(300)
    playground.page.remove_listener("download", note)
    assert saved == []


def test_damaged_files_are_refused(
    chromium: Browser,
    server: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    playground = Playground(chromium, server, "/healthz")
    try:
        playground.page.add_init_script(f"({IN_MESSAGES})()")
        playground.page.goto(f"{server}/")
        playground.expect_status("ready")
        playground.forgive("404")  # the first page has no icon
        playground.finish(GOOD)
        expected = playground.weights()
        for button, damages in (("export-safetensors", DAMAGE.values()), ("export-npz", ONE)):
            for damage in damages:
                playground.page.evaluate(f"() => void (globalThis.damage = {damage})")
                refused(playground, button, "was damaged on its way from Python")
            playground.page.evaluate("() => void (globalThis.damage = undefined)")
            playground.page.evaluate(IN_BLOBS, True)
            refused(playground, button, "the browser's copy of weights.")
            playground.page.evaluate(IN_BLOBS, False)
            workers = [each for each in playground.page.workers if "python-worker" in each.url]
            for worker in workers:
                worker.evaluate(IN_PYTHON, True)
            refused(playground, button, "was damaged on its way from Python")
            for worker in workers:
                worker.evaluate(IN_PYTHON, False)
            saved = load(playground.download(button, tmp_path))
            assert {name: array.tobytes() for name, array in saved.items()} == {
                name: array.tobytes() for name, array in expected.items()
            }
        expect(playground.page.locator(".weights .hint")).to_contain_text("Saved weights.npz")
        record_property("tried", len(DAMAGE) + len(ONE) + 4)
    finally:
        playground.close()
