"""Trees in the panel Inspect: the joined calls have Python's numbers, and each sample its tree."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.inspection.joins import joins

words, join = nn.Embedding(4, 8), nn.Dense(8, activation="tanh")

@pg.batched
def word(number):
    return words(number)

@pg.batched
def phrase(left, right):
    return join(pg.concat([left, right], axis=1))

@pg.batched
def turned(part, way):
    return -part if way == "not" else part * 2.0

def read(tree):
    if isinstance(tree, int):
        return word(tree)
    if isinstance(tree[0], str):
        return turned(read(tree[1]), tree[0])
    return phrase(read(tree[0]), read(tree[1]))

fold = pg.Fold(read)
trees = [((0, 1), (("not", 2), 3)), 3, ("very", (1, (2, (3, 0)))), (("not", (0, 0)), ("very", 1))]
optimizer = pg.optim.Adam(0.01)

@pg.function(device="cpu")
def train(table):
    loss = pg.mean(pg.square(fold(table)))
    optimizer.minimize(loss, [*words.variables.values(), *join.variables.values()])
    return loss

table = fold.read(trees)
losses = [float(train(table)) for _ in range(20)]
assert losses[-1] < losses[0]
for each in joins(fold):
    print(each.depth, each.title, each.calls, sep="|")
"""


def test_the_trees_of_a_program_without_a_model_are_drawn(playground: Playground) -> None:
    playground.choose_device("cpu")
    printed = [line for line in playground.finish(PROGRAM).splitlines() if line.count("|") == 2]
    assert "0|word|12" in printed
    playground.at("tab-inspect").click()
    playground.at("inspect-trees").click()
    expect(playground.at("tree-call")).to_have_count(8)  # ((0, 1), (("not", 2), 3))
    expect(playground.at("trees-summary")).to_have_text(
        f"24 calls of 4 samples, joined to {len(printed)}."
    )
    playground.at("trees-details").locator("summary").click()
    rows = playground.at("trees-table").locator("tbody tr").all_inner_texts()
    assert ["|".join(row.split("\t")) for row in rows] == printed
    depths = playground.at("tree-depth")
    expect(depths).to_have_count(5)
    expect(depths.first.locator(".tree-bar")).to_have_attribute("title", "word × 12")
    depths.nth(3).hover()
    expect(depths.nth(3)).to_have_attribute("data-read", "")

    calls = playground.at("tree-call")
    assert calls.locator("text").all_text_contents().count("2") == 1  # the word 2
    result = playground.page.locator("[data-testid=tree-call][data-result]")
    assert result.get_attribute("data-kind") == "phrase"
    playground.at("sample-next").click()
    expect(playground.at("trees-sample")).to_have_text("sample 1 of 4")
    expect(calls).to_have_count(1)
    playground.at("sample-next").click()
    expect(result).to_have_attribute("data-kind", "turned('very')")
    expect(result).to_have_attribute("data-depth", "4")
    expect(playground.at("trees-device")).to_have_count(0)
    playground.choose_device("gpu")
    expect(playground.at("trees-device")).to_contain_text("The processor computes these calls")


def test_a_program_without_trees_gets_a_sentence(playground: Playground) -> None:
    playground.finish("import playgrad as pg\nx = 3\n")
    playground.at("tab-inspect").click()
    playground.at("inspect-trees").click()
    expect(playground.at("trees-none")).to_contain_text("programs with a pg.Fold")
