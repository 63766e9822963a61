"""Random trees, and functions of their nodes, for tests of joined calls."""

from __future__ import annotations

from typing import Any

import numpy as np

import playgrad as pg

Tree = Any
"""A leaf is a whole number; another node is (left, right, operator, number)."""
WORDS, UNITS = 4, 6


def grown(random: np.random.Generator, leaves: int) -> Tree:
    """Return a random tree."""
    if leaves == 1:
        return int(random.integers(WORDS))
    left = int(random.integers(1, leaves))
    parts = grown(random, left), grown(random, leaves - left)
    return (*parts, int(random.integers(3)), float(random.uniform(-1, 1)))


def forest(random: np.random.Generator, count: int, largest: int = 12) -> list[Tree]:
    """Return random trees of 1 to ``largest`` leaves."""
    return [grown(random, int(random.integers(1, largest + 1))) for _ in range(count)]


class Cells:
    """A small recursive network. Nodes are pairs of a state and a sum over the tree.

    Args:
        random: for the weights.
        whole: whether the weights are whole numbers and all functions linear, so that the sums of
            float32 are exact in any order.
    """

    def __init__(self, random: np.random.Generator, whole: bool = False) -> None:
        def weights(*shape: int) -> pg.Tensor:
            if whole:
                return pg.Variable(random.integers(-1, 2, shape).astype(np.float32))
            return pg.Variable(random.uniform(-0.7, 0.7, shape).astype(np.float32))

        self.whole = whole
        self.words, self.joint = weights(WORDS, UNITS), weights(2 * UNITS, UNITS)
        self.operators = weights(3, UNITS)
        self.weights = [self.words, self.joint, self.operators]

    @pg.batched
    def leaf(self, word: Any, image: Any) -> Any:
        state = pg.gather(self.words, word) + image
        return state, pg.sum(state, 1)

    @pg.batched
    def node(self, left: Any, right: Any, operator: Any, number: Any) -> Any:
        state = pg.concat([left[0], right[0]], 1) @ self.joint
        state = state + pg.gather(self.operators, operator)
        if not self.whole:
            state = pg.tanh(state) * pg.expand_dims(number, 1)
        else:
            state = pg.clip(state, -3.0, 3.0)
        return state, left[1] + right[1] + pg.sum(state, 1)

    def read(self, tree: Tree, image: Any) -> Any:
        if isinstance(tree, int):
            return self.leaf(tree, image)
        left, right, operator, number = tree
        return self.node(self.read(left, image), self.read(right, image), operator, number)


def with_gradients(cells: Cells, result: Any, x: Any) -> list[Any]:
    """Return the state and the sum of samples, and the gradients of their weighted sum by ``x`` and
    by the weights, where they are used."""
    state, total = result
    loss = pg.sum(state * state) + pg.sum(total)
    grads = pg.gradients(loss, [x, *cells.weights])
    return [state, total, *(0.0 if grad is None else grad for grad in grads)]
