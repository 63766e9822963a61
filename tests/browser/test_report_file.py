"""The report of `playgrad train --report`, opened from disk in Chromium: all is inside."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from playgrad.cli import main
from playgrad.io import load

pytestmark = [pytest.mark.browser]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(3, activation="tanh"), nn.Dense(2)])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=pg.optim.SGD(learning_rate=0.1), loss=loss)
model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=16, epochs=2, verbose=0)
"""

_SECTION = """(heading) => {
  const all = [...document.querySelectorAll("section")];
  const section = all.find((each) => each.querySelector("h2")?.textContent === heading);
  const chart = section.querySelector("svg[role=img]").getBoundingClientRect();
  const bars = [...section.querySelectorAll("svg rect")].map((bar) => ({
    title: (bar.querySelector("title") ?? bar.parentNode.querySelector("title"))?.textContent ?? "",
    width: bar.getBoundingClientRect().width,
  }));
  const numbers = (row) => [...row.querySelectorAll("data")].map((each) => Number(each.value));
  const rows = [...section.querySelectorAll("tbody tr")];
  return { text: section.innerText, width: chart.width, height: chart.height, bars,
    rows: rows.map((row) => [row.cells[0].textContent, ...numbers(row)]) };
}"""


def test_a_report_opens_from_disk_without_a_network(chromium: Browser, tmp_path: Path) -> None:
    program, report, weights = (tmp_path / name for name in ("small.py", "run.html", "w.npz"))
    program.write_text(PROGRAM, encoding="utf-8")
    arguments = ["train", program, "--device", "cpu", "--report", report, "--export", weights]
    assert main([str(argument) for argument in arguments]) == 0

    context = chromium.new_context()
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(report.as_uri())
    page.wait_for_timeout(500)
    assert asked == [report.as_uri()]
    assert complaints == []

    step = page.evaluate(_SECTION, "One training step")
    assert step["width"] > 300 and step["height"] > 20
    bars = [bar for bar in step["bars"] if bar["title"].startswith("dense_1/")]
    assert bars and all(bar["width"] > 0 for bar in bars)
    said = re.search(r"in ([\d.]+) ms", step["text"])
    assert said
    took = sum(number for row in step["rows"] for number in row[1:2])
    assert 0 < took <= float(said[1]) + 0.01

    shown = {name: numbers for name, *numbers in page.evaluate(_SECTION, "Weights")["rows"]}
    arrays = {name: array.astype(np.float64) for name, array in load(weights).items()}
    assert shown == {
        name: [array.mean(), array.std(), array.min(), array.max()]
        for name, array in arrays.items()
    }
    context.close()
