"""Attention in the panel Inspect: the maps have Python's numbers and the sample's characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

EXAMPLES = Path(__file__).parents[2] / "static" / "examples"
SOURCE = (EXAMPLES / "character-transformer.py").read_text(encoding="utf-8")
PROGRAM = SOURCE[: SOURCE.index('print(f"accuracy')].replace("epochs=45", "epochs=2")
PROGRAM += """
import json
for name, weights in pg.inspect(model).attention(x[1:2]).items():
    for head in weights[0]:
        print("head", name, json.dumps(head.astype(float).round(6).tolist()))
"""
SAMPLE = "his is the maide"


def table(page: Playground) -> np.ndarray[Any, Any]:
    cells = page.at("attention-table").locator("td")
    values = cells.evaluate_all("(cells) => cells.map((cell) => Number(cell.dataset.value))")
    return np.array(values).reshape(len(SAMPLE), len(SAMPLE))


def table_with(page: Playground, numbers: list[list[float]]) -> np.ndarray[Any, Any]:
    """Wait until the table has these numbers, and return what it shows."""
    page.wait(lambda: np.allclose(table(page), numbers, rtol=1e-4, atol=1e-5))
    return table(page)


def test_the_attention_map_of_a_sample_matches_python(playground: Playground) -> None:
    assert "epochs=2" in PROGRAM
    playground.choose_device("cpu")
    printed = [line.split(" ", 2) for line in playground.finish(PROGRAM).splitlines()]
    expected: dict[str, list[list[list[float]]]] = {}
    for _, name, weights in (line for line in printed if line[0] == "head"):
        expected.setdefault(name, []).append(json.loads(weights))
    assert [len(heads) for heads in expected.values()] == [4, 4]
    before = playground.weights()
    playground.at("tab-inspect").click()
    playground.at("inspect-attention").click()
    playground.at("sample-next").click()
    sample = playground.at("attention-sample")
    expect(sample).to_contain_text("sample 1 of")
    playground.at("attention-details").locator("summary").click()
    expect(playground.at("attention-table").locator("td")).to_have_count(len(SAMPLE) ** 2)
    for name, heads in expected.items():
        playground.at("attention-layer").select_option(name)
        expect(playground.at("attention-head")).to_have_count(4)
        for head, numbers in enumerate(heads):
            playground.at("attention-head").nth(head).click()
            shown = table_with(playground, numbers)
            np.testing.assert_allclose(shown.sum(axis=1), 1, atol=1e-5)
            assert (np.triu(shown, 1) == 0).all()
    for side in ("queries", "keys"):
        labels = playground.at(f"attention-{side}").locator("span").all_inner_texts()
        assert "".join(labels) == SAMPLE.replace(" ", "·")

    reading = playground.at("attention-reading")
    playground.at("attention-map").focus()
    for key in ["ArrowDown"] * 4 + ["ArrowRight"] * 2:
        playground.page.keyboard.press(key)
    weight = 100 * np.float32(expected[name][-1][3][2])
    expect(reading).to_contain_text("position 4 (space) to position 3 (s)")
    assert float(reading.inner_text().split()[-1].rstrip("%")) == pytest.approx(weight, abs=0.06)
    playground.at("attention-map").hover(position={"x": 2, "y": 2})
    expect(reading).to_contain_text("position 1 (h) to position 1 (h): 100.0%")
    after = playground.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_network_without_attention_gets_a_sentence(playground: Playground) -> None:
    playground.runs_well()
    playground.at("tab-inspect").click()
    playground.at("inspect-attention").click()
    expect(playground.at("attention-none")).to_contain_text("nn.MultiHeadAttention")
