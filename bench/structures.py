"""Samples whose structure differs, joined by a Fold: ``python -m bench.structures``.

Trees of equal numbers of leaves and random shapes, a tree-LSTM, on the cpu device. Two questions:
how much longer trees that were never seen take than the same trees again, and how much longer the
trees take one by one. Reading the trees into an array is part of each time unless the row says so.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn

UNITS, OPERATORS, WORDS = 32, 3, 8
Tree = Any


class TreeLSTM:
    """A binary tree-LSTM (Tai et al. 2015) that predicts two classes, with its steps."""

    def __init__(self) -> None:
        self.words, self.gates = nn.Embedding(WORDS, 2 * UNITS), nn.Dense(5 * UNITS)
        self.answer = nn.Dense(2)
        self.fold = pg.Fold(self.read)
        optimizer = pg.optim.Adam(0.001)
        loss_of = nn.SparseCategoricalCrossentropy(from_logits=True)

        @pg.function(device="cpu")
        def predict(table: Any) -> Any:
            return self.answer(self.fold(table))

        @pg.function(device="cpu")
        def train(table: Any, y: Any) -> Any:
            loss = pg.mean(loss_of(y, self.answer(self.fold(table))))
            layers = (self.words, self.gates, self.answer)
            optimizer.minimize(loss, [v for each in layers for v in each.variables.values()])
            return loss

        self.predict, self.train = predict, train

    @pg.batched
    def leaf(self, word: Any) -> Any:
        return self.words(word)

    @pg.batched
    def node(self, left: Any, right: Any, operator: Any) -> Any:
        (h_left, c_left), (h_right, c_right) = (pg.split(x, 2, axis=1) for x in (left, right))
        inputs = pg.concat([h_left, h_right, pg.one_hot(operator, OPERATORS)], 1)
        i, f_left, f_right, o, g = pg.split(self.gates(inputs), 5, axis=1)
        c = pg.sigmoid(f_left) * c_left + pg.sigmoid(f_right) * c_right
        c = c + pg.sigmoid(i) * pg.tanh(g)
        return pg.concat([pg.sigmoid(o) * pg.tanh(c), c], 1)

    def read(self, tree: Tree) -> Any:
        if isinstance(tree, int):
            return self.leaf(tree)
        return self.node(self.read(tree[0]), self.read(tree[1]), tree[2])


def grown(random: np.random.Generator, leaves: int) -> Tree:
    """Return a random tree."""
    if leaves == 1:
        return int(random.integers(WORDS))
    left = int(random.integers(1, leaves))
    return grown(random, left), grown(random, leaves - left), int(random.integers(OPERATORS))


def medians(rounds: int, *parts: Callable[[], Any]) -> list[float]:
    """Return the median seconds of each of ``parts``, which take turns."""
    times: list[list[float]] = [[] for _ in parts]
    for _ in range(rounds):
        for part, seconds in zip(parts, times, strict=True):
            began = time.perf_counter()
            part()
            seconds.append(time.perf_counter() - began)
    return [statistics.median(seconds) for seconds in times]


def measure(trees: int, leaves: int, rounds: int) -> list[tuple[str, float, float]]:
    """Return rows: what is compared, milliseconds of the first, and how many times the second."""
    random = np.random.default_rng(0)
    network = TreeLSTM()

    def batch() -> tuple[list[Tree], Any]:
        return [grown(random, leaves) for _ in range(trees)], random.integers(0, 2, trees)

    def training(samples: Sequence[Tree], y: Any) -> Any:
        return network.train(network.fold.read(samples), y)

    def predicting(samples: Sequence[Tree]) -> Any:
        return network.predict(network.fold.read(samples))

    seen, y = batch()
    for _ in range(3):
        training(seen, y)
        predicting(seen)
    fresh = iter([batch() for _ in range(2 * rounds)])
    rows: list[tuple[str, float, float]] = []
    pairs: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
        ("training, fresh trees", lambda: training(seen, y), lambda: training(*next(fresh))),
        ("prediction, fresh trees", lambda: predicting(seen), lambda: predicting(next(fresh)[0])),
    ]
    for name, first, second in pairs:
        before, after = medians(rounds, first, second)
        rows.append((name, 1000 * before, after / before))

    def training_alone() -> None:
        for place, tree in enumerate(seen):
            training([tree], y[place : place + 1])

    def predicting_alone() -> None:
        for tree in seen:
            predicting([tree])

    table = network.fold.read(seen)
    tables = [network.fold.read([tree]) for tree in seen]

    def trained_tables() -> None:
        for place, each in enumerate(tables):
            network.train(each, y[place : place + 1])

    training_alone()
    few = max(3, rounds // 4)
    alone: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
        ("training, one by one", lambda: training(seen, y), training_alone),
        ("training, one by one, arrays already read", lambda: network.train(table, y),
         trained_tables),
        ("prediction, one by one", lambda: predicting(seen), predicting_alone),
    ]  # fmt: skip
    for name, first, second in alone:
        before, after = medians(few, first, second)
        rows.append((name, 1000 * before, after / before))
    return rows


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=256)
    parser.add_argument("--leaves", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args()
    print(f"{chosen.trees} trees of {chosen.leaves} leaves")
    print("| compared with the same trees, joined | joined, ms | times as long |")
    print("|---|---:|---:|")
    for name, milliseconds, ratio in measure(chosen.trees, chosen.leaves, chosen.rounds):
        print(f"| {name} | {milliseconds:.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
