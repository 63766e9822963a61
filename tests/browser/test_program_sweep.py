"""`pg.sweep` in a program in the page: its trials run in interpreters beside the page's own."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]


def train(rate):
    if rate < 0:
        raise ValueError("the rate is negative")
    model = pg.Sequential([nn.Dense(1)])
    model.compile(pg.optim.SGD(rate), loss="mse")
    return model.fit(x, 3 * x, batch_size=16, epochs=EPOCHS, verbose=0)


result = pg.sweep(train, grid={"rate": RATES}, HALVING)
print(result)
print("best", result.best.settings, result.weights.stat().st_size > 0)
print([trial.state for trial in result.trials])
"""


def program(rates: str, epochs: int = 9, halving: str = "") -> str:
    text = PROGRAM.replace("RATES", rates).replace("EPOCHS", str(epochs))
    return text.replace("HALVING", halving)


def test_a_program_can_sweep_once(playground: Playground) -> None:
    source = "import playgrad as pg\nfor _ in range(2):\n    pg.sweep(abs, grid={'x': [1]})"
    playground.finish(source, "error")
    expect(playground.at("error")).to_contain_text("a program can call pg.sweep once")


def test_a_sweep_runs_beside_the_page_and_trials_are_runs(playground: Playground) -> None:
    rates = "[0.4, 1e-6, -1]"
    output = playground.finish(program(rates, halving="halving=pg.Halving(9), parallel=1"))
    assert "trial 1 (rate=0.4): " in output, output
    assert "trial 3 (rate=-1) failed 2 times: the rate is negative" in output
    assert "best {'rate': 0.4} True" in output
    assert "['done', 'cut', 'failed']" in output
    playground.at("tab-runs").click()
    rows = playground.at("run-row")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="rate=0.4")).to_have_count(1)


def is_python(worker: Any) -> bool:
    return "python-worker" in worker.url


def test_stop_ends_all_trials(playground: Playground) -> None:
    playground.finish("print(1)")
    playground.wait(lambda: sum(map(is_python, playground.page.workers)) == 2)  # one is spare
    source = program("[0.1, 0.2]", epochs=400_000)
    with playground.page.expect_event("worker", is_python) as started:
        playground.start(source)
    playground.at("stop").click()
    playground.expect_status("stopped")
    playground.wait(lambda: started.value not in playground.page.workers)
