"""Workers that end or hang while nothing runs are noticed and replaced, and nothing is lost.

Each run has an interpreter of its own, so nothing that a program leaves behind reaches the next.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.numpy
from playwright.sync_api import expect

from playgrad import data
from tests.browser.playground import GOOD, STUBBORN, Playground

pytestmark = [
    pytest.mark.browser,
    pytest.mark.pyodide,
    pytest.mark.gpu,
    pytest.mark.survival("Workers that end or hang"),
]

CLOSE = "\nimport js\njs.close()"
TWO_PROCESSORS = """
import playgrad as pg
from playgrad.devices import registry

registry.set_logical_devices(cpu=2)
pg.Session(device="cpu:1")
"""
NOTICED_SECONDS = 120
"""Far more than the 2 seconds that an idle machine needs."""

HANG = """
import js
from pyodide.ffi import create_once_callable

def wait_for_ever():
    js.Atomics.wait(js.Int32Array.new(js.SharedArrayBuffer.new(4)), 0, 0)

js.setTimeout(create_once_callable(wait_for_ever), 300)
"""


def expect_weights(playground: Playground, folder: Path) -> None:
    """Check that the weights can be saved and that a drawing of them is answered or refused."""
    path = playground.download("export-safetensors", folder)
    weights = safetensors.numpy.load_file(path)
    assert {array.shape for array in weights.values()} == {(4, 3), (3,), (3, 2), (2,)}


def test_an_ended_python_is_replaced_and_weights_are_kept(
    playground: Playground, tmp_path: Path
) -> None:
    playground.start(GOOD + CLOSE)
    playground.wait(
        lambda: playground.text("status") == "error", NOTICED_SECONDS
    )  # at once with a spare worker, and then "loading" is never shown
    assert "Python has stopped" in playground.text("error")
    expect_weights(playground, tmp_path)
    playground.runs_well()


def test_an_ended_python_is_replaced_before_any_run(playground: Playground) -> None:
    playground.page.reload()
    playground.expect_status("ready", "done", "stopped")
    first, *_ = (w for w in playground.page.workers if "python-worker" in w.url)
    first.evaluate("close()")  # another one may rehearse
    playground.wait(lambda: playground.at("error").count() == 1, NOTICED_SECONDS)
    playground.runs_well()


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_an_ended_device_worker_is_replaced_and_weights_are_kept(
    playground: Playground, tmp_path: Path, kind: str
) -> None:
    playground.finish(GOOD if kind == "gpu" else TWO_PROCESSORS + GOOD)
    script = "device-worker.js" if kind == "gpu" else "cpu-worker.js"
    (worker,) = (each for each in playground.page.workers if script in each.url)
    worker.evaluate("close()")
    lost = playground.page.get_by_text("its worker has ended").first
    expect(lost).to_be_visible(timeout=NOTICED_SECONDS * 1000)
    expect_weights(playground, tmp_path)
    playground.runs_well()


@pytest.mark.slow
def test_a_hanging_python_is_reported_and_weights_are_kept(
    playground: Playground, tmp_path: Path
) -> None:
    playground.finish(GOOD + HANG)
    playground.page.wait_for_timeout(1000)
    playground.at("export-safetensors").click()
    playground.wait(lambda: playground.at("error").count() == 1)
    assert "did not answer" in playground.text("error")
    expect_weights(playground, tmp_path)
    playground.runs_well()


def test_a_stop_that_restarts_python_keeps_the_weights(
    playground: Playground, tmp_path: Path
) -> None:
    playground.start(GOOD + STUBBORN)
    playground.wait(lambda: "trained well" in playground.text("console"))
    playground.timed("stop", "stopped", "loading")
    playground.expect_status("stopped")
    expect_weights(playground, tmp_path)


def test_runs_that_train_nothing_keep_the_weights(playground: Playground, tmp_path: Path) -> None:
    playground.finish(GOOD)
    for source, state in (
        ("x = (", "error"),
        ("print('no training')", "done"),
        ("no_such_name", "error"),
    ):
        playground.finish(source, state)
        expect_weights(playground, tmp_path)


def test_each_run_has_an_interpreter_of_its_own(playground: Playground) -> None:
    playground.finish("import sys, js\nsys.left = js.left = True")
    for _ in range(2):
        found = playground.finish(
            "import sys, js\nprint(hasattr(sys, 'left'), hasattr(js, 'left'))"
        )
        assert "False False" in found


def test_the_memory_of_a_run_is_given_back(playground: Playground) -> None:
    measure = "import pyodide_js\nprint('MB', pyodide_js._module.HEAPU8.length >> 20)"

    def megabytes(source: str) -> int:
        return int(playground.finish(source).partition("MB ")[2].split()[0])

    before = megabytes(measure)
    assert megabytes("ballast = b'1' * 10**9\n" + measure) > before + 900
    assert megabytes(measure) <= before + 1


def test_the_next_run_fetches_no_file_again(playground: Playground) -> None:
    """Python sleeps until the data set is there: the page cannot see that it is needed."""
    requested: list[str] = []
    playground.page.on("request", lambda request: requested.append(request.url))
    playground.page.reload()
    playground.expect_status("ready", "done", "stopped", "error")
    source = "from playgrad import data\nload = data.mnist\n(x, y), _ = load()\nprint(x[:9].sum())"
    outputs = {playground.finish(source).strip() for _ in range(2)}
    assert outputs == {str(data.mnist()[0][0][:9].sum())}
    assert len([url for url in requested if "train-images" in url]) == 1
    # Workers of Python and of other processors start from the first one's downloads.
    playground.finish(TWO_PROCESSORS + GOOD)
    for name in ("python.bin", "pyodide.asm.wasm", "python_stdlib_at_once.zip"):
        assert len([url for url in requested if name in url]) == 1, name


def test_a_run_without_the_server_reuses_the_previous_python(playground: Playground) -> None:
    def is_reused() -> bool:
        playground.runs_well()
        return "uses the one of the run before" in playground.text("console")

    playground.page.context.route("**/*", lambda route: route.abort())
    try:
        playground.wait(is_reused)  # the first run may find a Python that was started before
    finally:
        playground.page.context.unroute("**/*")
        playground.forgive("Failed to load", "net::ERR_FAILED", "dynamically imported module")
    playground.wait(lambda: not is_reused())
