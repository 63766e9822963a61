"""Every example begins in the page: Python there is another one than on the desktop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from bench.examples import examples
from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu, pytest.mark.slow]


@pytest.fixture(scope="module")
def playground(chromium: Browser, server: str) -> Iterator[Playground]:
    opened = Playground(chromium, server)
    opened.expect_status("ready")
    opened.choose_device("cpu")
    yield opened
    opened.close()


@pytest.mark.parametrize("name", examples())
def test_each_example_trains_in_the_page(playground: Playground, name: str) -> None:
    playground.at("example-select").select_option(name)
    playground.at("run").click()
    playground.wait(lambda: playground.text("status") in ("running", "done", "error"))
    playground.wait(lambda: playground.steps > 0 or playground.text("status") != "running")
    if playground.text("status") == "running":
        playground.at("stop").click()
    playground.expect_status("stopped", "done")
    expect(playground.at("error")).to_have_count(0)
