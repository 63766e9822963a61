"""Stop, at any moment, and of code that will not end."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, STUBBORN, Playground
from tests.browser.test_page_controls import ENDLESS, answers
from tests.sweeps import budget, dice

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]


def test_stop_works_at_any_moment_of_the_start(playground: Playground) -> None:
    """While data is fetched, the graph is built, kernels compile, and the first steps run."""
    playground.choose_device("gpu")
    chance = dice("stop")
    for _ in range(budget(2, night=20)):
        milliseconds = 1600 * chance.random() ** 2
        print(f"after {milliseconds:.0f} ms")
        playground.start(ENDLESS)
        playground.page.wait_for_timeout(milliseconds)
        answers(playground, "stop", "stopped")
        playground.expect_workers("device-worker.js", "python-worker.js")
    playground.runs_well()


@pytest.mark.parametrize(
    "source", ["while True: pass", "import time\ntime.sleep(1000)"], ids=["busy", "asleep"]
)
def test_stop_ends_an_infinite_loop(playground: Playground, source: str) -> None:
    playground.start(f"print('begun')\n{source}")
    playground.wait(lambda: "begun" in playground.text("console"))
    # On a very busy machine, Python may respond too late, and the page restarts it.
    answers(playground, "stop", "stopped", "loading")
    playground.expect_status("stopped")
    expect(playground.at("error")).to_have_count(0)
    playground.runs_well()


def test_stop_ends_a_loop_that_swallows_interrupts(playground: Playground) -> None:
    """Python is restarted with a notice; a run asked for meanwhile is not forgotten."""
    playground.start(STUBBORN)
    playground.wait(lambda: "begun" in playground.text("console"))
    answers(playground, "stop", "loading", "stopped")
    expect(playground.page.get_by_text("Python did not stop in time").first).to_be_visible()
    playground.start(GOOD)
    playground.expect_status("done")
    assert "trained well" in playground.text("console")
    expect(playground.at("error")).to_have_count(0)
    playground.expect_workers("device-worker.js", "python-worker.js")
