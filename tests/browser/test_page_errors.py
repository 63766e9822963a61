"""Bad programs, bad data and lost devices: errors are shown, the page stays usable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground
from tests.sweeps import slow, sweep

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

BEGIN = """import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(320, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
)
"""
FIT = "model.fit(x, y, batch_size=16, epochs=1, verbose=0)\n"

# The program after BEGIN, the type of the error, words of its message, and the line to mark.
BAD_PROGRAMS = {
    "syntax": ("print('before'\nx = 1", "SyntaxError", "'(' was never closed", 12),
    "name": ("print(1)\nlearning_rat + 1", "NameError", "'learning_rat' is not defined", 13),
    "module": (
        "import torch",
        "ModuleNotFoundError",
        "Python's standard library, numpy and playgrad are available",
        12,
    ),
    "input": ("print(input('size? '))", "EOFError", "Write the values in the code", 12),
    "layer-shape": (
        "pg.Sequential([nn.Input((4,)), nn.Dense(3), nn.Conv2D(2, 3)])",
        "ShapeError",
        "conv2d_1",
        12,
    ),
    "data-shape": (
        "model.fit(x.reshape(20, 16, 4), y[:20])",
        "ShapeError",
        "one class number per position of an output (?, 16, 2), but has samples of shape ()",
        12,
    ),
    "lengths": ("model.fit(x, y[:100])", "DataError", "320", 12),
    "nan": ("x[7, 2] = np.nan\n" + FIT, "DataError", "x contains nan (sample 7)", 13),
    "infinity": ("x[0, 0] = np.inf\n" + FIT, "DataError", "x contains inf (sample 0)", 13),
    "labels": ("y[5] = 2\n" + FIT, "DataError", "Give 'dense_2' 3 outputs, or correct", 13),
    "negative-labels": ("y[5] = -1\n" + FIT, "DataError", "Labels count from 0", 13),
    "targets": ("model.compile('sgd', 'mse')\n" + FIT, "ShapeError", "1 output, or", 13),
    "empty": ("model.fit(x[:0], y[:0])", "DataError", "empty", 12),
    "batch-size": ("model.fit(x, y, batch_size=0)", "DataError", "batch_size", 12),
    "dtype": ("model.fit(x.astype(str), y)", "DTypeError", "x must hold numbers", 12),
    "no-device": ('pg.Session(device="gpu:7")', "DeviceError", "gpu:7", 12),
    "graph": (
        "a = pg.placeholder('float32', (None, 3), name='a')\npg.Session().run(a)",
        "FeedError",
        "the placeholder 'a' is needed",
        12,  # where it was created
    ),
    "too-big": (
        "big = pg.Sequential([nn.Dense(1 << 23), nn.Dense(1)])\n"
        "big.compile(pg.optim.SGD(0.1), nn.MeanSquaredError())\n"
        "big.fit(np.zeros((64, 64), np.float32), np.zeros((64, 1), np.float32), verbose=0)",
        "OutOfMemoryError",
        "the variable 'dense_1/kernel' needs 2,147,483,648 bytes",
        12,
    ),
}


def expect_error(playground: Playground, kind: str, words: str, line: int | None) -> str:
    """Check the error panel and the marked line; return the text of the error."""
    playground.expect_status("error")
    error = playground.at("error")
    expect(error).to_contain_text(kind)
    expect(error).to_contain_text(words)
    if line is not None:
        expect(playground.at("error-line")).to_have_text(f"line {line}")
        playground.at("error-line").click()
        marked = playground.page.locator("[data-testid=editor] .cm-error-line")
        expect(marked).to_have_count(1)
        number = playground.page.locator(".cm-lineNumbers .cm-activeLineGutter")
        expect(number).to_have_text(str(line))
    text: str = error.inner_text()
    return text


OFTEN = ("syntax", "layer-shape", "nan", "graph", "too-big")


@pytest.mark.parametrize("name", sweep(BAD_PROGRAMS, OFTEN))
def test_a_bad_program_gets_an_error_with_line_and_cause(playground: Playground, name: str) -> None:
    body, kind, words, line = BAD_PROGRAMS[name]
    playground.choose_device("gpu" if name == "too-big" else "cpu")
    playground.start(BEGIN + body)
    print(expect_error(playground, kind, words, line))
    playground.runs_well()
    expect(playground.page.locator("[data-testid=editor] .cm-error-line")).to_have_count(0)


@pytest.mark.parametrize(
    "units",
    ["1 << 25", *slow("1 << 23", "1 << 40")],
)
def test_a_layer_too_big_for_the_memory_of_the_page_is_refused(
    playground: Playground, units: str
) -> None:
    playground.choose_device("cpu")
    playground.start(BEGIN + BAD_PROGRAMS["too-big"][0].replace("1 << 23", units))
    expect_error(playground, "OutOfMemoryError", "of memory, but the page has", 14)
    playground.runs_well()


@pytest.mark.parametrize("device", ["gpu", *slow("cpu")])
def test_an_exploding_learning_rate_keeps_the_last_good_weights(
    playground: Playground, device: str
) -> None:
    playground.choose_device(device)
    playground.start(
        BEGIN
        + """
