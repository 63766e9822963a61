"""Files of projects between page and desktop: each continues the other's work."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import playgrad as pg
from tests.browser.playground import Playground
from tests.browser.test_projects import (
    PROGRAM,
    STEPS,
    UNBROKEN,
    curves,
    expect_open,
    menu,
    open_file,
)
from tests.cli.processes import end_of, running
from tests.sweeps import slow

pytestmark = [pytest.mark.browser, pytest.mark.survival("Projects and their files")]


# On the desktop a run ends with the step that it is in, so each epoch of a new run takes a while.
WAIT = """while (self.first, epoch) == (0, 5):
            time.sleep(0.01)"""
assert WAIT in PROGRAM
SLOW = PROGRAM.replace(WAIT, "time.sleep(0.2 if self.first == 0 else 0)")


@pytest.fixture(scope="module")
def unbroken() -> np.ndarray[Any, Any]:
    """The losses of the program on the desktop, without an interruption."""
    names: dict[str, Any] = {}
    pg.reset_default_graph()
    exec(UNBROKEN.replace("model.compile(", 'model.compile(device="cpu", '), names)
    losses: np.ndarray[Any, Any] = names["model"].history.losses
    names["model"].close()
    return losses


def stopped_on_the_desktop(folder: Path) -> Path:
    """Return the last checkpoint of a run of `SLOW` that was stopped by Ctrl+C."""
    program, run = folder / "dropout_study.py", folder / "run"
    program.write_text(SLOW)
    options = ("--device", "cpu", "--checkpoint", str(run), "--every", "20")
    with running("train", str(program), *options) as process:
        while not list(run.glob("step-*.playgrad")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        ended = end_of(process)
    assert ended.code == 130, ended.err
    return max(run.glob("step-*.playgrad"))


@pytest.mark.parametrize("device", ["cpu", *slow("gpu")])
def test_a_run_of_the_desktop_continues_in_the_page(
    device: str, playground: Playground, tmp_path: Path, unbroken: np.ndarray[Any, Any]
) -> None:
    path = stopped_on_the_desktop(tmp_path)
    step = int(path.stem.removeprefix("step-"))
    assert 20 <= step < STEPS
    playground.choose_device(device)
    open_file(playground, path)
    expect_open(playground, "dropout_study")
    offer = playground.at("resume-offer")
    expect(offer).to_have_text(f"Continue from step {step} of {STEPS}")
    assert "trained to the end" not in playground.text("console"), "nothing runs by itself"
    steps, losses, trend, accuracies = curves(playground)
    assert steps == list(range(1, step + 1)), "the curve so far is drawn at once"
    np.testing.assert_allclose(losses, unbroken[:step], rtol=1e-6)
    assert len(trend) == len(accuracies) == step
    assert None not in accuracies
    assert playground.steps == step
    assert playground.text("status").lower() == "stopped"
    playground.at("resume").click()
    playground.expect_status("done")
    steps, losses, *_ = curves(playground)
    assert steps == list(range(1, STEPS + 1))
    np.testing.assert_allclose(losses, unbroken, rtol=1e-5, atol=1e-5)


_ENDS_OF_EPOCHS = """async () => {
  const { curves } = await import("/static/js/state/store.js");
  const { testLoss, testAccuracy } = curves.series;
  const ends = curves.steps.filter((_, at) => testLoss[at] !== null);
  const last = (column) => column.findLast((each) => each !== null);
  return [ends, last(testLoss), last(testAccuracy)];
}"""


def test_a_finished_run_of_the_desktop_shows_its_curve(
    playground: Playground, tmp_path: Path
) -> None:
    program, run = tmp_path / "finished_study.py", tmp_path / "run"
    program.write_text(UNBROKEN.replace("verbose=0", "validation_data=(x, y)"))
    with running("train", str(program), "--device", "cpu", "--checkpoint", str(run)) as process:
        ended = end_of(process)
    assert ended.code == 0, ended.err
    path = max(run.glob("step-*.playgrad"))
    history = pg.load(path, device="cpu").history
    assert history is not None
    open_file(playground, path)
    expect_open(playground, "finished_study")
    playground.expect_status("done")
    steps, losses, *_ = curves(playground)
    assert steps == list(range(1, STEPS + 1))
    np.testing.assert_allclose(losses, history.losses, rtol=1e-6)
    ends, loss, accuracy = playground.page.evaluate(_ENDS_OF_EPOCHS)
    assert ends == list(range(4, STEPS + 1, 4))
    assert loss == pytest.approx(history.history["val_loss"][-1])
    assert accuracy == pytest.approx(history.history["val_accuracy"][-1])
    assert playground.steps == STEPS
    assert playground.number("test-accuracy") == pytest.approx(100 * accuracy, abs=0.1)
    expect(playground.at("resume-offer")).to_have_count(0)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_run_of_the_page_continues_on_the_desktop(
    device: str, playground: Playground, tmp_path: Path, unbroken: np.ndarray[Any, Any]
) -> None:
    playground.choose_device(device)
    playground.start(PROGRAM)
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps > 8)
    playground.timed("stop", "stopped")
    menu(playground, "project-save")
    path = playground.download("project-save", tmp_path)
    loaded = pg.load(path, device="cpu")
    step = len(loaded.history.losses)  # type: ignore[union-attr]
    assert 8 <= step < STEPS
    x = np.random.default_rng(0).normal(size=(64, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    history = loaded.fit(x, y, batch_size=16, epochs=40, verbose=0, resume=True)
    np.testing.assert_allclose(history.losses, unbroken, rtol=1e-5, atol=1e-5)
    loaded.close()
