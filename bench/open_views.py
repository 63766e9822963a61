"""Measures the cost of open views: the time of a training step while a view is open, beside the
same training with all of them closed.

python -m bench.open_views                  every view, on cpu and on WebGPU
python -m bench.open_views --device cpu --view Watch

A network trains in the page for the whole time. A view is opened and closed again by turns, and the
steps are counted meanwhile, so that other work of the machine is the same for both. Beside the
time of a step is its processor time, of the server and the browser together, which depends less on
other work of the machine.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, expect

from bench.browser import opened_tab
from bench.processor_time import processor_seconds

POINTS = """
import playgrad as pg
from playgrad import nn

x, y = pg.data.spiral(1000, seed=0)
model = pg.Sequential([
    nn.Dense(16, activation="tanh"), nn.Dense(16, activation="tanh"), nn.Dense(2)
])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
model.fit(x, y, batch_size=100, epochs=1_000_000, validation_split=0.2, verbose=0)
"""
IMAGES = """
import playgrad as pg
from playgrad import nn

(x, y), _ = pg.data.mnist()
model = pg.Sequential([
    nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dense(10)
])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
model.fit(x, y, batch_size=64, epochs=1000, verbose=0)
"""
PROGRAMS = {"cpu": ("the spiral on cpu", POINTS), "gpu": ("MNIST on WebGPU", IMAGES)}
CLOSED = "tab-runs"
"""This panel asks for nothing while a network trains."""
SETTLED_SECONDS = 0.4
# The steps done, and their seconds by the clock of the training: the page hears of them only a few
# times a second.
_STEPS = """async () => {
  const store = await import("/static/js/state/store.js");
  const known = store.progress.value;
  await new Promise((heard) => {
    const end = store.progress.subscribe((now) => {
      if (now.step === known.step) return;
      heard();
      queueMicrotask(() => end());
    });
  });
  return [store.progress.value.step, store.progress.value.seconds];
}"""
# The views of the task that have arrived, a new one for each redraw of the boundary.
_COUNT_VIEWS = """async () => {
  const store = await import("/static/js/state/store.js");
  globalThis.views = 0;
  store.task.subscribe(() => (globalThis.views += 1));
}"""
_TYPE = """([element, text]) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const options = { clipboardData, bubbles: true, cancelable: true };
  element.dispatchEvent(new ClipboardEvent("paste", options));
}"""


@dataclass(frozen=True)
class View:
    """A view of the page: its name, and the test ids of what is pressed to open it."""

    name: str
    pressed: tuple[str, ...]
    searched: str = ""

    def open(self, page: Page) -> None:
        for name in self.pressed:
            page.get_by_test_id(name).click()
            if name == "tab-graph" and self.searched:
                page.get_by_test_id("graph-search").fill(self.searched)
                page.get_by_test_id("graph-search").press("Enter")


VIEWS = (
    View("Watch", ("tab-training",)),
    View("Graph", ("tab-graph",)),
    View("Graph, Value of dense_1", ("tab-graph", "node-value"), "dense_1/matmul"),
    View("Graph, Gradient of dense_1", ("tab-graph", "node-gradient"), "dense_1/matmul"),
    View("Inspect, Layers", ("tab-inspect", "inspect-layers")),
    View("Inspect, Samples", ("tab-inspect", "inspect-samples")),
    View("Inspect, Projection", ("tab-inspect", "inspect-projection")),
    View("Inspect, Histograms", ("tab-inspect", "inspect-histograms")),
)


def start(page: Page, address: str, device: str, program: str) -> None:
    """Open the page and begin to train."""
    page.goto(address)
    page.get_by_test_id("device-select").select_option(device)
    page.get_by_test_id("code-tab").click()
    content = page.locator("[data-testid=editor] .cm-content")
    content.click()
    page.keyboard.press("ControlOrMeta+A")
    page.evaluate(_TYPE, [content.element_handle(), program.strip("\n")])
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("pause")).to_be_visible(timeout=120_000)
    while page.evaluate(_STEPS)[0] < 200:
        time.sleep(0.2)
    page.evaluate(_COUNT_VIEWS)


@dataclass(frozen=True)
class Pace:
    """Seconds of a step, and of the processor for a step; NaN where that is not known."""

    seconds: float
    processor: float


def pace(page: Page, seconds: float) -> Pace:
    """Return the time of a step, for some seconds from now on."""
    used = processor_seconds()
    first, began = page.evaluate(_STEPS)
    time.sleep(seconds)
    last, ended = page.evaluate(_STEPS)
    steps = last - first
    now = processor_seconds()
    processor = math.nan if used is None or now is None else (now - used) / steps
    return Pace((ended - began) / steps, processor)


def closed_pace(page: Page, seconds: float) -> Pace:
    """Close all views, and return the time of a step."""
    page.get_by_test_id(CLOSED).click()
    time.sleep(SETTLED_SECONDS)
    return pace(page, seconds)


def measure(page: Page, view: View, rounds: int, seconds: float) -> dict[str, Any]:
    """Return how many times as long a step takes while the view is open: the median of the rounds.

    A shared machine is faster and slower by turns, by more than a view costs. So a round is short,
    the time with the view is compared with the mean of those before and after it, and it takes some
    40 rounds to know a few percent.
    """
    ratios, processor, redraws = [], [], []
    before = closed_pace(page, seconds)
    for _ in range(rounds):
        view.open(page)
        time.sleep(SETTLED_SECONDS)
        drawn, began = page.evaluate("views"), time.monotonic()
        opened = pace(page, seconds)
        redraws.append((page.evaluate("views") - drawn) / (time.monotonic() - began))
        after = closed_pace(page, seconds)
        ratios.append(2 * opened.seconds / (before.seconds + after.seconds))
        processor.append(2 * opened.processor / (before.processor + after.processor))
        before = after
    return {
        "view": view.name,
        "ratio": statistics.median(ratios),
        "interval": interval_of_median(ratios),
        "ratios": sorted(ratios),
        "processor": statistics.median(processor),
        "redraws": statistics.median(redraws),
    }


def interval_of_median(values: list[float]) -> tuple[float, float]:
    """Return the interval that holds the median of the population with a probability of 95%.

    It is that of the order statistics, which assumes no distribution: the number of values below
    the median is binomial (Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2).
    Fewer than 6 values have no such interval; theirs is from the least to the greatest.
    """
    ordered, n = sorted(values), len(values)
    below, tail = 0, 0.5**n
    while tail <= 0.025:
        below += 1
        tail += math.comb(n, below) * 0.5**n
    at = max(0, below - 1)
    return ordered[at], ordered[n - 1 - at]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    lines = [
        "| view | times as long | 95% interval | processor time | redraws a second |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        low, high = row["interval"]
        redraws = f"{row['redraws']:.1f}" if row["redraws"] else "–"
        lines.append(
            f"| {row['view']} | {row['ratio']:.2f} | {low:.2f} to {high:.2f} "
            f"| {row['processor']:.2f} | {redraws} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--device", choices=tuple(PROGRAMS), action="append")
    parser.add_argument("--view", action="append", help="views whose names begin with this")
    parser.add_argument("--rounds", type=int, default=20, help="opened and closed")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each half of a round")
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU")
    parser.add_argument("--json", action="store_true", help="print the results as JSON as well")
    options = parser.parse_args()
    chosen: Callable[[View], bool] = lambda view: (  # noqa: E731
        not options.view or any(view.name.startswith(name) for name in options.view)
    )
    with opened_tab(120, options.hardware) as tab:
        for device in options.device or PROGRAMS:
            title, program = PROGRAMS[device]
            with tab.page() as page:
                page.set_viewport_size({"width": 1440, "height": 900})
                start(page, tab.playgrad, device, program)
                rows = [
                    measure(page, view, options.rounds, options.seconds)
                    for view in VIEWS
                    if chosen(view)
                ]
            print(f"\n## While {title} trains\n\n{table(rows)}")
            if options.json:
                print(json.dumps(rows))


if __name__ == "__main__":
    main()
