"""Pause, Resume, Step, Stop and Reset, at any moment, on both devices; and code that will not end.

How soon the page answers is printed; what is asserted is only that it does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, STUBBORN, Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

ENDLESS = """
import playgrad as pg
from playgrad import nn

(x, y), _ = pg.data.mnist()
model = pg.Sequential([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(64, "relu"), nn.Dense(10)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x[:6000], y[:6000], batch_size=64, epochs=10_000, verbose=0)
"""
GENEROUS_MS = 30_000
"""A response takes milliseconds; beyond this, a button is broken, even on a busy machine."""


@pytest.fixture(params=["gpu", "cpu"])
def training(playground: Playground, request: pytest.FixtureRequest) -> Iterator[Playground]:
    """The page while it trains endlessly on a device."""
    playground.choose_device(request.param)
    start_training(playground)
    yield playground
    if playground.text("status") in ("running", "paused"):
        playground.timed("stop", "stopped")
    playground.choose_device("gpu")
    playground.runs_well()


def start_training(playground: Playground) -> None:
    playground.start(ENDLESS)
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps >= 5)


def assert_holds(playground: Playground) -> None:
    """Check that the step count does not change."""
    before = playground.steps
    playground.page.wait_for_timeout(400)
    assert playground.steps == before


def assert_moves(playground: Playground) -> None:
    before = playground.steps
    playground.wait(lambda: playground.steps > before)


def answers(playground: Playground, button: str, *states: str) -> None:
    milliseconds = playground.timed(button, *states)
    print(f"{button}: {milliseconds:.0f} ms")
    assert milliseconds < GENEROUS_MS


def test_training_can_be_paused_stepped_and_resumed(training: Playground) -> None:
    answers(training, "pause", "paused")
    assert_holds(training)
    for _ in range(3):
        before = training.steps
        expect(training.at("step")).to_be_enabled()
        training.at("step").click()
        expect(training.at("step-count")).to_have_text(str(before + 1))
    assert_holds(training)
    assert training.text("status") == "paused"
    answers(training, "resume", "running")
    assert_moves(training)


def test_a_paused_run_can_be_stopped(training: Playground) -> None:
    answers(training, "pause", "paused")
    answers(training, "stop", "stopped")
    assert_holds(training)
    assert training.steps > 0, "the numbers stay"


def test_a_stopped_run_can_be_started_again(training: Playground) -> None:
    answers(training, "stop", "stopped")
    assert_holds(training)
    expect(training.at("error")).to_have_count(0)
    assert training.text("console") == "", "a stop is not an error and prints nothing"
    training.start()
    training.wait(lambda: training.steps >= 5)
    assert training.text("status") == "running"


def test_reset_forgets_the_numbers(training: Playground) -> None:
    answers(training, "reset", "ready")
    for name in ("step-count", "loss", "accuracy", "steps-per-second"):
        assert training.text(name) == "–"
    expect(training.at("export-npz")).to_be_disabled()
    training.page.wait_for_timeout(300)
    assert training.text("step-count") == "–", "numbers of the old run came late"


def test_ctrl_enter_while_running_begins_afresh(training: Playground) -> None:
    training.wait(lambda: training.steps > 30)
    training.page.keyboard.press("Control+Enter")
    training.wait(lambda: training.steps < 30)
    training.wait(lambda: training.steps >= 5)
    assert training.text("status") == "running"


def test_the_badge_names_the_device_in_use(training: Playground) -> None:
    on_cpu = training.at("device-select").input_value() == "cpu"
    assert training.text("backend-badge").startswith("CPU (NumPy)" if on_cpu else "google swift")
    details = training.at("backend-badge").get_attribute("title") or ""
    assert "Training on" not in details, "nothing was chosen"


def test_auto_avoids_a_software_gpu_and_the_badge_says_why(playground: Playground) -> None:
    playground.choose_device("auto")
    badge, why = playground.at("backend-badge"), "since gpu:0 (google swiftshader) is a software"
    for _ in ("before a run", "after it"):
        assert playground.text("backend-badge").split("\n") == ["CPU (NumPy)", "no hardware GPU"]
        assert f"Training on cpu:0, {why} adapter" in (badge.get_attribute("title") or "")
        told = playground.finish(f"{GOOD}\nprint(model.session.device_reason)")
        assert f"cpu:0, {why} adapter" in told
    playground.choose_device("gpu")
    assert "gpu:0" in playground.finish(f"{GOOD}\nprint(model.session.device)")


def test_step_from_rest_trains_one_batch(playground: Playground) -> None:
    playground.write(ENDLESS)
    playground.at("step").click()
    playground.expect_status("paused")
    expect(playground.at("step-count")).to_have_text("1")
    assert_holds(playground)
    playground.at("step").click()
    expect(playground.at("step-count")).to_have_text("2")
    answers(playground, "stop", "stopped")


def test_a_step_may_be_an_epoch(playground: Playground) -> None:
    program = ENDLESS.replace("6000", "640").replace("batch_size=64", "batch_size=32")
    playground.write(program)
    playground.at("step-unit").select_option("epoch")
    for epochs in (1, 2):
        playground.at("step").click()
        expect(playground.at("step-count")).to_have_text(str(20 * epochs))
        assert playground.text("status") == "paused"
    assert_holds(playground)
    playground.at("step-unit").select_option("batch")
    playground.at("step").click()
    expect(playground.at("step-count")).to_have_text("41")
    answers(playground, "stop", "stopped")


def test_a_burst_of_clicks_ends_in_the_last_requested_state(playground: Playground) -> None:
    """A burst of clicks ends in the state that the last clicks request."""
    start_training(playground)
    for button in ("pause", "resume", "step", "pause", "resume", "step", "step", "step"):
        playground.page.evaluate(
            "button => document.querySelector(`[data-testid=${button}]`)?.click()", button
        )
    playground.expect_status("running", "paused")
    playground.page.wait_for_timeout(300)
    if playground.text("status") == "running":
        answers(playground, "pause", "paused")
    assert_holds(playground)
    answers(playground, "stop", "stopped")
    playground.runs_well()


@pytest.mark.parametrize("delay", [0, 60, 200, 500, 1000, 1600])
def test_stop_works_at_any_moment_of_the_start(playground: Playground, delay: int) -> None:
    """While data is fetched, the graph is built, kernels compile, and the first steps run."""
    playground.start(ENDLESS)
    playground.page.wait_for_timeout(delay)
    answers(playground, "stop", "stopped")
    playground.expect_workers("device-worker.js", "python-worker.js")
    playground.runs_well()


@pytest.mark.parametrize("source", ["while True: pass", "import time\ntime.sleep(1000)"])
def test_stop_ends_an_infinite_loop(playground: Playground, source: str) -> None:
    playground.start(source)
    playground.page.wait_for_timeout(300)
    # On a very busy machine, Python may respond too late, and the page restarts it.
    answers(playground, "stop", "stopped", "loading")
    playground.expect_status("stopped")
    expect(playground.at("error")).to_have_count(0)
    playground.runs_well()


def test_stop_ends_a_loop_that_swallows_interrupts(playground: Playground) -> None:
    """Python is restarted with a notice; the page need not be reloaded."""
    playground.start(STUBBORN)
    playground.wait(lambda: "begun" in playground.text("console"))
    answers(playground, "stop", "loading", "stopped")
    expect(playground.page.get_by_text("Python did not stop in time").first).to_be_visible()
    playground.expect_status("stopped")
    playground.expect_workers("device-worker.js", "python-worker.js")
    playground.runs_well()


def test_a_run_asked_for_while_python_starts_is_not_forgotten(playground: Playground) -> None:
    playground.start(STUBBORN)
    playground.page.wait_for_timeout(300)
    playground.timed("stop", "loading", "stopped")
    playground.start("print('patience')")
    playground.expect_status("done")
    assert "patience" in playground.text("console")
