"""The page says no more than is so: of a run that failed to learn, a first step, a paused run."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

DIVERGING = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(1)])
model.compile(optimizer=pg.optim.SGD(learning_rate=2.0), loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=0)
"""
WAIT = "nn.LambdaCallback(on_epoch_begin=lambda *_: time.sleep(1.1))\n"
FIT = "model.fit(x, (x[:, 0] > 0).astype(np.int32), callbacks=wait, verbose=0)\n"
# Whether the chart has enough pixels of the colour of the trend to be a point.
HAS_POINT = """() => {
  const canvas = document.querySelector(".chart canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const probe = document.createElement("span");
  probe.style.color = "var(--loss)";
  document.body.append(probe);
  const colour = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  let pixels = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (colour.every((value, channel) => Math.abs(data[at + channel] - value) < 6)) pixels += 1;
  }
  return pixels >= 10;
}"""
SENTENCE = ".status-sentence"


@pytest.fixture(scope="module")
def cpu(playground: Playground) -> Playground:
    playground.choose_device("cpu")
    return playground


def test_the_first_step_draws_a_point_and_a_paused_run_has_no_time_left(cpu: Playground) -> None:
    cpu.write(GOOD)
    expect(cpu.page.locator(".chart canvas").first).to_be_visible()
    assert not cpu.page.evaluate(HAS_POINT)
    cpu.at("step").click()
    cpu.expect_status("paused")
    cpu.wait(lambda: cpu.steps == 1)
    cpu.wait(lambda: bool(cpu.page.evaluate(HAS_POINT)))
    assert cpu.text("time-left") == "–"
    cpu.at("resume").click()
    cpu.expect_status("done")


def test_an_exploded_loss_is_reported_as_divergence(cpu: Playground) -> None:
    cpu.start(DIVERGING)
    cpu.expect_status("diverged")
    said = cpu.page.locator(SENTENCE)
    expect(said).to_contain_text("the learning rate is probably too high")
    numbers = re.search(r"The loss grew from (\S+) to (\S+):", said.inner_text())
    assert numbers and float(numbers[2]) > 20 * float(numbers[1]) > 0
    assert float(numbers[2]) == pytest.approx(cpu.number("loss"))
    cpu.runs_well()
    expect(said).to_contain_text("Trained in")


def test_the_time_of_a_run_includes_all_its_fits(cpu: Playground) -> None:
    """Whole seconds are shown: each fit takes more than one."""
    cpu.finish(GOOD + "import time\nwait = " + WAIT + 2 * FIT)
    expected = cpu.page.evaluate(
        """async () => {
          const store = await import("/static/js/state/store.js");
          const { duration } = await import("/static/js/words/format.js");
          const { value: earlier } = store.earlierSeconds;
          return earlier > 1 && `Trained in ${duration(earlier + store.progress.value.seconds)}`;
        }"""
    )
    assert expected and cpu.page.locator(SENTENCE).inner_text() == expected


def test_smoothing_and_the_scale_are_kept(cpu: Playground) -> None:
    cpu.finish(GOOD)
    shown = cpu.page.locator(".legend-entry.trend b").first
    automatic = shown.inner_text()
    cpu.at("curves-larger").click()
    cpu.at("smoothing").select_option("0")
    expect(shown).not_to_have_text(automatic)
    assert float(shown.inner_text()) == pytest.approx(cpu.number("loss"))  # of the last step
    cpu.at("log-scale").check()
    cpu.page.reload()
    cpu.at("curves-larger").click()
    expect(cpu.at("smoothing")).to_have_value("0")
    expect(cpu.at("log-scale")).to_be_checked()
