"""The page's UI thread is never busy for long while a network trains, whatever panel is open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.playground import Playground
from tests.sweeps import slow

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

MOST_MS = 50
"""Of one task, as the RAIL model and the Long Tasks specification have it."""
CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]


@pytest.fixture(scope="module")
def visitor(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    playground = Playground(chromium, desk_server)
    playground.choose_device("cpu")
    yield playground
    playground.close()


def busiest(trace: dict[str, Any]) -> tuple[float, int]:
    """Return the milliseconds of the longest task of the page's UI thread, and their number.

    They are the thread's time on the processor: what other processes took does not count.
    """
    events = trace["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        event["tdur"] / 1000
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in threads
        if "tdur" in event
    ]
    return max(tasks), len(tasks)


@pytest.mark.parametrize(
    ("example", "tab"),
    [
        ("spiral", "training"),
        *slow(("mnist-mlp", "training")),
        ("spiral", "graph"),
        ("spiral", "inspect"),
    ],
)
def test_ui_tasks_are_short_while_a_network_trains(
    visitor: Playground, chromium: Browser, example: str, tab: str
) -> None:
    visitor.at("example-select").select_option(example)
    visitor.at(f"tab-{tab}").click()
    # The first run loads the modules that show it.
    visitor.at("run").click()
    visitor.expect_status("done")
    chromium.start_tracing(page=visitor.page, categories=CATEGORIES)
    visitor.at("run").click()
    visitor.expect_status("running")
    visitor.wait(lambda: visitor.steps > 100)
    visitor.expect_status("done")
    longest, count = busiest(json.loads(chromium.stop_tracing()))
    assert count > 100
    assert longest < MOST_MS