x *= 100
model.compile(optimizer=pg.optim.SGD(learning_rate=1e30), loss=nn.MeanSquaredError())
model.fit(x, x[:, :2], batch_size=16, epochs=1, shuffle=False, verbose=0)
"""
    )
    playground.expect_status("paused")  # the doctor shows the problem; continuing is an error
    playground.at("resume").click()
    text = expect_error(playground, "NonFiniteError", "Lower the learning rate", None)
    found = re.search(r"the loss became \S+ at step (\d+)", text)
    assert found, text
    weights = playground.weights()
    assert all(np.isfinite(array).all() for array in weights.values())

    # The same number of good steps, one at a time, give the same weights.
    good = int(found[1]) - 1
    assert good >= 1
    assert playground.steps == good
    playground.at("step").click()
    for number in range(1, good + 1):
        expect(playground.at("step-count")).to_have_text(str(number))
        if number < good:
            playground.at("step").click()
    again = playground.weights()
    for name, array in weights.items():
        np.testing.assert_array_equal(array, again[name])
    playground.timed("stop", "stopped")
    playground.runs_well()


@pytest.fixture
def training(playground: Playground) -> Iterator[Playground]:
    playground.choose_device("gpu")
    playground.start(BEGIN + FIT.replace("epochs=1", "epochs=100_000"))
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps > 20)
    yield playground
    playground.runs_well()


def test_a_lost_device_is_reported_and_the_next_run_opens_another(training: Playground) -> None:
    (worker,) = [each for each in training.page.workers if "device-worker" in each.url]
    worker.evaluate("globalThis.playgradDevice.destroy()")
    expect_error(training, "DeviceLostError", "lost", 12)
    expect(training.page.get_by_text("The next run opens a new device").first).to_be_visible()


def test_a_device_lost_at_rest_goes_unnoticed(playground: Playground) -> None:
    playground.choose_device("gpu")
    playground.runs_well()
    (worker,) = [each for each in playground.page.workers if "device-worker" in each.url]
    worker.evaluate("globalThis.playgradDevice.destroy()")
    playground.page.wait_for_timeout(300)
    playground.runs_well()


def test_a_device_worker_that_broke_is_replaced(training: Playground) -> None:
    """An uncaught error, as a bug would cause."""
    (worker,) = [each for each in training.page.workers if "device-worker" in each.url]
    worker.evaluate("setTimeout(() => { throw new Error('a bug of ours'); }, 0)")
    expect_error(training, "DeviceLostError", "gpu:0: its worker has ended", 12)
    expect(training.page.get_by_text("a bug of ours The next run opens").first).to_be_visible()
    training.forgive("a bug of ours")


def test_exit_ends_a_program(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish("import sys\nprint('so far')\nsys.exit()")
    assert "so far" in playground.text("console")
    playground.start("raise SystemExit('not so well')")
    expect_error(playground, "SystemExit", "not so well", 1)
    playground.runs_well()


@pytest.mark.slow
def test_numpy_trains_without_webgpu(
    server: str, launch_chromium: Callable[[bool], Browser]
) -> None:
    browser = launch_chromium(False)
    playground = Playground(browser, server)
    playground.expect_status("ready")
    assert playground.text("backend-badge").split("\n") == [playground.processor_in_brief, "no GPU"]
    playground.start()
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps >= 30)
    assert playground.text("backend-badge").startswith("CPU")
    speed = playground.number("steps-per-second")
    print(f"the small example with NumPy in Chromium: {1000 / speed:.1f} ms a step")
    assert playground.number("accuracy") > 50
    playground.timed("stop", "stopped")

    playground.choose_device("gpu")
    playground.start()
    expect_error(
        playground, "DeviceError", "there is no gpu:0: WebGPU offers no adapter here", None
    )
    playground.choose_device("auto")
    playground.runs_well()
    playground.close()
    browser.close()
