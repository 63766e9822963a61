"""The messages that a visitor can meet, each with the way to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import Locator, expect

from tests.browser import sessions
from tests.browser.bad_network import BadNetwork
from tests.browser.playground import GOOD, STUBBORN
from tests.browser.routes import answer, close, served, without_modules
from tests.browser.sessions import SHORT, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

Scene = Callable[[Visit], Locator]
"""Leads to a message, and returns what shows it."""

# A program whose Python ends, and one without end.
CLOSE = GOOD + "\nimport js\njs.close()"
ENDLESS = GOOD.replace("epochs=2", "epochs=10**9")

REMOVE = "Object.defineProperty(globalThis, '%s', { value: undefined });"
NO_ADAPTER = "GPU.prototype.requestAdapter = async () => null;"
FULL = """{
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...all) {
    if (this.name === "%s") throw new DOMException("full", "QuotaExceededError");
    return put.apply(this, all);
  };
}"""


@contextmanager
def visit(browser: Browser, server: str, name: str) -> Iterator[Visit]:
    """A visit in the circumstances of a scene."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, service_workers="block")
    network = BadNetwork(server)
    try:
        context.add_init_script(PRELUDES.get(name, ""))
        _prepare_workers(context, server, WORKER_PRELUDES.get(name, ""))
        if name == "a browser without modules":
            without_modules(context, server)
        if name in FAULTS:
            network.break_(*FAULTS[name])
        yield Visit(context, network.address if name in FAULTS else server)
    finally:
        network.close()
        close(context)


def _prepare_workers(context: BrowserContext, server: str, prelude: str) -> None:
    if prelude:
        text, headers = served(f"{server}/static/engine/device-worker.js")
        context.route("**/engine/device-worker.js", answer(f"{prelude}\n{text}", headers))


PRELUDES = {
    "a browser without workers": REMOVE % "Worker",
    "no storage": REMOVE % "indexedDB",
    "no room for the code": FULL % "code",
    "no room for the weights": FULL % "checkpoints",
}
WORKER_PRELUDES = {"no GPU": NO_ADAPTER, "device GPU without a GPU": NO_ADAPTER}
FAULTS = {
    "a part of the page is missing": ("missing", "/js/main.js"),
    "a part of Python is cut": ("cut", "pyodide.asm.wasm"),
    "a data set is cut": ("cut", "/data/mnist/test-labels"),
}


def early_note(visit: Visit) -> Locator:
    return visit.page.locator("#early")


def note_about_loading(visit: Visit) -> Locator:
    return visit.at("load-note")


def note_about_storage(visit: Visit) -> Locator:
    sessions.wait_until_restored(visit.page, "import")
    visit.write(SHORT)
    return visit.at("storage-note")


def error(visit: Visit) -> Locator:
    return visit.at("error")


def sentence(visit: Visit) -> Locator:
    return visit.page.locator(".status-sentence")


def told(visit: Visit, words: str) -> Locator:
    expect(sentence(visit)).to_contain_text(words)
    return sentence(visit)


def data_set(visit: Visit) -> Locator:
    visit.expect_status("ready")
    visit.start("from playgrad import data\nprint(data.mnist()[0][1][:3])")
    return visit.at("load-note")


def no_gpu(visit: Visit) -> Locator:
    visit.expect_status("ready")
    return visit.at("gpu-again")


def gpu_chosen(visit: Visit) -> Locator:
    visit.expect_status("ready")
    visit.choose_device("gpu")
    return told(visit, "cannot be used")


def weights_do_not_fit(visit: Visit) -> Locator:
    visit.choose_device("cpu")
    visit.finish(SHORT)
    return visit.at("storage-note")


def lost_gpu(visit: Visit) -> Locator:
    visit.choose_device("gpu")
    visit.start(ENDLESS)
    visit.wait(lambda: visit.steps > 10)
    (worker,) = [each for each in visit.page.workers if "device-worker" in each.url]
    worker.evaluate("playgradDevice.destroy()")
    return error(visit)


def ended_python(visit: Visit) -> Locator:
    visit.start(CLOSE)
    return error(visit)


def stopped_by_force(visit: Visit) -> Locator:
    visit.start(GOOD + STUBBORN)
    visit.wait(lambda: "trained well" in visit.text("console"))
    visit.timed("stop", "loading", "stopped")
    visit.expect_status("stopped")
    return sentence(visit)


def failing(source: str) -> Scene:
    def fail(visit: Visit) -> Locator:
        visit.start(source)
        return error(visit)

    return fail


def flood(visit: Visit) -> Locator:
    visit.finish("for i in range(300_000): print(i)\nprint('the end')")
    return visit.page.get_by_text("characters left out").first


def forged(visit: Visit) -> Locator:
    visit.start("import js\njs.postMessage(None)\n" + GOOD)
    return told(visit, "It was ignored")


def restored(visit: Visit) -> Locator:
    visit.choose_device("cpu")
    visit.finish(SHORT)
    sessions.wait_until_saved(visit.page)
    visit.reload()
    return told(visit, "Restored from")


def resumable(visit: Visit) -> Locator:
    sessions.training(visit)
    visit.timed("stop", "stopped")
    return visit.at("resume-offer")


def damaged_weights(visit: Visit) -> Locator:
    visit.choose_device("cpu")
    visit.finish(SHORT)
    file = {"name": "mine.safetensors", "mimeType": "", "buffer": b"\xff" * 100}
    visit.at("import-weights").set_input_files(file)  # type: ignore[arg-type]
    return visit.at("weights-outcome")


SCENES: dict[str, tuple[Scene, str]] = {
    "a browser without modules": (early_note, "too old for playgrad"),
    "a browser without workers": (error, "This browser has no web workers"),
    "a part of the page is missing": (early_note, "did not arrive"),
    "a part of Python is cut": (note_about_loading, "pyodide.asm.wasm"),
    "a data set is cut": (data_set, "test-labels"),
    "no GPU": (no_gpu, "Retry GPU"),
    "device GPU without a GPU": (gpu_chosen, "Choose Auto or CPU"),
    "a lost GPU": (lost_gpu, "gpu:0"),
    "Python has ended": (ended_python, "Python has stopped"),
    "stopped by force": (stopped_by_force, "weights are kept"),
    "a syntax error": (failing("print('before'\nx = 1"), "never closed"),
    "a wrong shape": (
        failing(GOOD.replace("nn.Dense(2)]", "nn.Conv2D(2, 3)]")),
        "conv2d_1",
    ),
    "too big for the memory": (
        failing(GOOD.replace("nn.Dense(3", "nn.Dense(1 << 40")),
        "OutOfMemoryError",
    ),
    "no storage": (note_about_storage, "does not store anything"),
    "no room for the code": (note_about_storage, "does not fit"),
    "no room for the weights": (weights_do_not_fit, "do not fit"),
    "restored": (restored, "The weights are kept"),
    "a run that can be resumed": (resumable, "Continue from step"),
    "a flood of output": (flood, "characters left out"),
    "a forged message": (forged, "It was ignored"),
    "damaged weights": (damaged_weights, "mine.safetensors"),
}
"""The scene that shows each message, and words of it."""

PICTURES = Path(__file__).parents[2] / "var/messages"
