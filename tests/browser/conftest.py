"""Fixtures for tests that drive Chromium: a blank page of the server's origin, and the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.playground import Playground
from tests.browser.replay import OPEN_IN_PAGE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Worker

_ENGINE_HARNESS = (Path(__file__).parent / "engine_harness.js").read_text(encoding="utf-8")


@pytest.fixture
def blank_page(chromium: Browser, server: str) -> Iterator[Page]:
    """A cross-origin isolated page without scripts of its own.

    The test fails if a script of it throws or if the security policy refuses something.
    """
    page = chromium.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    page.goto(f"{server}/healthz")
    yield page
    page.close()
    assert complaints == []


@pytest.fixture(scope="module")
def page(chromium: Browser, server: str) -> Iterator[Page]:
    """A page with the engine's runner, for `tests.browser.replay.in_page`."""
    page = chromium.new_page()
    page.goto(f"{server}/healthz")
    page.evaluate(OPEN_IN_PAGE)
    yield page
    page.close()


class Engine:
    """The engine without the page: posts requests, collects events."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.evaluate(_ENGINE_HARNESS)
        self.ready: dict[str, Any] = page.evaluate("engine.start()")

    def run(
        self, source: str, *, stop_after_ms: int | None = None, devices: int | None = None
    ) -> dict[str, Any]:
        """Run user code to its end; return `state`, `stdout`, `error`, and `stop_ms` of a stop."""
        result: dict[str, Any] = self.page.evaluate(
            "(options) => engine.run(...options)", [source, stop_after_ms, devices]
        )
        return result

    def begin(self, source: str) -> None:
        """Run user code until its first output; `end` waits for its end."""
        self.page.evaluate("source => engine.begin(source)", source)

    def end(self) -> dict[str, Any]:
        """Wait for the end of the run that `begin` began; return what `run` returns."""
        result: dict[str, Any] = self.page.evaluate("engine.end()")
        return result

    def events(self, kind: str) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.page.evaluate("kind => engine.events(kind)", kind)
        return events

    def workers(self, kind: str) -> list[Worker]:
        """The live workers of a script, for instance "device-worker"."""
        return [each for each in self.page.workers if kind in each.url]

    def device_worker(self) -> Worker:
        (worker,) = self.workers("device-worker")
        return worker


@pytest.fixture(scope="module")
def engine(chromium: Browser, server: str) -> Iterator[Engine]:
    """A started engine, shared by the tests of a file: starting Python takes seconds."""
    page = chromium.new_page()
    page.goto(f"{server}/healthz")
    yield Engine(page)
    page.close()


def address_for(request: pytest.FixtureRequest) -> str:
    """The address of the page, in which the desktop's Python computes unless the test or its file
    is marked with `pyodide`."""
    is_pyodide = request.node.get_closest_marker("pyodide") is not None
    address: str = request.getfixturevalue("server" if is_pyodide else "desk_server")
    return address


@pytest.fixture(scope="module")
def playground(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Playground]:
    """The real page, ready to run, shared by the tests of a file, which leave it usable.

    With Pyodide it is on the GPU, which "auto" avoids, since the adapter is a software one.
    """
    opened = Playground(chromium, address_for(request))
    opened.expect_status("ready")
    if request.node.get_closest_marker("pyodide"):
        opened.choose_device("gpu")
    yield opened
    opened.close()
