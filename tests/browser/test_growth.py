"""A long program does not grow: not in Python, not on the device, not in the page.

The first hundred calls fill caches (compiled kernels, machine code of JavaScript and WebAssembly,
the heap's own reserves), which took 30 MB of the renderer when this was written. What grows after
that is a leak.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import CDPSession

from tests.browser.playground import Playground
from tests.sweeps import slow

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

CALLS = """
import gc, json, time
import numpy as np
import playgrad as pg
import pyodide_js
from playgrad import nn
from playgrad.devices import registry

x = np.random.default_rng(0).normal(size=(512, 16)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(32, activation="tanh"), nn.Dense(2)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
)
for goal in GOALS:
    for _ in range(goal):
        model.fit(x, y, batch_size=64, epochs=1, verbose=0)
        model.predict(x)
        model.evaluate(x, y, verbose=0)
    gc.collect()
    counts = {
        "objects": len(gc.get_objects()),
        "nodes": len(model.graph.nodes),
        "heap": pyodide_js._module.HEAPU8.length,
        **registry.gpu(0).host.stats(),
    }
    print(json.dumps(counts))
    time.sleep(WAIT)  # while the page is measured
print("over")
"""
MB = 1e6
LIMITS = {
    "nodes": 0,
    "heap": 0,
    "buffers": 0,
    "bytes": 0,
    "programs": 0,
    "Nodes": 300,
    "JSEventListeners": 20,
    "JSHeapUsedSize": 3 * MB,
    "renderer": 40 * MB,
    "gpu": 40 * MB,
}
"""The growth allowed to each from one measurement to the next."""
OBJECTS_PER_FIT = 8
"""Python objects with which the record of a run describes each fit, for checkpoints: 7."""


def private_bytes(process: int) -> int:
    """Return the bytes of memory that only this process has."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no such line")


class Memory:
    """The memory of the page and of the browser's processes."""

    def __init__(self, playground: Playground) -> None:
        self.page: CDPSession = playground.context.new_cdp_session(playground.page)
        browser = playground.context.browser
        assert browser is not None
        self.browser: CDPSession = browser.new_browser_cdp_session()
        self.page.send("Performance.enable")

    def measure(self) -> dict[str, float]:
        for _ in range(2):  # objects finalised by the first collection are freed by the second
            self.page.send("HeapProfiler.collectGarbage")
        metrics = self.page.send("Performance.getMetrics")["metrics"]
        sizes: dict[str, list[int]] = {"renderer": [], "GPU": []}
        for process in self.browser.send("SystemInfo.getProcessInfo")["processInfo"]:
            if process["type"] in sizes:
                sizes[process["type"]].append(private_bytes(process["id"]))
        # The page's renderer is the largest one: it has Python.
        return {
            **{each["name"]: each["value"] for each in metrics},
            "renderer": max(sizes["renderer"]),
            "gpu": sum(sizes["GPU"]),
        }

    def close(self) -> None:
        self.page.detach()
        self.browser.detach()


def measured(playground: Playground, *goals: int) -> list[dict[str, float]]:
    """Return what is in use after each number of further calls, in one program."""
    memory = Memory(playground)
    wait = 4
    playground.start(CALLS.replace("GOALS", repr(goals)).replace("WAIT", str(wait)))
    results: list[dict[str, float]] = []

    def counts() -> list[Any]:
        lines = playground.text("console").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    while len(results) < len(goals):
        playground.wait(lambda: playground.expect_status("running", "done") != "")
        if len(found := counts()) > len(results):
            results.append({**found[-1], **memory.measure()})
        playground.page.wait_for_timeout(100)
    playground.expect_status("done")
    memory.close()
    return results


def check_growth(before: dict[str, float], after: dict[str, float], calls: int) -> None:
    limits = {"objects": OBJECTS_PER_FIT * calls, **LIMITS}
    for name in limits:
        print(f"{name}: {before[name]:,.0f} to {after[name]:,.0f}")
    for name, allowed in limits.items():
        assert after[name] - before[name] <= allowed, name


@pytest.mark.slow
def test_memory_is_bounded_over_calls_of_one_program(playground: Playground) -> None:
    before, after = measured(playground, 40, 40)
    check_growth(before, after, 40)


@pytest.mark.slow
def test_memory_is_bounded_over_nine_hundred_calls(playground: Playground) -> None:
    first, second, third = measured(playground, 100, 200, 600)
    check_growth(first, second, 200)
    check_growth(second, third, 600)


@pytest.mark.parametrize("lines", [10_000, *slow(300_000)])
def test_memory_is_bounded_over_many_printed_lines(playground: Playground, lines: int) -> None:
    memory = Memory(playground)
    playground.runs_well()
    before = memory.measure()
    output = playground.finish(f"for number in range({lines}):\n    print('line', number)")
    assert f"line {lines - 1}" in output
    after = memory.measure()
    memory.close()
    print(f"nodes: {before['Nodes']:.0f} to {after['Nodes']:.0f}")
    assert after["Nodes"] - before["Nodes"] < 5_000  # of at most 600 lines
    assert after["JSHeapUsedSize"] - before["JSHeapUsedSize"] < 5 * MB
