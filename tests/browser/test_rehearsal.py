"""Before the first run, another one is rehearsed in an interpreter that is thrown away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]
SHOWN = "document.getElementById('app').innerText"


@pytest.fixture
def visitor(chromium: Browser, server: str) -> Iterator[Playground]:
    """A page that has just been opened."""
    opened = Playground(chromium, server)
    yield opened
    opened.close()


def interpreters(playground: Playground) -> int:
    return sum("python-worker" in worker.url for worker in playground.page.workers)


def test_a_rehearsal_shows_nothing_and_leaves_nothing(visitor: Playground) -> None:
    visitor.expect_status("ready")
    shown = visitor.page.evaluate(SHOWN)
    visitor.wait(lambda: interpreters(visitor) == 2)
    visitor.wait(lambda: interpreters(visitor) == 1)
    assert visitor.page.evaluate(SHOWN) == shown
    visitor.finish(GOOD)


def test_a_run_ends_the_rehearsal(visitor: Playground) -> None:
    visitor.wait(lambda: interpreters(visitor) == 2)
    visitor.at("run").click()
    visitor.wait(lambda: interpreters(visitor) == 1)
    visitor.expect_status("done")
