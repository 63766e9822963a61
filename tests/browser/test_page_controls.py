"""Pause, Resume, Step, Stop and Reset, on both devices.

How soon the page answers is printed; what is asserted is only that it does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

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
GENEROUS_MS = 120_000
"""A response takes milliseconds; beyond this, a button is broken, even on a busy machine."""


@pytest.fixture(scope="module", params=["gpu", "cpu"])
def device(playground: Playground, request: pytest.FixtureRequest) -> Iterator[str]:
    """The device of the page, on which its last run succeeds."""
    playground.choose_device(request.param)
    yield request.param
    playground.runs_well()


@pytest.fixture
def training(playground: Playground, device: str) -> Iterator[Playground]:
    """The page while it trains endlessly on a device, since the test before or from now on."""
    if playground.text("status") != "running":
        start_training(playground)
    yield playground


@pytest.fixture
def stopped(playground: Playground) -> Iterator[Playground]:
    """The page while nothing runs, on the processor."""
    playground.choose_device("cpu")
    if playground.text("status") == "running":
        playground.timed("stop", "stopped")
    yield playground
    answers(playground, "stop", "stopped")


def start_training(playground: Playground) -> None:
    playground.start(ENDLESS)
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps >= 5)


def holds(playground: Playground) -> bool:
    """Whether the step count does not change for a while."""
    before = playground.steps
    playground.page.wait_for_timeout(400)
    return playground.steps == before


def assert_holds(playground: Playground) -> None:
    assert holds(playground), "it continued"


def assert_moves(playground: Playground) -> None:
    before = playground.steps
    playground.wait(lambda: playground.steps > before)


def answers(playground: Playground, button: str, *states: str) -> None:
    milliseconds = playground.timed(button, *states)
    print(f"{button}: {milliseconds:.0f} ms")
    assert milliseconds < GENEROUS_MS


def test_the_badge_names_the_device_in_use(training: Playground, device: str) -> None:
    text = training.text("backend-badge")
    assert (
        text == training.processor_in_brief if device == "cpu" else text.startswith("google swift")
    )
    details = training.at("backend-badge").get_attribute("title") or ""
    assert (training.processor in details.split("\n")) == (device == "cpu")
    assert "Training on" not in details, "nothing was chosen"
    assert ("SIMD" in details) == (device == "cpu")


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


def test_ctrl_enter_while_running_begins_afresh(training: Playground) -> None:
    training.wait(lambda: training.steps > 30)
    training.page.keyboard.press("Control+Enter")
    training.wait(lambda: training.steps < 30)
    training.wait(lambda: training.steps >= 5)
    assert training.text("status") == "running"


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


def test_step_from_rest_trains_one_batch(stopped: Playground) -> None:
    stopped.write(ENDLESS)
    stopped.at("step").click()
    stopped.expect_status("paused")
    expect(stopped.at("step-count")).to_have_text("1")
    assert_holds(stopped)
    stopped.at("step").click()
    expect(stopped.at("step-count")).to_have_text("2")


def test_a_step_may_be_an_epoch(stopped: Playground) -> None:
    program = ENDLESS.replace("6000", "640").replace("batch_size=64", "batch_size=32")
    stopped.write(program)
    stopped.at("step-unit").select_option("epoch")
    for epochs in (1, 2):
        stopped.at("step").click()
        expect(stopped.at("step-count")).to_have_text(str(20 * epochs))
        assert stopped.text("status") == "paused"
    assert_holds(stopped)
    stopped.at("step-unit").select_option("batch")
    stopped.at("step").click()
    expect(stopped.at("step-count")).to_have_text("41")


def test_a_burst_of_clicks_ends_in_the_last_requested_state(stopped: Playground) -> None:
    """A burst of clicks ends in the state that the last clicks request."""
    start_training(stopped)
    for button in ("pause", "resume", "step", "pause", "resume", "step", "step", "step"):
        stopped.page.evaluate(
            "button => document.querySelector(`[data-testid=${button}]`)?.click()", button
        )
    stopped.expect_status("running", "paused")
    stopped.page.wait_for_timeout(300)
    if stopped.text("status") == "running":
        answers(stopped, "pause", "paused")
    stopped.wait(lambda: holds(stopped))  # steps that were asked for while it was paused are due
    assert stopped.text("status") == "paused"
