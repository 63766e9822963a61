"""The next tokens in the panel Inspect: Python's numbers, for samples and for typed text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground
from tests.sweeps import slow

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

EXAMPLES = Path(__file__).parents[2] / "static" / "examples"
TYPED = {"character": "that ate the cow with the", "word": "that lay in the cow that ate the house"}
PRINT = """
import json
def expects(name, tokens, temperature):
    seen = pg.inspect(model).next_tokens(tokens, temperature=temperature)
    names = [[vocabulary.tokens[k] for k in row] for row in seen.top]
    chances = np.take_along_axis(seen.probabilities, seen.top, axis=1)
    came = [None if k < 0 else vocabulary.tokens[k] for k in seen.actual]
    chance = [None if k < 0 else float(p[k]) for p, k in zip(seen.probabilities, seen.actual)]
    for row in zip(names, chances.tolist(), came, chance, seen.ranks.tolist()):
        print("seen", json.dumps([name, row]))
import numpy as np
last = y[1] if y.ndim == 1 else y[1, -1]
expects("sample", [*x[1], last], 1.0)
expects("typed", vocabulary.encode(TYPED), 1.0)
expects("cold", vocabulary.encode(TYPED), 0.5)
"""

WORDS = {" ": "space", "\n": "line end", None: ""}
READ = """(rows) => rows.map(({ cells }) => [
  JSON.parse(cells[5].dataset.top), cells[2].textContent, cells[3].dataset.value ?? null,
  cells[4].textContent,
])"""


def program(example: str, unit: str, epochs: str) -> str:
    source = (EXAMPLES / f"{example}.py").read_text(encoding="utf-8")
    source = source[: source.index('print(f"accuracy')]
    assert epochs in source and "Vocabulary(TEXT)" in source
    source = source.replace(epochs, "epochs=3")
    if unit == "word":
        source = source.replace("Vocabulary(TEXT)", "Vocabulary(TEXT, words=True)")
        assert "LENGTH, WIDTH = 16, 32" in source
        source = source.replace("LENGTH, WIDTH = 16, 32", "LENGTH, WIDTH = 5, 32")
    return source + f"\nTYPED = {TYPED[unit]!r}\n" + PRINT


def rows(page: Playground) -> list[Any]:
    """Return the content of the table: the listed tokens, their chances, and the one that came."""
    return page.at("next-table").locator("tbody tr").evaluate_all(READ)


def agree(shown: list[Any], expected: list[Any]) -> bool:
    if len(shown) != len(expected):
        return False
    for (top, came, chance, rank), row in zip(shown, expected, strict=True):
        names, chances, token, actual, place = row
        if not np.allclose([c for _, c in top], chances, rtol=1e-3, atol=1e-5):
            return False
        # Of tokens that are equally probable, rounding may list either.
        if np.diff(chances).min(initial=-1) < -1e-4 and [t for t, _ in top] != names:
            return False
        assert came == WORDS.get(token, token)
        if token is not None:
            assert abs(float(chance) - actual) < 1e-4 and abs(int(rank) - place) <= 1
    return True


@pytest.mark.parametrize(
    ("example", "unit", "epochs"),
    [
        ("character-transformer", "character", "epochs=45"),
        ("character-gru", "character", "epochs=20"),
        *slow(("character-transformer", "word", "epochs=45")),
    ],
)
def test_the_shown_next_tokens_match_python(
    playground: Playground, example: str, unit: str, epochs: str
) -> None:
    source = program(example, unit, epochs)
    if example == "character-gru":
        source = source.replace(TYPED["character"], "seven, eight, buckle")
    playground.choose_device("cpu")
    printed = playground.finish(source).splitlines()
    expected: dict[str, list[Any]] = {}
    for name, row in (json.loads(line[5:]) for line in printed if line.startswith("seen ")):
        expected.setdefault(name, []).append(row)
    before = playground.weights()
    playground.at("tab-inspect").click()
    playground.at("inspect-next").click()
    sample = playground.at("next-sample")
    expect(sample).to_contain_text("Training sample")
    if "sample 1 of" not in sample.inner_text():  # the tests share a page
        playground.at("sample-next").click()
    expect(sample).to_contain_text("sample 1 of")
    playground.at("next-details").locator("summary").click()
    playground.wait(lambda: agree(rows(playground), expected["sample"]))

    typed = next(line for line in source.splitlines() if line.startswith("TYPED"))[9:-1]
    playground.at("next-text").fill(typed)
    expect(sample).to_have_text("Your text")
    playground.wait(lambda: agree(rows(playground), expected["typed"]))
    playground.at("next-temperature").fill("0.5")
    playground.wait(lambda: agree(rows(playground), expected["cold"]))

    shaded = playground.at("next-token")
    expect(shaded).to_have_count(len(expected["typed"]))
    missed = [row[2] is not None and row[4] > 1 for row in expected["cold"]]
    marks = shaded.evaluate_all("(all) => all.map((each) => 'missed' in each.dataset)")
    assert sum(a != b for a, b in zip(marks, missed, strict=True)) <= 1
    reading = playground.at("next-reading")
    expect(reading).to_have_text("The text ends here.")
    playground.at("next-tokens").focus()
    for key in ("Home", "ArrowRight"):
        playground.page.keyboard.press(key)
    names, _, token, chance, rank = expected["cold"][1]
    expect(reading).to_contain_text(f"Then came “{WORDS.get(token, token)}”: {chance:.1%}")
    bars = playground.at("next-expected").locator("li")
    expect(bars).to_have_count(len(names) + (rank > len(names)))
    playground.at("next-reset").click()
    expect(sample).to_contain_text("sample 1 of")
    expect(playground.at("next-text")).not_to_have_value(typed)
    shown = playground.at("next-text").input_value()
    playground.at("inspect-layers").click()
    tokens = playground.at("inspect-text")
    expect(tokens).to_be_visible()
    assert " ".join(shown.split()).startswith(" ".join(tokens.inner_text().split()))
    after = playground.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_unknown_characters_and_numeric_networks_get_an_explanation(playground: Playground) -> None:
    playground.finish(program("character-gru", "character", "epochs=20").split("\nTYPED")[0])
    playground.at("tab-inspect").click()
    playground.at("inspect-next").click()
    text = playground.at("next-text")
    expect(text).not_to_have_value("")
    text.fill("Zoo")
    problem = playground.at("next-problem")
    expect(problem).to_contain_text("does not have the character 'Z'")
    expect(text).to_have_value("Zoo")
    expect(playground.at("next-token")).to_have_count(0)
    playground.runs_well()
    none = playground.at("next-none")
    expect(none).to_contain_text("networks that write text")
