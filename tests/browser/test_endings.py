"""Programs in Pyodide that are stopped, do not end, fail, or end Python itself; and "auto"."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, STUBBORN, Playground
from tests.browser.test_page_controls import ENDLESS, answers
from tests.browser.test_page_errors import expect_error
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


def test_a_loop_that_prints_does_not_freeze_the_page(playground: Playground) -> None:
    playground.start("i = 0\nwhile True:\n    print('line', i)\n    i += 1\n")
    playground.wait(lambda: "line" in playground.text("console"))
    longest = playground.page.evaluate(
        """() => new Promise((resolve) => {
          let longest = 0, last = performance.now();
          const timer = setInterval(() => {
            longest = Math.max(longest, performance.now() - last);
            last = performance.now();
          }, 10);
          setTimeout(() => { clearInterval(timer); resolve(longest); }, 1500);
        })"""
    )
    answer = playground.timed("stop", "stopped")
    print(f"printing: the page was away {longest:.0f} ms at most; stopped in {answer:.0f} ms")
    assert longest < 5000  # on a busy machine


def test_a_misspelt_name_gets_a_suggestion(playground: Playground) -> None:
    """Python 3.12 was the first to suggest names of modules; Pyodide's is newer."""
    playground.start("from playgrad import nn\nnn.Flaten()")
    expect_error(playground, "AttributeError", "Did you mean: 'Flatten'?", 2)


def test_deep_recursion_is_pythons_own_error(playground: Playground) -> None:
    playground.start("def f(n):\n    return f(n + 1)\nf(0)")
    expect_error(playground, "RecursionError", "maximum recursion depth", None)


def test_python_that_broke_down_is_replaced(playground: Playground) -> None:
    """A stack overflow in WebAssembly, out of memory, or a bug: the interpreter is gone."""
    playground.start("import os\nos.abort()")
    expect_error(playground, "EngineError", "the next run works again", None)
    playground.runs_well()
    playground.forgive("fatal error", "unreachable")


def test_auto_avoids_a_software_gpu_and_the_badge_says_why(playground: Playground) -> None:
    playground.choose_device("auto")
    badge, why = playground.at("backend-badge"), "since gpu:0 (google swiftshader) is a software"
    for _ in ("before a run", "after it"):
        assert playground.text("backend-badge").split("\n") == [
            playground.processor_in_brief,
            "no hardware GPU",
        ]
        assert f"Training on cpu:0, {why} adapter" in (badge.get_attribute("title") or "")
        told = playground.finish(f"{GOOD}\nprint(model.session.device_reason)")
        assert f"cpu:0, {why} adapter" in told
    playground.choose_device("gpu")
    assert "gpu:0" in playground.finish(f"{GOOD}\nprint(model.session.device)")
