"""Runs, stops, resets and restarts leave nothing behind: no buffer, program, worker or event."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, STUBBORN, Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

WORKERS = ["device-worker.js", "graph-layout-worker.js", "python-worker.js"]
# Counts what the previous run left: a run begins by closing its sessions.
STATS = """
import json
from playgrad.devices import registry
from playgrad.graph.graph import get_default_graph
stats = registry.gpu(0).host.stats()
print(json.dumps([stats["buffers"], stats["bytes"], stats["programs"]]))
print(len(get_default_graph().nodes))
"""
ENDLESS = GOOD.replace("epochs=2", "epochs=100_000")
FAILING = GOOD + "\nmodel.fit(x * np.inf, (x[:, 0] > 0).astype(np.int32))\n"
LOOSE = GOOD + "\nsessions = [pg.Session() for _ in range(3)]\nraise ValueError('on purpose')\n"


def left_behind(playground: Playground) -> Any:
    counts, nodes = playground.finish(STATS).splitlines()
    assert nodes == "0"
    return json.loads(counts)


def see_graph(playground: Playground) -> None:
    """Open the tab of the graph, which starts a worker for good, and close it."""
    playground.finish(GOOD)
    playground.at("tab-graph").click()
    items = playground.at("graph-view").locator(".graph-item")
    expect(items.first).to_be_visible()
    playground.at("tab-training").click()


def run_all_ways(playground: Playground) -> None:
    see_graph(playground)
    playground.start(ENDLESS)
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps > 10)
    playground.timed("pause", "paused")
    playground.timed("stop", "stopped")
    playground.start(ENDLESS)
    playground.wait(lambda: playground.expect_status("running") != "" and playground.steps > 10)
    playground.timed("reset", "ready")
    for source in (FAILING, LOOSE):
        playground.start(source)
        playground.expect_status("error")


def test_buffers_and_programs_go_with_the_run(playground: Playground) -> None:
    assert left_behind(playground) == [0, 0, 0]
    run_all_ways(playground)
    assert left_behind(playground) == [0, 0, 0]
    assert playground.workers() == WORKERS


def test_python_started_afresh_takes_the_place_of_the_old(playground: Playground) -> None:
    """The device workers of the old Python end with it, and free their devices."""
    see_graph(playground)
    playground.start(GOOD + STUBBORN)
    playground.wait(lambda: "trained well" in playground.text("console"))
    playground.timed("stop", "loading", "stopped")
    playground.expect_status("stopped")
    playground.expect_workers(*WORKERS)
    assert left_behind(playground) == [0, 0, 0]


@pytest.mark.slow
def test_memory_of_the_page_settles(playground: Playground) -> None:
    """Heaps of JavaScript and Python and the DOM do not grow from a few runs to many."""
    session = playground.context.new_cdp_session(playground.page)

    def measure() -> dict[str, float]:
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        objects = playground.finish("import gc\ngc.collect()\nprint(len(gc.get_objects()))")
        return {"Python": float(objects), **{each["name"]: each["value"] for each in metrics}}

    session.send("Performance.enable")
    for _ in range(3):
        playground.finish(GOOD)
    before = measure()
    for _ in range(12):
        playground.finish(GOOD)
    after = measure()
    session.detach()
    limits = {"Nodes": 300, "JSEventListeners": 20, "JSHeapUsedSize": 3e6, "Python": 300}
    for name, allowed in limits.items():
        print(name, before[name], after[name])
        assert after[name] - before[name] < allowed, name
