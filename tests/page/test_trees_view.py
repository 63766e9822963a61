"""The calls that a Fold joins, as the page asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import DataError, GraphError
from playgrad.inspection.joins import calls_of_sample, joins
from playgrad.page.questions.trees_view import MOST_CALLS
from tests.ops.joined_trees import Cells, forest
from tests.page.answers import check_answer
from tests.page.python_side import python_side
from tests.sweeps import SEED

PROGRAM = """
import playgrad as pg
from playgrad import nn

class Sums(pg.Model):
    def __init__(self):
        super().__init__()
        self.values = nn.Embedding(5, 1)
        self.trees = pg.Fold(self.read)

    @pg.batched
    def leaf(self, number):
        return self.values(number)

    @pg.batched
    def node(self, a, b):
        return a + b

    def read(self, tree):
        if isinstance(tree, int):
            return self.leaf(tree)
        return self.node(self.read(tree[0]), self.read(tree[1]))

    def call(self, table):
        return self.trees(table)

model = Sums()
unread = pg.Fold(model.read)
x = model.trees.read([((1, 2), 3), 4, (1, ((2, 3), 4)), 0])
model.compile("sgd", "mse", device="cpu")
model.fit(x, [[6.0], [4.0], [10.0], [0.0]], epochs=2, batch_size=2, verbose=0)
"""


def test_joins_and_calls_are_those_of_the_array() -> None:
    random = np.random.default_rng(SEED)
    cells = Cells(random)
    trees = forest(random, 30)
    fold = pg.Fold(cells.read, inputs=1)
    with pytest.raises(GraphError, match="has not read samples"):
        joins(fold)
    table = fold.read(trees)
    found = joins(fold)
    leaves, inner = (sum(j.calls for j in found if j.title == title) for title in ("leaf", "node"))
    assert leaves == len(trees) + inner  # binary trees
    assert leaves + inner == np.count_nonzero(table[:, :, 0])
    assert [join.depth for join in found] == sorted(join.depth for join in found)
    assert len({(join.depth, join.title) for join in found}) == len(found)
    for sample, tree in enumerate(trees):
        calls = calls_of_sample(fold, sample)
        assert [call.is_result for call in calls].count(True) == 1
        for call in calls:
            below = [calls[each].depth for each in call.takes]
            assert call.depth == max(below, default=-1) + 1
        words = [call.numbers[0] for call in calls if call.title == "leaf"]
        assert words == [str(word) for word in words_of(tree)]
    with pytest.raises(DataError, match="there is no sample 30"):
        calls_of_sample(fold, 30)
    with pytest.raises(DataError, match="a call that this graph does not have"):
        joins(fold, table + (table > 0))
    for damaged in (table[0], table.astype(np.float32), table[:, :, :2]):
        with pytest.raises(DataError, match=r"int32 \(samples, calls, "):
            joins(fold, damaged)


def words_of(tree: Any) -> list[int]:
    return [tree] if isinstance(tree, int) else words_of(tree[0]) + words_of(tree[1])


def test_the_view_shows_the_fold_of_a_model() -> None:
    with python_side() as side:
        assert side.run(PROGRAM) == "done"
        ask = lambda **fields: check_answer("trees", side.ask("trees", **fields)["answer"])  # noqa: E731
        view = ask(fold="", sample=2)
        assert view["folds"] == ["model.trees"] and view["samples"] == 4
        assert view["kinds"] == [{"title": "leaf", "calls": 9}, {"title": "node", "calls": 5}]
        shown = [(each["depth"], each["kind"], each["calls"]) for each in view["joins"]]
        assert shown == [(0, 0, 9), (1, 1, 2), (2, 1, 2), (3, 1, 1)]
        assert view["steps"] == view["depths"] == 4
        assert [call["label"] for call in view["calls"] if call["kind"] == 0] == list("1234")
        assert [call["takes"] for call in view["calls"]][-1] == [0, 5]
        assert [call["result"] for call in view["calls"]] == [False] * 6 + [True]
        assert ask(fold="model.trees", sample=5)["sample"] == 1
        assert side.run("import playgrad as pg\nfold = pg.Fold(print)") == "done"
        assert ask(fold="", sample=0)["reason"] == "read"
        assert side.run("x = 1") == "done"
        assert ask(fold="", sample=0)["reason"] == "fold"


def test_large_samples_are_cut() -> None:
    code = "\n".join(
        [
            "import playgrad as pg",
            "one = pg.batched(lambda x: x + 1.0)",
            "def chain(n):",
            "    value = one(0.0)",
            "    for _ in range(n - 1):",
            "        value = one(value)",
            "    return value",
            "fold = pg.Fold(chain)",
            "fold.read([900])",
        ]
    )
    with python_side() as side:
        assert side.run(code) == "done"
        view = check_answer("trees", side.ask("trees", fold="", sample=0)["answer"])
        assert len(view["calls"]) == MOST_CALLS and view["size"] == view["depths"] == 900
