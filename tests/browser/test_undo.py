"""Undo for training: looking back along the curve, and branching off from an earlier step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(256, 2)).astype(np.float32)
y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(16, activation="tanh"), nn.Dropout(0.1), nn.Dense(2)])
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=60, verbose=0)
"""
VALIDATED = PROGRAM.replace("verbose=0", "verbose=0, validation_data=(x[:32], y[:32])")
CHANGED = VALIDATED.replace("Adam(0.01)", "Adam(0.0)")
OTHER = PROGRAM.replace("Dense(16", "Dense(8")
STEPS = 960

EPOCH_STEPS = 16

# Keeps what the numbers above the page say from now on, beside what the table of epochs has.
_KEEP_NUMBERS = """async () => {
  const store = await import('/static/js/state/store.js');
  window.numbers = [];
  store.progress.subscribe(({ step, epoch, testLoss }) => {
    const isBegun = store.branch.value?.hasBegun;
    if (isBegun) window.numbers.push([step, epoch, testLoss, store.epochs.peek().at(-1)?.testLoss]);
  });
}"""
_STORE = """const store = await import('/static/js/state/store.js');
  const { taskView } = await import('/static/js/engine/questions.js')"""


def read(playground: Playground, expression: str) -> Any:
    """The value of an expression of the page's store and engine."""
    return playground.page.evaluate(f"async () => {{ {_STORE}; return {expression}; }}")


def losses(playground: Playground) -> list[float]:
    """The loss of each step on the curve, without averages."""
    assert read(playground, "store.curves.stride") == 1
    return list(read(playground, "store.curves.series.loss"))


def view(playground: Playground) -> list[int]:
    """The outputs over the plane that are shown."""
    return list(read(playground, "Array.from(store.task.value?.outputs ?? [])"))


def look_back(playground: Playground, part: float) -> int:
    """Move the slider; return the step of the place."""
    slider = playground.at("checkpoint-slider")
    last = int(slider.get_attribute("max") or 0)
    slider.fill(str(round(part * last)))
    return int(read(playground, "(store.past.value ?? store.progress.value).step"))


def test_an_earlier_step_is_shown_and_branched_from(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish(VALIDATED)
    curve, weights = losses(playground), playground.weights()
    assert len(curve) == STEPS
    steps = read(playground, "store.checkpoints.value.map(({ step }) => step)")
    assert steps[0] == 0
    assert steps[-1] == STEPS
    assert len(steps) >= 3, "some between"
    now = read(playground, "Array.from((await taskView(0)).outputs)")
    playground.wait(lambda: view(playground) == now)
    expect(playground.at("branch")).to_be_disabled()

    # Everything is as it was then.
    slider = playground.at("checkpoint-slider")
    step = look_back(playground, 0.5)
    assert 0 < step < STEPS
    expect(slider).to_have_attribute("aria-valuetext", playground.text("checkpoint-place"))
    expect(playground.at("checkpoint-place")).to_contain_text(f"Step {step} of {STEPS}, trend 0.")
    expect(playground.at("status-sentence")).to_contain_text(f"You see step {step}.")
    playground.wait(lambda: view(playground) != now)
    then = playground.weights()
    assert not np.array_equal(then["dense_1/kernel"], weights["dense_1/kernel"])

    # And at the end it is as it is, to the bit.
    slider.press("End")
    playground.wait(lambda: view(playground) == now)
    again = playground.weights()
    assert all(np.array_equal(again[name], array) for name, array in weights.items())

    # A branch without a change reproduces the curve.
    slider.press("ArrowLeft")
    step = look_back(playground, 0.5)
    playground.page.evaluate(_KEEP_NUMBERS)
    playground.at("branch").click()
    playground.wait(lambda: read(playground, "store.branch.value?.hasBegun") is True)
    playground.expect_status("done")
    assert losses(playground) == curve
    numbers = playground.page.evaluate("window.numbers")
    assert numbers[0][0] == step
    for at, epoch, shown, in_table in numbers:
        assert epoch == -(-at // EPOCH_STEPS), at
        assert shown == in_table, at
    again = playground.weights()
    assert all(np.array_equal(again[name], array) for name, array in weights.items())

    # With another learning rate it differs from there on.
    playground.write(CHANGED)
    second = look_back(playground, 0.4)
    playground.at("branch").click()
    playground.wait(lambda: read(playground, "store.branch.value?.step") == second)
    playground.wait(lambda: read(playground, "store.branch.value?.hasBegun") is True)
    playground.expect_status("done")
    changed = losses(playground)
    assert changed[: second + 1] == curve[: second + 1]
    assert changed[second + 1 :] != curve[second + 1 :]

    # A network that does not fit is refused, and nothing is lost.
    playground.write(OTHER)
    look_back(playground, 0.3)
    playground.at("branch").click()
    expect(playground.at("error")).to_contain_text(
        "the network has changed since the checkpoint was made"
    )
    playground.expect_status("error")
    assert losses(playground) == changed
    expect(slider).to_be_enabled()
    playground.at("tab-runs").click()
    rows = playground.at("run-row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text(f"branch of run 1 at step {step}")
    expect(rows.nth(0)).to_contain_text(f"branch of run 2 at step {second}")
    playground.at("tab-training").click()


def test_a_paused_run_shows_earlier_steps_and_continues_undisturbed(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish(PROGRAM)
    curve = losses(playground)
    playground.at("step-unit").select_option("epoch")
    for number in range(1, 4):
        playground.at("step").click()
        playground.expect_status("paused")
        playground.wait(lambda count=16 * number: playground.steps == count)  # type: ignore[misc]
    playground.wait(lambda: read(playground, "store.checkpoints.value.at(-1)?.step") == 48)
    assert look_back(playground, 0.5) < 48
    earlier = playground.weights()
    playground.at("step").click()
    playground.wait(lambda: playground.steps == 64)
    assert read(playground, "store.past.value") is None
    assert not np.array_equal(playground.weights()["dense_1/kernel"], earlier["dense_1/kernel"])

    step = look_back(playground, 0.5)
    assert 0 < step < 64
    playground.at("branch").click()  # stops the run first
    playground.wait(lambda: read(playground, "store.branch.value?.hasBegun") is True)
    playground.expect_status("done")
    assert losses(playground) == curve

    playground.at("step").click()
    playground.expect_status("paused")
    playground.wait(lambda: playground.steps == 16)
    playground.wait(lambda: read(playground, "store.checkpoints.value.length") >= 2)
    assert look_back(playground, 0) == 0
    playground.weights()
    playground.at("resume").click()
    playground.expect_status("done")
    assert losses(playground) == curve
