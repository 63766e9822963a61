"""Networks that are too deep or too large for a page: told at once, and the page stays usable."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [
    pytest.mark.browser,
    pytest.mark.pyodide,
    pytest.mark.gpu,
    pytest.mark.survival("Networks too deep or too big"),
]

BEGIN = """import numpy as np
import playgrad as pg
from playgrad import nn

def train(layers, units, rows=64):
    model = pg.Sequential([nn.Dense(units, activation="relu") for _ in range(layers)])
    model.compile(pg.optim.Adam(), nn.MeanSquaredError())
    x = np.zeros((rows, units), np.float32)
    model.fit(x, x, batch_size=16, epochs=1, verbose=0)

"""


@pytest.mark.parametrize(
    ("device", "program", "words"),
    [
        ("cpu", "train(20, 8660)", "20 layers with 6.0 GB of weights, 300 MB the largest"),
        ("cpu", "train(6, 8000)", "the page has"),
        ("gpu", "train(20, 8660)", "20 layers with 6.0 GB of weights, 300 MB the largest"),
    ],
    ids=["20 layers", "6 layers", "20 layers on a GPU"],
)
def test_a_program_too_big_for_the_device_is_refused(
    playground: Playground, device: str, program: str, words: str
) -> None:
    playground.choose_device(device)
    playground.finish(BEGIN + program, "error")
    expect(playground.at("error")).to_contain_text("OutOfMemoryError")
    expect(playground.at("error")).to_contain_text(words)
    playground.runs_well()


def test_a_deep_network_trains_on_the_cpu(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.finish(BEGIN + "train(100, 16)")
