"""The dialog for weights with other names: a table that can be corrected, then loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 6, 6, 1)).astype(np.float32)
layers = [nn.Conv2D(2, 3, activation="relu"), nn.Flatten(), nn.Dense(4), nn.Dense(4), nn.Dense(4)]
model = pg.Sequential(layers)
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, (x[:, 0, 0, 0] > 0).astype(np.int32), batch_size=16, epochs=1, verbose=0)
"""


class Net(torch.nn.Module):
    """A network whose last layer is registered before the one that precedes it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 3)
        self.first = torch.nn.Linear(32, 4)
        self.last = torch.nn.Linear(4, 4)
        self.middle = torch.nn.Linear(4, 4)


def test_rows_are_corrected_and_applied(playground: Playground, tmp_path: Path) -> None:
    torch.manual_seed(0)
    state = Net().state_dict()
    file = tmp_path / "net.pt"
    torch.save(state, file)
    playground.finish(PROGRAM)
    before = playground.weights()
    playground.load(file)
    at = playground.at
    expect(at("matching")).to_be_visible()
    expect(at("matching-status")).to_have_text("Every weight has its tensor.")
    expect(at("matching-dense_1.weight")).to_have_value("first.weight")
    expect(at("matching-dense_2.weight")).to_have_value("last.weight")
    expect(at("matching-how-dense_2.weight")).to_have_text("layer and order")

    at("matching-dense_2.weight").select_option("middle.weight")
    expect(at("matching-how-dense_2.weight")).to_have_text("you")
    expect(at("matching-unused")).to_have_text("Not used: last.weight 4 × 4")
    at("matching-dense_3.weight").select_option("")
    expect(at("matching-status")).to_contain_text("1 tensor missing")
    expect(at("matching-apply")).to_be_disabled()
    playground.page.keyboard.press("Escape")
    expect(at("matching")).to_have_count(0)
    expect(at("weights-outcome")).to_have_text("Nothing was loaded from net.pt.")
    for name, array in playground.weights().items():
        np.testing.assert_array_equal(array, before[name])

    playground.load(file)
    for number, layer in ((2, "middle"), (3, "last")):
        for part in ("weight", "bias"):
            at(f"matching-dense_{number}.{part}").select_option(f"{layer}.{part}")
    at("matching-apply").click()
    expect(at("matching")).to_have_count(0)
    expect(at("weights-outcome")).to_contain_text("Loaded 8 variables from net.pt")
    loaded, arrays = playground.weights(), {name: a.numpy() for name, a in state.items()}
    kernel = arrays["conv.weight"].transpose(2, 3, 1, 0)
    rows = arrays["first.weight"].reshape(4, 2, 4, 4).transpose(2, 3, 1, 0).reshape(32, 4)
    np.testing.assert_array_equal(loaded["conv2d_1/kernel"], kernel)
    np.testing.assert_array_equal(loaded["dense_1/kernel"], rows)
    for number, layer in ((2, "middle"), (3, "last")):
        np.testing.assert_array_equal(loaded[f"dense_{number}/kernel"], arrays[f"{layer}.weight"].T)
        np.testing.assert_array_equal(loaded[f"dense_{number}/bias"], arrays[f"{layer}.bias"])
