"""After a program that does harm, whatever it was, the next run begins clean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from playgrad import paths
from tests.browser.hostile_programs import PROGRAMS
from tests.browser.playground import PATIENCE_MS, Playground
from tests.sweeps import slow, sweep

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.pyodide,
    pytest.mark.gpu,
    pytest.mark.survival("Programs that do harm"),
]

MNIST = paths.static() / "examples" / "mnist-mlp.py"
ENOUGH_SECONDS = 4
"""For a program to do its work. A program that still runs is stopped then."""
QUICK = (
    "no builtins", "files changed in place", "the engine's port",
)  # fmt: skip
ALL = sweep(PROGRAMS, QUICK)


@pytest.fixture
def page(playground: Playground) -> Iterator[Playground]:
    """The page, whose complaints about a harmful program are expected."""
    yield playground
    playground.complaints.clear()


def suffer(playground: Playground, source: str) -> str:
    """Run a program, and stop it if it does not end; return the status in the end."""
    playground.start(source)
    playground.page.wait_for_timeout(200)
    left = ENOUGH_SECONDS / 0.05
    while playground.text("status") in ("running", "loading") and left > 0:
        playground.page.wait_for_timeout(50)
        left -= 1
    if playground.text("status") == "running":
        playground.at("stop").evaluate("button => button.click()")  # it may end just now
    playground.wait(lambda: playground.text("status") not in ("running", "loading"))
    return playground.text("status")


@pytest.mark.parametrize("name", ALL)
def test_the_next_run_begins_clean(page: Playground, name: str) -> None:
    print(name, suffer(page, PROGRAMS[name]))
    page.runs_well()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_mnist_example_trains_afterwards(page: Playground, name: str) -> None:
    page.page.reload()
    page.expect_status("ready", "done", "stopped", "error")
    suffer(page, PROGRAMS[name])
    page.start(MNIST.read_text())
    page.wait(lambda: page.expect_status("running", "done") != "" and page.steps >= 20)
    page.timed("stop", "stopped", "done")


def test_programs_cannot_reach_what_the_browser_stores(page: Playground) -> None:
    """The page that is kept for later visits, and the visitor's projects."""
    output = page.finish(
        "import js\n"
        "print('self:', [name for name in ('caches', 'indexedDB') if hasattr(js, name)])\n"
        "print('navigator:', [name for name in ('storage', 'serviceWorker')"
        " if hasattr(js.navigator, name)])"
    )
    assert "self: []" in output and "navigator: []" in output


@pytest.mark.parametrize("name", ["stolen locks", *slow("locks")])
def test_another_tab_opens_beside_a_hostile_program(
    chromium: Browser, server: str, page: Playground, name: str
) -> None:
    suffer(page, PROGRAMS[name])
    other = page.context.new_page()
    other.set_default_timeout(PATIENCE_MS)
    other.goto(f"{server}/")
    other.get_by_test_id("run").click()
    other.close()
    page.runs_well()
